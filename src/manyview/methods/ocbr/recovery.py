r"""Robust recovery of a view: its low-rank part, its gross errors and its small noise.

For a table X (n x d, samples in rows) of robust scale u, and L = U D' with U'U = I (n x r),

.. math:: \min_{L, E}\; \tau |L|_* + \kappa |E|_1 + \tfrac{1}{2} |X - L - E|_F^2,
          \qquad \tau = \theta u (\sqrt n + \sqrt d), \quad \kappa = \tau / \sqrt{\max(n, d)},

where |L|_* = |D|_* as U is orthonormal. theta is the level of the small noise: tau is the largest singular value of
such noise, so what survives is signal. E is eliminated exactly (its optimum is a soft threshold), which leaves the
Huber loss of X - L, smooth and convex, plus the nuclear norm: accelerated proximal gradients with step 1 reach the
minimum, and the distance to their fixed point says when to stop.

In a view of d < r features, low rank says nothing about the entries. In that case theta is raised by r / d, up to three
times (`narrowness`), so that the recovery amounts to clipping far-out entries.

The tight threshold kappa makes L robust, but removes too much from a view that is clean or not of low rank. So whether
a view is cleaned at all, and how strictly, is decided by the residuals X - L (`errors.py`).

Missing values (NaN) have no part in the last two terms: the fit uses only observed values, and low rank completes the
rest. In the gradient step, the current L takes their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from scipy.linalg import qr

from manyview.methods.ocbr.directions import from_gram
from manyview.numerics.blocks import Difference, Table, read_rows, row_blocks
from manyview.numerics.projections import orthonormal_columns
from manyview.numerics.proximal import soft_threshold
from manyview.numerics.robust import GAUSSIAN, column_deviations
from manyview.numerics.starts import fixed_directions
from manyview.records import saved
from manyview.typing import Dense, Mask

START_CLIP = 3.0  # in robust deviations: no entry may dominate the first subspace
START_STEPS = 4
NARROW = 3  # times r: narrower tables get their singular vectors from A'A, which costs no more than a step
BLOCK_ENTRIES, BLOCK_ROWS = 2**15, 128  # values in a block of rows; but at least so many rows
PLACING_STEPS = 30  # for a new sample; the error shrinks by the share of each direction that is kept
EVERY = slice(None)
REPORTED = 3.0  # robust deviations of its column's residuals beyond which an entry is reported as an error


@dataclass
class Recovery:
    """State of one view; a sweep costs a few n d r products, memory is O(n d).

    X is the table, NaN where it was not observed, `unit` its robust scale. L is the estimate, P (d x r) its right
    singular vectors and those of what was shrunk to 0, `spectrum` its singular values, Y the point extrapolated from
    it, `loss` the Huber loss of X - L. X may be computed where it is looked at. Rows are processed in blocks and in
    place: L and Y are the only tables, and a sweep creates no other.
    """

    X: Table
    is_complete: bool
    unit: float
    narrowness: float
    tau: float
    kappa: float
    L: Dense
    Y: Dense
    P: Dense
    spectrum: Dense
    momentum: float = 1.0
    residual: float = np.inf
    loss: float = 0.0
    scratch: tuple[Dense, Dense] | None = None

    @classmethod
    def start(cls, X: Table, r: int, noise_level: float, sparsity: float, narrowest: float) -> Recovery:
        """Begin from the leading subspace of X with its entries clipped."""
        n, d = X.shape
        values = _observed_values(X)
        unit, is_complete = typical_size(values), values.size == n * d
        del values  # as large as X
        raised = narrowness(d, r, narrowest)
        tau = float(noise_level * raised * unit * (np.sqrt(n) + np.sqrt(d)))
        L, P = _without_outliers(X, r, START_CLIP * unit)
        kappa = sparsity * tau / float(np.sqrt(max(n, d)))
        state = cls(X, is_complete, unit, raised, tau, kappa, L, L.copy(), P, np.zeros(P.shape[1], X.dtype))
        state.loss = sum(state._loss(rows, part) for rows, part, _ in state._corrected())
        return state

    def sweep(self) -> None:
        """Do one accelerated proximal-gradient step: E, P, L, then the extrapolation."""
        s, forth, self.P, projected = self._subspace()
        self.spectrum = np.maximum(s - self.tau, 0).astype(self.X.dtype)
        kept = self.spectrum > 0
        forth, back = forth[:, kept] * (self.spectrum[kept] / s[kept]).astype(forth.dtype), self.P[:, kept].T
        gap = size = uphill = self.loss = 0.0
        for rows, X, A in self._corrected():
            L = np.matmul((A if projected is None else projected[rows]) @ forth, back, out=A)
            away, step = self.Y[rows], self.L[rows]
            away -= L
            np.subtract(L, step, out=step)
            gap, size, uphill = gap + _dot(away, away), size + _dot(L, L), uphill + _dot(away, step)
            away[:], step[:] = step, L  # Y holds the step until its length is known
            self.loss += self._loss(rows, X)
        self.residual = float(np.sqrt(gap / size)) if size > 0 else 0.0
        self._extrapolate(uphill=uphill > 0)

    def _subspace(self) -> tuple[Dense, Dense, Dense, Dense | None]:
        """Return the singular values of A = X without its errors, what takes A to its left vectors times them, and P.

        In wide tables, the matrix does not take A there, but the last table returned: A on its subspace (n x r), which
        is computed here anyway, and cheaper to go on from.
        """
        if is_narrow(self.P):
            s, P = right_vectors(lambda: (A for _, _, A in self._corrected()), self.P)
            return s, P, P, None
        P = orthonormal_columns(reduce(add, (A.T @ (A @ self.P) for _, _, A in self._corrected())))
        B = np.empty((len(self.L), P.shape[1]), P.dtype)
        for rows, _, A in self._corrected():
            np.matmul(A, P, out=B[rows])
        s, V = from_gram(reduce(add, (_gram(B[rows]) for rows in _blocks(self.X))), P.shape[1])
        V = V.astype(P.dtype)
        return s, V, P @ V, B

    def _extrapolate(self, *, uphill: bool) -> None:
        """Nesterov's momentum, restarted whenever it points uphill (O'Donoghue and Candes)."""
        grown = (1 + np.sqrt(1 + 4 * self.momentum**2)) / 2
        self.Y *= self.Y.dtype.type(0 if uphill else (self.momentum - 1) / grown)
        self.Y += self.L
        self.momentum = 1.0 if uphill else grown

    def free(self) -> None:
        """Give up the memory that only sweeps need."""
        self.Y, self.scratch = self.L, None

    def _scratch(self, which: int, rows: slice) -> Dense:
        """Return memory for a block of rows, the same for every block: fresh memory costs more time than the sums."""
        if self.scratch is None:
            largest = _blocks(self.X)[0].stop
            self.scratch = np.empty_like(self.L[:largest]), np.empty_like(self.L[:largest])
        return self.scratch[which][: rows.stop - rows.start]

    def _corrected(self) -> Iterator[tuple[slice, Dense, Dense]]:
        """Yield blocks of rows: which they are, X, and X without its errors.

        The errors are those if Y is right: X without them is Y + clip(X - Y), and Y where X was not observed.
        """
        for rows in _blocks(self.X):
            X, Y = self._scratch(0, rows), self.Y[rows]
            read_rows(self.X, rows, X)
            A = np.subtract(X, Y, out=self._scratch(1, rows))
            np.clip(A, -self.kappa, self.kappa, out=A)
            A = self._observed(A)
            A += Y
            yield rows, X, A

    def _observed(self, A: Dense) -> Dense:
        """Put 0 where a block is NaN, that is, where X was not observed."""
        return A if self.is_complete else without_nan(A)

    def objective(self) -> float:
        """Return tau |L|_* + the Huber loss of X - L, that is, with E at its optimum."""
        return self.tau * float(self.spectrum.sum()) + self.loss

    def _loss(self, rows: slice, X: Dense) -> float:
        """Return the part of some rows in the Huber loss of X - L; both blocks of scratch are overwritten."""
        R = self._observed(np.subtract(X, self.L[rows], out=X))
        C = np.clip(R, -self.kappa, self.kappa, out=self._scratch(1, rows))
        return _dot(C, R) - _dot(C, C) / 2

    @property
    def U(self) -> Dense:
        """Orthonormal columns (n x r) that span L and, beyond its rank, X - E."""
        kept = self.spectrum > 0
        columns = np.empty((len(self.L), self.P.shape[1]), self.L.dtype, order="F")  # LAPACK would copy it otherwise
        for rows in _blocks(self.X):
            L, X = self.L[rows], self._observed(self.X[rows])
            columns[rows] = np.where(kept, L @ self.P, (X - soft_threshold(X - L, self.kappa)) @ self.P)
        basis, R = qr(columns, overwrite_a=True, mode="economic", check_finite=False)  # numpy's copies it to double
        basis *= np.where(np.diag(R) < 0, -1, 1).astype(basis.dtype)
        return basis

    @property
    def observed(self) -> Mask | None:
        """Which values were observed, None if all of them."""
        return None if self.is_complete else np.concatenate([~np.isnan(self.X[rows]) for rows in _blocks(self.X)])

    @property
    def residuals(self) -> Difference:
        """X - L, computed where it is looked at; NaN where X was not observed."""
        return Difference(self.X, self.L)

    def cleaned(self, leniency: float | None, rows: slice = EVERY) -> Dense:
        """Return some rows of X - E, with U D' where X was not observed.

        The threshold of E is kappa times the leniency; None leaves X as it is.
        """
        A = self.X[rows]
        if leniency is not None:
            A = A - soft_threshold(A - self.L[rows], self.kappa * leniency)
        return A if self.is_complete else np.where(np.isnan(A), self._low_rank(rows), A)

    def spend(self, leniency: float | None) -> Dense:
        """Return `cleaned` in the memory of L; the state is of no more use."""
        A = self.L
        for rows in _blocks(A):
            A[rows] = self.cleaned(leniency, rows)
        self.L = self.Y = A[:0].copy()
        return A

    @property
    def loadings(self) -> Dense:
        """D (d x r): the directions that survive the shrinkage, at their size before it.

        The shrinkage separates signal from noise, but makes the signal too small.
        """
        return self.P * ((self.spectrum + self.tau) * (self.spectrum > 0)).astype(self.P.dtype)

    def gross_errors(self, blocks: Iterable[slice]) -> Iterator[Dense]:
        """Yield, for blocks of rows, X - L where it is unusual for its column, otherwise 0.

        E itself is non-zero wherever small noise exceeds kappa; only residuals beyond `REPORTED` robust deviations are
        reported as errors.
        """
        usual = REPORTED * column_deviations(self.residuals, self.observed)
        for rows in blocks:
            R = self.residuals[rows]
            yield np.where(np.abs(R) > usual, R, 0).astype(R.dtype)

    def _low_rank(self, rows: slice) -> Dense:
        """Return some rows of U D'."""
        kept = self.spectrum > 0
        P, size = self.P[:, kept], self.spectrum[kept]
        return (self.L[rows] @ (P * ((size + self.tau) / size).astype(P.dtype))) @ P.T


