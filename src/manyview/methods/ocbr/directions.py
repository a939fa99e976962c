r"""Rows that represent the samples of a view: its leading directions, each weighted by how much of it is signal.

With B = U diag(s) P' (centred columns), the row of a sample is

.. math:: u\, \mathrm{diag}(s^{1/2} (1 - \nu^2 / s^2)), \qquad \nu^2 = s_r^2 \min(1, d / r),

divided by the root of its squared length plus the mean squared length. The last of the r singular values bounds the
noise that is in every direction; 1 - nu^2 / s^2 is then the share of a direction that is signal (as in probabilistic
PCA). In views of d < r columns the bound is loose, and nu^2 is lowered by d / r. The exponent 1/2 lies between the
distances of B itself (1) and those of the bare basis (0). The last step pulls in distant samples, halfway to comparing
only directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from sklearn.utils.extmath import randomized_svd

from manyview.methods.ocbr.settings import Settings
from manyview.methods.ocbr.valleys import valley_shares
from manyview.numerics.blocks import row_blocks
from manyview.numerics.rows import row_products
from manyview.records import saved
from manyview.typing import Array, Dense, is_sparse

BLOCK_ENTRIES = 2**18  # values of a table that are converted to double precision at a time
GRAM_SIZE = 1000  # up to this many columns or rows, singular vectors come from the Gram matrix
POWER_STEPS = 6  # of the randomised SVD of larger tables
NEGLIGIBLE = 1e-6  # of the largest singular value
SMALLEST = 1e-100  # a table with smaller singular values is constant


@saved
@dataclass(frozen=True)
class Directions:
    """The map from columns to rows, also for other samples: row = b @ to_rows, divided by its softened length."""

    to_rows: Dense  # (d, r)
    mean_square: float  # mean squared length of the rows before softening; infinite if rows stay as they are

    def apply(self, B: Array) -> Dense:
        """Return the rows of samples."""
        return soften(np.asarray(B @ self.to_rows), self.mean_square)


@dataclass(frozen=True)
class Basis:
    """Leading singular values of a table B, right singular vectors P (d x r), and the share of each that is signal."""

    B: Array
    s: Dense
    P: Dense
    signal: Dense

    @property
    def U(self) -> Dense:
        """Left singular vectors (n x r); those of a table of zeros are constant."""
        U = np.empty((self.B.shape[0], len(self.s)), self.B.dtype)
        for rows, part in block_products(self.B, self.P.astype(np.float64) / np.maximum(self.s, SMALLEST)):
            U[rows] = part
        return U if self.s.any() else np.full_like(U, len(U) ** -0.5)

    @property
    def loadings(self) -> Dense:
        """D (d x r), with U D' the table without the directions that have no signal."""
        return (self.P * (self.s * (self.signal > 0))).astype(self.P.dtype)


def find_directions(
    B: Array, r: int, settings: Settings, *, by_valleys: bool = False, overwrite: bool = False
) -> tuple[Directions, Basis, Dense]:
    """Return the map, the basis behind it, and the rows of B.

    `by_valleys` weighs directions by `valley_shares`; `overwrite` puts the rows in the memory of a dense B.
    """
    s, P = leading_vectors(B, min(r, *B.shape))
    if not len(s):
        return _no_direction(B)
    noise = s[-1] ** 2 * min(1.0, B.shape[1] / settings.rank) if len(s) > 1 and settings.weigh_noise else 0.0
    signal = 1 - noise / s**2
    to_rows = P * (s ** (settings.exponent - 1) * signal)
    if by_valleys:
        to_rows *= valley_shares(_represent(B, to_rows, settings)[1])
    directions, rows = _represent(B, to_rows, settings, overwrite=overwrite)
    return directions, Basis(B, s, P.astype(B.dtype), signal), rows


def _represent(B: Array, to_rows: Dense, settings: Settings, *, overwrite: bool = False) -> tuple[Directions, Dense]:
    """Return the map with these directions, and the rows of B."""
    mean_square = np.inf
    if settings.soft_rows:
        mean_square = sum(float(np.vdot(R, R)) for _, R in block_products(B, to_rows)) / B.shape[0]
    shape = B.shape[0], to_rows.shape[1]
    rows = _begin_of(B, shape) if overwrite else np.empty(shape, B.dtype)
    for here, R in block_products(B, to_rows):  # U s^p signal; computed as for other samples, and in single precision
        rows[here] = soften(R, mean_square)  # only now
    return Directions(to_rows.astype(B.dtype), mean_square), rows


def _begin_of(B: Dense, shape: tuple[int, int]) -> Dense:
    """Return memory for rows that may be written one after the other while those of B are read, usually B's own.

    Rows that are much shorter than those of B get memory of their own, because they would hold on to all of B's.
    """
    if not B.flags.c_contiguous or 2 * shape[1] <= B.shape[1]:
        return np.empty(shape, B.dtype)
    return B.reshape(-1)[: shape[0] * shape[1]].reshape(shape)


def _no_direction(B: Array) -> tuple[Directions, Basis, Dense]:
    """All samples are equal: one direction, along which they are 0."""
    n, d = B.shape
    P, nothing = np.full((d, 1), d**-0.5, B.dtype), np.zeros(1)
    return Directions(np.zeros((d, 1), B.dtype), 0.0), Basis(B, nothing, P, nothing), np.zeros((n, 1), B.dtype)


def soften(R: Dense, mean_square: float) -> Dense:
    """Divide each row by the root of its squared length plus the mean squared length."""
    if np.isinf(mean_square):
        return R
    squares = row_products(R, R)
    return R / np.sqrt(squares + (mean_square or 1.0))[:, None].astype(R.dtype)


def block_products(B: Array, M: Dense) -> Iterator[tuple[slice, Dense]]:
    """Yield B M in double precision, some rows at a time: at once, it would take several times the memory of B."""
    for rows in row_blocks(B.shape[0], B.shape[1], BLOCK_ENTRIES):
        yield rows, np.asarray(B[rows] @ M)


def leading_vectors(B: Array, r: int) -> tuple[Dense, Dense]:
    """Return the leading r singular values and right singular vectors, without negligible ones, in double precision."""
    if min(B.shape) > GRAM_SIZE:
        _, s, Pt = randomized_svd(B, r, n_iter=POWER_STEPS, random_state=0)
        P = Pt.T
    elif B.shape[1] <= B.shape[0]:
        s, P = from_gram(gram(B), r)
    else:
        s, U = from_gram(B.astype(np.float64) @ B.T, r)
        P = B.T @ (U / np.maximum(s, SMALLEST))
    keep = s > max(NEGLIGIBLE * s[0], SMALLEST)
    return s[keep], P[:, keep]


def gram(B: Array) -> Array:
    """Return B'B in double precision."""
    parts = (B[rows] for rows in row_blocks(B.shape[0], B.shape[1], BLOCK_ENTRIES))
    return reduce(add, (part.astype(np.float64).T @ part for part in parts))


def from_gram(G: Array, r: int) -> tuple[Dense, Dense]:
    """Leading r singular values and right singular vectors of A, from G = A'A."""
    w, V = np.linalg.eigh(G.toarray() if is_sparse(G) else G)
    return np.sqrt(np.maximum(w[::-1][:r], 0)), V[:, ::-1][:, :r]
