"""Proximal maps: soft thresholds of entries and of singular values."""

from __future__ import annotations

import numpy as np

from manyview.numerics.projections import economical_svd, orthonormal_columns
from manyview.numerics.starts import fixed_directions
from manyview.typing import Dense

SMALL = 100  # up to this size a full SVD is as fast as a partial one
SMALLEST_RATIO = 1e-7  # of singular values; below it, the root of an eigenvalue in double precision is rounding error
FRESH = 10  # random directions added to the known ones, so that a partial SVD can find new ones
COLD_STEPS, WARM_STEPS, WIDER_STEPS = 3, 1, 2  # of subspace iteration: without a start, with one, with one too small


def soft_threshold(A: Dense, t: float) -> Dense:
    r"""Elementwise ``argmin_Z  t |Z|_1 + 1/2 |Z - A|_F^2``: shrink towards 0 by `t`."""
    return A - np.clip(A, -t, t)


def singular_value_threshold(A: Dense, t: float) -> Dense:
    r"""``argmin_Z  t |Z|_* + 1/2 |Z - A|_F^2``: shrink the singular values towards 0 by `t`."""
    P, s, Qt = economical_svd(A)
    kept = s > t
    return (P[:, kept] * (s[kept] - t)) @ Qt[kept]


def partial_singular_value_threshold(A: Dense, t: float, start: Dense | None = None) -> tuple[Dense, Dense]:
    """`singular_value_threshold` from the singular triplets above `t` only, by subspace iteration.

    For a loop whose A changes little from step to step: `start` (n x k) are the right singular vectors of the last
    step, as returned; one iteration refines them. Some vectors below `t` are kept as well, in case their singular
    values rise above it. If all known ones are above it, more are computed. The error vanishes as A converges. If
    nearly half of the triplets are above `t`, or A is small, a full SVD is used.

    Returns the thresholded matrix and the start for the next step. Cost O(m n k) for k triplets above `t`.
    """
    m, n = A.shape
    known, steps = (0, COLD_STEPS) if start is None else (start.shape[1], WARM_STEPS)
    k = known + FRESH
    while 2 * k < min(m, n) > SMALL:
        V = fixed_directions(n, k).astype(A.dtype)
        if start is not None:
            V[:, :known] = start
        for _ in range(steps):
            basis = orthonormal_columns(A @ V)
            V = A.T @ basis
        s, P, Q = _singular_vectors(V)
        above = int(np.count_nonzero(s > t))
        if above < max(known, FRESH):
            shrunk = P[:, :above] * (1 - t / s[:above])
            spare = above // 4 + FRESH
            return (basis @ shrunk) @ (P[:, :above].T @ V.T), Q[:, : above + spare]
        start, known, k, steps = Q, k, k + k // 2, WIDER_STEPS
    P, s, Qt = economical_svd(A)
    above = int(np.count_nonzero(s > t))
    return (P[:, :above] * (s[:above] - t)) @ Qt[:above], Qt[:above].T


def _singular_vectors(V: Dense) -> tuple[Dense, Dense, Dense]:
    """Singular values, descending, and vectors of ``V' = P diag(s) Q'`` (n x k, k << n) from the k x k matrix V'V.

    Computed in double precision: values above `SMALLEST_RATIO` of the largest are accurate. Vectors of smaller ones
    are not meaningful.
    """
    w, P = np.linalg.eigh(np.matmul(V.T, V, dtype=np.float64))
    s, P = np.sqrt(np.maximum(w[::-1], 0)), P[:, ::-1]
    Q = V @ (P / np.maximum(s, SMALLEST_RATIO * s[0] or 1.0)).astype(V.dtype)
    return s.astype(V.dtype), P.astype(V.dtype), Q