@saved
@dataclass(frozen=True)
class Loadings:
    """What was learned from a view, to clean and complete each new sample separately.

    For a row x and fixed right singular vectors P, l minimises the same Huber loss of x - l, with the same shrinkage as
    the singular values: l = P diag(keep) P' (x - e), e = soft(x - l, kappa).
    """

    P: Dense
    keep: Dense
    unit: float
    kappa: float
    leniency: float

    @classmethod
    def of(cls, state: Recovery, leniency: float) -> Loadings:
        """Take the loadings from a recovered view; an infinite leniency cleans nothing."""
        keep = state.spectrum / (state.spectrum + state.spectrum.dtype.type(state.tau))
        return cls(state.P, keep, state.unit, state.kappa / state.unit, leniency)

    def clean(self, X: Dense) -> Dense:
        """Return X - E of other samples, completed where values are missing; time O(m d r) per step."""
        missing = np.isnan(X)
        values = np.where(missing, 0, X) / X.dtype.type(self.unit)
        L = np.zeros_like(values)
        for _ in range(PLACING_STEPS):
            A = self._corrected(values, missing, L, self.kappa)
            L = (A @ (self.P * self.keep)) @ self.P.T
        cleaned = values - soft_threshold(values - L, self.kappa * self.leniency)
        completed = np.where(missing, (A @ (self.P * (self.keep > 0))) @ self.P.T, cleaned)
        return completed * X.dtype.type(self.unit)

    @staticmethod
    def _corrected(X: Dense, missing: Mask, L: Dense, kappa: float) -> Dense:
        return np.where(missing, L, X - soft_threshold(X - L, kappa))


