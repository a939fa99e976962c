"""Leading eigenvectors of sparse symmetric matrices, checked."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, lobpcg

from manyview.numerics.starts import fixed_directions
from manyview.typing import Dense, Indices

GUARD = 2  # extra vectors, so that a group of close eigenvalues at the end is not cut off
SMALLEST_SIZE = 1e-3  # residuals are relative to the eigenvalue, or to this if the eigenvalue is smaller
TIED_DECIMALS = 12  # eigenvalues that agree to this many decimals are equal
STRICTER = 10  # solvers aim for a residual this many times smaller than the check allows
LONG_BASIS = (6, 20)  # Lanczos vectors in the second attempt: per eigenvector, and added to that
MOST_STEPS = (100, 1000)  # in the second attempt, per sample; in the block method
PROBE_TOL = 1e-3  # for the search for a missed eigenvalue
MISSED = 1e-6  # relative excess over the last eigenvalue found that proves that one was missed


def top_eigenvectors(S: Any, k: int, *, tol: float = 1e-8) -> tuple[Dense, Dense]:
    """Largest eigenvalues and eigenvectors of a symmetric sparse matrix such as D^-1/2 W D^-1/2.

    Connected components are solved one by one: Lanczos started from one vector can miss a repeated eigenvalue,
    and every component of a graph brings its own eigenvalue 1. Within a component the result of
    ARPACK is checked by its residual, by its orthonormality and by looking for a larger eigenvalue in the orthogonal
    complement; if a check fails, a tighter run and then a block method take over.

    Parameters
    ----------
    S : scipy sparse array (n, n), symmetric
    k : int
        How many, 1 <= k <= n. Equal eigenvalues are ordered by the size of their component.
    tol : float
        Largest residual |S v - v w| allowed, relative to max(|w|, `SMALLEST_SIZE`).

    Returns
    -------
    values : array (k,), descending
    vectors : array (n, k), orthonormal; in each the entry of largest magnitude is positive

    Notes
    -----
    Deterministic: the starting vectors are fixed. Memory O(nnz + n k): S is made dense only if n is of the order of k,
    so that the dense matrix is no larger than the result.
    """
    S = sp.csr_array(S, dtype=np.float64, copy=True)  # scipy sorts indices in place, which S may share with a graph
    n = S.shape[0]
    values, vectors = [], []
    for members in _components_by_size(S):
        block = S if len(members) == n else S[members][:, members]
        w, v = _top_of_component(block, min(k, len(members)), tol)
        values.append(w)
        vectors += [(members, column) for column in v.T]
    all_values = np.concatenate(values)
    best = np.argsort(-np.round(all_values, TIED_DECIMALS), kind="stable")[:k]
    V = np.zeros((n, k))
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
    count, member_of = connected_components(S, directed=False)
    if count == 1:
        yield np.arange(S.shape[0])
        return
    order = np.argsort(member_of, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(member_of))[:-1])
    yield from sorted(groups, key=len, reverse=True)


def _top_of_component(S: Any, k: int, tol: float) -> tuple[Dense, Dense]:
    n = S.shape[0]
    wanted = k + GUARD
    if n <= max(4 * wanted, 32):
        w, v = np.linalg.eigh(S.toarray())
        return w[::-1][:k], v[:, ::-1][:, :k]
    worst = np.inf
    for solver in _SOLVERS:
        try:
            w, v = solver(S, wanted, tol)
        except (ArpackError, np.linalg.LinAlgError, ValueError):
            continue
        descending = np.argsort(-w, kind="stable")
        w, v = w[descending], v[:, descending]
        worst = _error(S, w[:k], v[:, :k])
        if worst <= tol and not _missed_one(S, w[:k], v[:, :k]):
            return w[:k], v[:, :k]
    raise np.linalg.LinAlgError(
        f"No eigensolver reached residual {tol:g} for {k} eigenvectors of a {n} x {n} graph (last: {worst:.1e})."
    )


# if Lanczos runs out of directions, ARPACK draws new ones; since scipy 1.17, from this generator
_FIXED_RESTARTS = {"rng": 0} if "rng" in signature(eigsh).parameters else {}


def _lanczos(S: Any, k: int, tol: float) -> tuple[Dense, Dense]:
    return eigsh(S, k=k, which="LA", v0=fixed_directions(S.shape[0])[:, 0], tol=tol / STRICTER, **_FIXED_RESTARTS)


def _long_lanczos(S: Any, k: int, _tol: float) -> tuple[Dense, Dense]:
    n = S.shape[0]
    ncv, maxiter = min(n, LONG_BASIS[0] * k + LONG_BASIS[1]), MOST_STEPS[0] * n
    return eigsh(S, k=k, which="LA", v0=fixed_directions(n)[:, 0], tol=0, ncv=ncv, maxiter=maxiter, **_FIXED_RESTARTS)


def _block(S: Any, k: int, tol: float) -> tuple[Dense, Dense]:
    start, _ = np.linalg.qr(fixed_directions(S.shape[0], k))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about stopping early: the residual is checked anyway
        return lobpcg(S, start, largest=True, tol=tol / STRICTER, maxiter=MOST_STEPS[1])


_SOLVERS: tuple[Callable[[Any, int, float], tuple[Dense, Dense]], ...] = (_lanczos, _long_lanczos, _block)


def _error(S: Any, w: Dense, v: Dense) -> float:
    """Return the largest relative residual, or the deviation from orthonormal columns if that is larger."""
    residuals = np.linalg.norm(S @ v - v * w, axis=0) / np.maximum(np.abs(w), SMALLEST_SIZE)
    return float(np.max([residuals, np.linalg.norm(v.T @ v - np.eye(len(w)), axis=0)]))


def _missed_one(S: Any, w: Dense, v: Dense) -> bool:
    """Return whether the complement of the vectors found has a larger eigenvalue than the last of them."""
    n = S.shape[0]
    below = -1 - abs(S).sum(axis=1).max()  # smaller than any eigenvalue of S

    def deflated(x: Dense) -> Dense:
        found = v @ (v.T @ x)
        y = S @ (x - found)
        return y - v @ (v.T @ y) + below * found

    probe = np.random.default_rng(1).standard_normal(n)
    operator = LinearOperator((n, n), matvec=deflated, dtype=np.float64)
    try:
        rest = eigsh(operator, k=1, which="LA", v0=probe, tol=PROBE_TOL, return_eigenvectors=False, **_FIXED_RESTARTS)
    except ArpackError:
        return False  # the complement looks like noise: nothing stands out in it
    return bool(rest[0] > w[-1] + MISSED * max(abs(w[-1]), SMALLEST_SIZE))
