"""Projections, and the singular value decomposition they use."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from manyview.typing import Dense

THIN = {"full_matrices": False, "check_finite": False}  # of an SVD: values were checked before
WELL_CONDITIONED = 0.02  # smallest eigenvalue of a Gram matrix of unit columns whose inverse root is accurate


def economical_svd(A: Dense) -> tuple[Dense, Dense, Dense]:
    """Thin SVD ``A = P diag(s) Q'``; an A much taller than wide is first reduced by QR.

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
        return scipy.linalg.svd(A, **THIN)
    except np.linalg.LinAlgError:  # divide and conquer can fail when the older algorithm does not
        return scipy.linalg.svd(A, **THIN, lapack_driver="gesvd")


def project_simplex(V: Dense) -> Dense:
    """Euclidean projection of each row (or of one vector) onto {w >= 0, sum w = 1}."""
    rows = np.atleast_2d(V)
    rows = rows - rows.max(axis=1, keepdims=True)  # same projection; otherwise the 1 would be lost next to 1e20
    descending = -np.sort(-rows)
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
    """Return an orthonormal basis of the columns of A (n x r); fast if they are nearly orthogonal.

    The columns are scaled to length 1, then replaced by the nearest orthonormal ones through their r x r Gram matrix,
    using only matrix products; if that matrix is ill-conditioned, QR takes over.
    """
    lengths = np.linalg.norm(A, axis=0)
    if lengths.min() > 0:
        A = A / lengths
        w, V = np.linalg.eigh(A.T @ A)
        if w[0] > WELL_CONDITIONED:
            return A @ ((V / np.sqrt(w)) @ V.T)
    return np.linalg.qr(A)[0]


def procrustes(A: Dense, B: Dense) -> Dense:
    """Orthogonal ``Q = argmin |A Q - B|_F``: the rotation that best aligns the columns of A with those of B."""
    return project_orthonormal(A.T @ B)