def _observed_values(table: Table) -> Dense:
    """Return all values but NaN, in the order of rows."""
    values, end = np.empty(table.shape[0] * table.shape[1], table.dtype), 0
    for rows in _blocks(table):
        part = table[rows]
        known = part[~np.isnan(part)]
        values[end : end + known.size] = known
        end += known.size
    return values[:end]


def without_nan(A: Dense) -> Dense:
    """Put 0 where a table is NaN: by its bits, because to copy where a mask says costs ten times as much."""
    bits = A.view(f"u{A.dtype.itemsize}")
    bits &= np.isnan(A).astype(bits.dtype) - bits.dtype.type(1)  # all bits, or none
    return A


def _without_outliers(X: Table, r: int, most: float) -> tuple[Dense, Dense]:
    """Project X, with its entries clipped, on its leading subspace; also return the right singular vectors."""

    def clipped() -> Iterator[Dense]:
        return (without_nan(np.clip(X[rows], -most, most)) for rows in _blocks(X))

    P: Dense = fixed_directions(X.shape[1], min(r, *X.shape)).astype(X.dtype)
    for _ in range(1 if is_narrow(P) else START_STEPS):
        _, P = right_vectors(clipped, P)
    L = np.empty(X.shape, X.dtype)
    for rows, A in zip(_blocks(X), clipped(), strict=True):
        np.matmul(A @ P, P.T, out=L[rows])
    return L, P


