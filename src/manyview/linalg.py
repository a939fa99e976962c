"""Proximal maps, projections, Procrustes, and the eigensolver with its checks.

Nothing here knows of views or clusters. Symbols are those of the mathematics.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, lobpcg

Dense = NDArray[np.floating[Any]]


# Proximal maps -----------------------------------------------------------------------------------

SMALL = 100  # up to this size a full SVD is as quick as a partial one
FRESH = 10  # random directions beside those known, so that a partial SVD comes to know others


def soft_threshold(A: Dense, t: float) -> Dense:
    r"""Elementwise ``argmin_Z  t |Z|_1 + 1/2 |Z - A|_F^2``: shrink towards 0 by `t`."""
    return A - np.clip(A, -t, t)


def economical_svd(A: Dense) -> tuple[Dense, Dense, Dense]:
    """Thin SVD ``A = P diag(s) Q'``; a much longer than wide A is reduced by a QR first.

    Cost O(max(m, n) min(m, n)^2), memory O(m n).
    """
    m, n = A.shape
    if n > m:
        Q, s, Pt = economical_svd(A.T)
        return Pt.T, s, Q.T
    if m < 2 * n:
        return _svd(A)
    basis, R = np.linalg.qr(A)
    P, s, Qt = _svd(R)
    return basis @ P, s, Qt


def _svd(A: Dense) -> tuple[Dense, Dense, Dense]:
    try:
        return scipy.linalg.svd(A, full_matrices=False, check_finite=False)
    except np.linalg.LinAlgError:  # divide and conquer can fail where the older algorithm does not
        return scipy.linalg.svd(A, full_matrices=False, check_finite=False, lapack_driver="gesvd")


def singular_value_threshold(A: Dense, t: float) -> Dense:
    r"""``argmin_Z  t |Z|_* + 1/2 |Z - A|_F^2``: shrink the singular values towards 0 by `t`."""
    P, s, Qt = economical_svd(A)
    kept = s > t
    return (P[:, kept] * (s[kept] - t)) @ Qt[kept]


def partial_singular_value_threshold(A: Dense, t: float, start: Dense | None = None) -> tuple[Dense, Dense]:
    """`singular_value_threshold` from the singular triplets above `t` only, by subspace iteration.

    For a loop whose A changes little from step to step: `start` (n x k) are the right singular vectors of the last
    step, as returned; one iteration refines them. They go on below `t`, so that those which rise above it are known by
    then; were all that are known above it, more are sought. The error vanishes as A settles. Where nearly half of the
    triplets are above `t`, or A is small, the SVD is full.

    Returns the thresholded matrix and the start for the next step. Cost O(m n k) for k triplets above `t`.
    """
    m, n = A.shape
    known, rounds = (0, 3) if start is None else (start.shape[1], 1)
    k = known + FRESH
    while 2 * k < min(m, n) > SMALL:
        V = _start(n, k).astype(A.dtype)
        if start is not None:
            V[:, :known] = start
        for _ in range(rounds):
            basis = orthonormal_columns(A @ V)
            V = A.T @ basis
        s, P, Q = _singular_vectors(V)
        above = int(np.count_nonzero(s > t))
        if above < max(known, FRESH):
            shrunk = P[:, :above] * (1 - t / s[:above])
            spare = above // 4 + FRESH
            return (basis @ shrunk) @ (P[:, :above].T @ V.T), Q[:, : above + spare]
        start, known, k, rounds = Q, k, k + k // 2, 2
    P, s, Qt = economical_svd(A)
    above = int(np.count_nonzero(s > t))
    return (P[:, :above] * (s[:above] - t)) @ Qt[:above], Qt[:above].T


def _singular_vectors(V: Dense) -> tuple[Dense, Dense, Dense]:
    """Singular values, descending, and vectors of ``V' = P diag(s) Q'`` (n x k, k << n) from the k x k matrix V'V.

    In double precision, so that no value over 1e-7 of the largest is wrong; those under it have no true vectors.
    """
    w, P = np.linalg.eigh(np.matmul(V.T, V, dtype=np.float64))
    s, P = np.sqrt(np.maximum(w[::-1], 0)), P[:, ::-1]
    Q = V @ (P / np.maximum(s, 1e-7 * s[0] or 1.0)).astype(V.dtype)
    return s.astype(V.dtype), P.astype(V.dtype), Q


# Projections -------------------------------------------------------------------------------------


def project_simplex(V: Dense) -> Dense:
    """Euclidean projection of each row (or of one vector) onto {w >= 0, sum w = 1}."""
    rows = np.atleast_2d(V)
    rows = rows - rows.max(axis=1, keepdims=True)  # same projection; next to 1e20 the 1 would be lost
    descending = -np.sort(-rows, axis=1)
    excess = np.cumsum(descending, axis=1) - 1
    count = np.arange(1, rows.shape[1] + 1)
    support = np.count_nonzero(descending * count > excess, axis=1)  # the largest j that stays positive
    theta = excess[np.arange(len(rows)), support - 1] / support.astype(excess.dtype)
    return np.maximum(rows - theta[:, None], 0).reshape(V.shape)


def project_nonnegative(A: Dense) -> Dense:
    """Nearest matrix with no negative entry."""
    return np.maximum(A, 0)


def project_orthonormal(A: Dense) -> Dense:
    """Nearest matrix with orthonormal columns (the polar factor); A has at least as many rows as columns."""
    P, _, Qt = economical_svd(A)
    return P @ Qt


def orthonormal_columns(A: Dense) -> Dense:
    """Orthonormal basis of the columns of A (n x r), quick where they are not far from orthogonal.

    Scaled to length 1, they are then brought to the nearest orthonormal columns through their r x r Gram matrix, by
    matrix products alone; where that matrix is ill conditioned, QR takes over.
    """
    lengths = np.linalg.norm(A, axis=0)
    if lengths.min() > 0:
        A = A / lengths
        w, V = np.linalg.eigh(A.T @ A)
        if w[0] > 0.02:
            return A @ ((V / np.sqrt(w)) @ V.T)
    return np.linalg.qr(A)[0]


def procrustes(A: Dense, B: Dense) -> Dense:
    """Orthogonal ``Q = argmin |A Q - B|_F``: the rotation that brings the columns of A onto those of B."""
    return project_orthonormal(A.T @ B)


# Linear systems ----------------------------------------------------------------------------------


def conjugate_gradients(
    matvec: Callable[[Dense], Dense], B: Dense, *, start: Dense, tol: float = 1e-6, max_iter: int = 200
) -> Dense:
    """Solve the symmetric positive definite systems ``matvec(X) = B``, one per column, side by side.

    `matvec` acts on each column on its own (it may differ from column to column). Stops when the residual of
    every column is at most `tol` times the length of its right-hand side.
    """
    X = start
    R = B - matvec(X)
    P = R
    square = np.einsum("ij,ij->j", R, R)
    goal = tol**2 * np.einsum("ij,ij->j", B, B)
    for _ in range(max_iter):
        if np.all(square <= goal):
            break
        AP = matvec(P)
        curvature = np.einsum("ij,ij->j", P, AP)
        step = np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0)
        X = X + P * step
        R = R - AP * step
        fresh = np.einsum("ij,ij->j", R, R)
        P = R + P * np.divide(fresh, square, out=np.zeros_like(square), where=square > 0)
        square = fresh
    return X


# Eigenvectors ------------------------------------------------------------------------------------

GUARD = 2  # vectors beyond those asked for, so that a cluster of eigenvalues at the border is not cut short


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
        How many, 1 <= k <= n. Equal eigenvalues come in the order of the size of their component.
    tol : float
        Largest residual |S v - v w| allowed, relative to max(|w|, 1e-3).

    Returns
    -------
    values : array (k,), descending
    vectors : array (n, k), orthonormal; in each the entry of largest magnitude is positive

    Notes
    -----
    Deterministic: starts are fixed. Memory O(nnz + n k): S is only made dense where n is of the
    order of k, that is, where the dense matrix is no larger than the result.
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
    best = np.argsort(-np.round(all_values, 12), kind="stable")[:k]
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


def _components_by_size(S: Any) -> Iterator[NDArray[np.intp]]:
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


def _start(n: int, columns: int = 1) -> Dense:
    return np.random.default_rng(0).standard_normal((n, columns))


# where Lanczos runs out of directions ARPACK draws new ones, since scipy 1.17 from this generator
_FIXED_RESTARTS = {"rng": 0} if "rng" in signature(eigsh).parameters else {}


def _lanczos(S: Any, k: int, tol: float) -> tuple[Dense, Dense]:
    return eigsh(S, k=k, which="LA", v0=_start(S.shape[0])[:, 0], tol=tol / 10, **_FIXED_RESTARTS)


def _long_lanczos(S: Any, k: int, _tol: float) -> tuple[Dense, Dense]:
    n = S.shape[0]
    ncv = min(n, 6 * k + 20)
    return eigsh(S, k=k, which="LA", v0=_start(n)[:, 0], tol=0, ncv=ncv, maxiter=100 * n, **_FIXED_RESTARTS)


def _block(S: Any, k: int, tol: float) -> tuple[Dense, Dense]:
    start, _ = np.linalg.qr(_start(S.shape[0], k))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it stopped short: the residual is checked anyway
        return lobpcg(S, start, largest=True, tol=tol / 10, maxiter=1000)


_SOLVERS: tuple[Callable[[Any, int, float], tuple[Dense, Dense]], ...] = (_lanczos, _long_lanczos, _block)


def _error(S: Any, w: Dense, v: Dense) -> float:
    """Largest relative residual, or departure from orthonormal columns if that is larger."""
    residuals = np.linalg.norm(S @ v - v * w, axis=0) / np.maximum(np.abs(w), 1e-3)
    return float(np.max([residuals, np.linalg.norm(v.T @ v - np.eye(len(w)), axis=0)]))


def _missed_one(S: Any, w: Dense, v: Dense) -> bool:
    """Whether the complement of the found vectors still holds a larger eigenvalue than the last of them."""
    n = S.shape[0]
    below = -1 - abs(S).sum(axis=1).max()  # no eigenvalue of S is as small

    def deflated(x: Dense) -> Dense:
        found = v @ (v.T @ x)
        y = S @ (x - found)
        return y - v @ (v.T @ y) + below * found

    probe = np.random.default_rng(1).standard_normal(n)
    operator = LinearOperator((n, n), matvec=deflated, dtype=np.float64)
    try:
        rest = eigsh(operator, k=1, which="LA", v0=probe, tol=1e-3, return_eigenvectors=False, **_FIXED_RESTARTS)
    except ArpackError:
        return False  # the complement is hard to tell from noise: nothing stands out in it
    return bool(rest[0] > w[-1] + 1e-6 * max(abs(w[-1]), 1e-3))
