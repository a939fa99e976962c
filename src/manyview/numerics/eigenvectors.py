"""Leading eigenvectors of sparse symmetric matrices, checked."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, lobpcg

from manyview.numerics.rows import ascending
from manyview.numerics.starts import fixed_directions
from manyview.typing import Dense, Indices

GUARD = 2  # extra vectors, so that a group of close eigenvalues at the end is not cut off
SMALLEST_SIZE = 1e-3  # residuals are relative to the eigenvalue, or to this if the eigenvalue is smaller
TIED_DECIMALS = 12  # eigenvalues that agree to this many decimals are equal
STRICTER = 10  # solvers aim at a residual this many times below the one that is checked
LONG_BASIS = (6, 20)  # Lanczos vectors of the second attempt, per eigenvector and on top
MOST_STEPS = (100, 1000)  # of the second attempt, per sample; of the block method
PROBE_TOL = 1e-3  # of the search for an eigenvalue that was missed
MISSED = 1e-6  # relative excess over the last eigenvalue found that proves one was missed
SINGLE_FROM = 20_000  # samples of a component that is solved in single precision, which moves half the memory
SINGLE_TOL = 1e-4  # largest residual in single precision

Solver: TypeAlias = Callable[[Any, int, float], tuple[Dense, Dense]]


def top_eigenvectors(S: Any, k: int, *, tol: float = 1e-8) -> tuple[Dense, Dense]:
    """Largest eigenvalues and eigenvectors of a symmetric sparse matrix such as D^-1/2 W D^-1/2.

    Connected components are solved one by one: Lanczos started from one vector can miss a repeated eigenvalue,
    and every component of a graph brings its own eigenvalue 1. Within a component the result of
    ARPACK is checked by its residual, by its orthonormality and by looking for a larger eigenvalue in the orthogonal
    complement; if a check fails, a tighter run and then a block method take over. Components of more than `SINGLE_FROM`
    samples are solved in single precision, unless a check fails.

    Parameters
    ----------
    S : scipy sparse array (n, n), symmetric
    k : int
        How many, 1 <= k <= n. Equal eigenvalues are ordered by the size of their component.
    tol : float
        Largest residual |S v - v w| allowed, relative to max(|w|, `SMALLEST_SIZE`); `SINGLE_TOL`, if that is
        larger, in components that are solved in single precision.

    Returns
    -------
    values : array (k,), descending
    vectors : array (n, k), orthonormal; in each the entry of largest magnitude is positive

    Notes
    -----
    Deterministic: the starting vectors are fixed. Memory O(nnz + n k): S is made dense only if n is of the order of k,
    so that the dense matrix is no larger than the result.
    """
    n = S.shape[0]
    dtype = np.float32 if n > SINGLE_FROM else np.float64
    S = sp.csr_array(S, copy=True)  # scipy sorts indices in place, which S may share with a graph
    values, vectors = [], []
    for members in _components_by_size(S):
        block = S if len(members) == n else S[members][:, members]
        w, v = _top_of_component(block, min(k, len(members)), tol)
        values.append(w)
        vectors += [(members, column) for column in v.T]
    all_values = np.concatenate(values)
    best = ascending(-np.round(all_values, TIED_DECIMALS))[:k]
    V = np.zeros((n, k), dtype=dtype)
    for j, b in enumerate(best):
        members, column = vectors[b]
        V[members, j] = column
    return all_values[best], fix_signs(V)


def fix_signs(V: Dense) -> Dense:
    """Flip columns so that the entry of largest magnitude (the first such) is positive."""
    largest = np.argmax(np.abs(V), axis=0)
    signs = np.sign(V[largest, np.arange(V.shape[1])])
    return V * np.where(signs == 0, 1, signs)


def _components_by_size(S: Any) -> Iterator[Indices]:
    count, member_of = connected_components(S, connection="strong")  # S is symmetric, and this makes no transpose
    if count == 1:
        yield np.arange(S.shape[0])
        return
    order = ascending(member_of)
    groups = np.split(order, np.cumsum(np.bincount(member_of))[:-1])
    yield from sorted(groups, key=len, reverse=True)


def _top_of_component(S: Any, k: int, tol: float) -> tuple[Dense, Dense]:
    n = S.shape[0]
    wanted = k + GUARD
    if n <= max(4 * wanted, 32):
        w, v = np.linalg.eigh(S.toarray().astype(np.float64))
        return w[::-1][:k], v[:, ::-1][:, :k]
    attempts: list[tuple[Solver, type[np.floating[Any]], float]] = [(solver, np.float64, tol) for solver in _SOLVERS]
    if n > SINGLE_FROM:
        attempts.insert(0, (_lanczos, np.float32, max(tol, SINGLE_TOL)))
    worst = np.inf
    for solver, dtype, allowed in attempts:
        A = S.astype(dtype, copy=False)
        try:
            w, v = solver(A, wanted, allowed)
        except (ArpackError, np.linalg.LinAlgError, ValueError):
            continue
        descending = ascending(-w)
        w, v = w[descending], v[:, descending]
        worst = _error(A, w[:k], v[:, :k])
        if worst <= allowed and not _missed_one(A, w[:k], v[:, :k], max(MISSED, allowed)):
            return w[:k], v[:, :k]
    raise np.linalg.LinAlgError(
        f"No eigensolver reached residual {tol:g} for {k} eigenvectors of a {n} x {n} graph (last: {worst:.1e})."
    )


# if Lanczos runs out of directions, ARPACK draws new ones; since scipy 1.17, from this generator
_FIXED_RESTARTS = {"rng": 0} if "rng" in signature(eigsh).parameters else {}


def _lanczos(S: Any, k: int, tol: float) -> tuple[Dense, Dense]:
    start = fixed_directions(S.shape[0])[:, 0].astype(S.dtype)
    return eigsh(S, k=k, which="LA", v0=start, tol=tol / STRICTER, **_FIXED_RESTARTS)


def _long_lanczos(S: Any, k: int, _tol: float) -> tuple[Dense, Dense]:
    n = S.shape[0]
    ncv, maxiter = min(n, LONG_BASIS[0] * k + LONG_BASIS[1]), MOST_STEPS[0] * n
    return eigsh(S, k=k, which="LA", v0=fixed_directions(n)[:, 0], tol=0, ncv=ncv, maxiter=maxiter, **_FIXED_RESTARTS)


def _block(S: Any, k: int, tol: float) -> tuple[Dense, Dense]:
    start, _ = np.linalg.qr(fixed_directions(S.shape[0], k))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about stopping early: the residual is checked anyway
        return lobpcg(S, start, largest=True, tol=tol / STRICTER, maxiter=MOST_STEPS[1])


_SOLVERS: tuple[Solver, ...] = (_lanczos, _long_lanczos, _block)


def _error(S: Any, w: Dense, v: Dense) -> float:
    """Return the largest relative residual, or the deviation from orthonormal columns if that is larger."""
    residuals = np.linalg.norm(S @ v - v * w, axis=0) / np.maximum(np.abs(w), SMALLEST_SIZE)
    return float(np.max([residuals, np.linalg.norm(v.T @ v - np.eye(len(w)), axis=0)]))


def _missed_one(S: Any, w: Dense, v: Dense, margin: float) -> bool:
    """Whether the complement of the found vectors still holds a larger eigenvalue than the last of them."""
    n = S.shape[0]
    below = -1 - abs(S).sum(axis=1).max()  # smaller than any eigenvalue of S

    def deflated(x: Dense) -> Dense:
        found = v @ (v.T @ x)
        y = S @ (x - found)
        return y - v @ (v.T @ y) + below * found

    rng = np.random.default_rng(1)  # pragma: no mutate: any seed will do
    probe = rng.standard_normal(n).astype(S.dtype)
    operator = LinearOperator((n, n), matvec=deflated, dtype=S.dtype)
    try:
        rest = eigsh(operator, k=1, which="LA", v0=probe, tol=PROBE_TOL, return_eigenvectors=False, **_FIXED_RESTARTS)
    except ArpackError:
        return False  # the complement is hard to tell from noise: nothing stands out in it
    return bool(rest[0] > w[-1] + margin * max(abs(w[-1]), SMALLEST_SIZE))