def narrowness(d: int, r: int, most: float) -> float:
    """Return r / d, at least 1 and at most `most`: how far d features fall short of the rank r."""
    return min(max(r / d, 1.0), most)


def typical_size(X: Dense) -> float:
    """Robust standard deviation of the values about 0, from the median of their magnitudes.

    If more than half of them are 0, it is that of the others, times the root of their share.
    """
    size = np.abs(X).ravel()
    mean = size.mean()
    median = float(np.median(size, overwrite_input=True))
    if median <= 1e-6 * mean:
        size = size[size > 0]
        median = float(np.median(size)) * np.sqrt(size.size / X.size) if size.size else 0.0
    return GAUSSIAN * median or 1.0


def right_vectors(blocks: Callable[[], Iterable[Dense]], P: Dense) -> tuple[Dense, Dense]:
    """Leading singular values and right singular vectors (d x r) of a table whose rows come in blocks.

    Exact if P (d x r) is narrow; otherwise one step towards them from P, and exact once the loop around converges.
    """
    r = P.shape[1]
    if is_narrow(P):
        s, V = from_gram(reduce(add, (_gram(A) for A in blocks())), r)
        return s, V.astype(P.dtype)
    P = orthonormal_columns(reduce(add, (A.T @ (A @ P) for A in blocks())))
    s, V = from_gram(reduce(add, (_gram(A @ P) for A in blocks())), r)
    return s, P @ V.astype(P.dtype)


def is_narrow(P: Dense) -> bool:
    """Return whether A'A of a table with right singular vectors P is cheap to compute."""
    return P.shape[0] <= NARROW * P.shape[1]


def _gram(A: Dense) -> Dense:
    """Return A'A in double precision, because it squares the range of the singular values."""
    A = A.astype(np.float64, copy=False)
    return A.T @ A


def _dot(A: Dense, B: Dense) -> float:
    return float(np.vdot(A, B))


def _blocks(X: Table) -> list[slice]:
    """Return blocks of rows: few enough for the cache of a core, enough for fast products."""
    n, d = X.shape
    return row_blocks(n, d, max(BLOCK_ENTRIES, BLOCK_ROWS * d))
