r"""Robust recovery of a view: what is low-rank, what is gross error, what is small noise.

For a table X (n x d, samples in rows, in units of its own robust scale) and L = U D' with U'U = I (n x r),

.. math:: \min_{L, E}\; \tau |L|_* + \kappa |E|_1 + \tfrac12 |X - L - E|_F^2,
          \qquad \tau = \theta (\sqrt n + \sqrt d), \quad \kappa = \tau / \sqrt{\max(n, d)},

where |L|_* = |D|_* as U is orthonormal. theta is the level of the small noise: tau is the largest singular value that
such noise has, so what survives is signal. E is eliminated exactly (its optimum is a soft threshold), which leaves the
Huber loss of X - L, smooth and convex, beside the nuclear norm: accelerated proximal gradients with step 1 reach the
minimum, and the distance to their fixed point says when to stop.

A view of d < r features has no low rank by which its entries could tell about one another. There theta is raised by
r / d, up to three times (`narrowness`), which leaves of the recovery a clipping of far-out entries.

The tight threshold kappa makes L robust, but takes too much out of a view that is clean, or not of low rank. So whether
a view is cleaned at all, and how strictly, is read off the residuals X - L (`errors.py`).

Values that are missing (NaN) have no part in the last two terms: the fidelity counts what was observed, and low rank
completes the rest. In the gradient step that puts the current L in their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manyview.numerics.projections import orthonormal_columns
from manyview.numerics.proximal import soft_threshold
from manyview.numerics.robust import GAUSSIAN, column_deviations
from manyview.numerics.starts import fixed_directions
from manyview.records import saved
from manyview.typing import Dense, Mask

START_CLIP = 3.0  # in robust deviations: no entry may dominate the first subspace
START_STEPS = 3
PLACING_STEPS = 30  # of a new sample; the error shrinks by the share that is kept of each direction
REPORTED = 3.0  # robust deviations of its column's residuals from which an error is reported as one


@dataclass
class Recovery:
    """State of one view, in units of `unit`; a sweep costs three n d r products, memory is O(n (d + r)).

    L = U diag(spectrum) P' is the estimate, U and P orthonormal, and Y the point extrapolated from it. X is 0 where it
    was not `observed`; None means that all of it was.
    """

    X: Dense
    observed: Mask | None
    unit: float
    narrowness: float
    tau: float
    kappa: float
    U: Dense
    L: Dense
    Y: Dense
    P: Dense
    spectrum: Dense
    momentum: float = 1.0
    residual: float = np.inf

    @classmethod
    def start(cls, X: Dense, r: int, noise_level: float, sparsity: float, narrowest: float) -> Recovery:
        """Begin from the leading subspace of X with its entries clipped."""
        n, d = X.shape
        missing = np.isnan(X)
        observed = ~missing if missing.any() else None
        unit = typical_size(X if observed is None else X[observed])
        X = (X if observed is None else np.where(missing, 0, X)) / X.dtype.type(unit)
        raised = narrowness(d, r, narrowest)
        tau = float(noise_level * raised * (np.sqrt(n) + np.sqrt(d)))
        A = np.clip(X, -START_CLIP, START_CLIP)
        probe = fixed_directions(d, min(r, n, d)).astype(X.dtype)
        U = np.linalg.qr(A @ probe)[0]
        for _ in range(START_STEPS):
            U = orthogonal_iteration(A, U)
        L = U @ (U.T @ A)
        kappa = sparsity * tau / float(np.sqrt(max(n, d)))
        return cls(X, observed, unit, raised, tau, kappa, U, L, L, L.T @ U, np.zeros(U.shape[1], X.dtype))

    def sweep(self) -> None:
        """Do one accelerated proximal-gradient step: E, U, D, then the extrapolation."""
        A = self.corrected(self.Y, self.kappa)
        self.U, s, self.P = singular_triplets(A, orthogonal_iteration(A, self.U))
        self.spectrum = np.maximum(s - self.X.dtype.type(self.tau), 0)
        L = (self.U * self.spectrum) @ self.P.T
        size = float(np.linalg.norm(L))
        self.residual = float(np.linalg.norm(L - self.Y)) / size if size > 0 else 0.0
        self._extrapolate(L)

    def _extrapolate(self, L: Dense) -> None:
        """Nesterov's momentum, restarted whenever it points uphill (O'Donoghue and Candes)."""
        step = L - self.L
        if np.vdot(self.Y - L, step) > 0:
            self.momentum, self.Y = 1.0, L
        else:
            grown = (1 + np.sqrt(1 + 4 * self.momentum**2)) / 2
            self.Y = L + L.dtype.type((self.momentum - 1) / grown) * step
            self.momentum = grown
        self.L = L

    def objective(self) -> float:
        """Return tau |L|_* + the Huber loss of X - L, that is, with E at its optimum."""
        R = self._residuals()
        E = soft_threshold(R, self.kappa)
        return self.tau * float(self.spectrum.sum()) + (float(np.vdot(R, R)) - float(np.vdot(E, E))) / 2

    @property
    def residuals(self) -> Dense:
        """X - L, which means nothing where X was not observed."""
        return self.X - self.L

    def cleaned(self, leniency: float) -> Dense:
        """Return X - E in units of the table, with the threshold of E at kappa times the leniency; completed."""
        A = (self.X - soft_threshold(self.residuals, self.kappa * leniency)) * self.X.dtype.type(self.unit)
        return A if self.observed is None else np.where(self.observed, A, self.U @ self.loadings.T)

    @property
    def loadings(self) -> Dense:
        """D (d x r), in units of the table: of the directions that survive the shrinkage, as large as they were before.

        The shrinkage tells signal from noise, but makes it too small.
        """
        return self.P * ((self.spectrum + self.tau) * (self.spectrum > 0) * self.unit).astype(self.P.dtype)

    def completed(self) -> Dense:
        """Return X in units of the table, with U D' where it was not observed."""
        X = self.X * self.X.dtype.type(self.unit)
        return X if self.observed is None else np.where(self.observed, X, self.U @ self.loadings.T)

    def gross_errors(self) -> Dense:
        """X - L where it is out of the ordinary for its column, otherwise 0, in units of the table.

        E itself is non-zero wherever small noise exceeds kappa; reported as errors are only residuals beyond
        `REPORTED` robust deviations.
        """
        R = self.residuals
        beyond = np.abs(R) > REPORTED * column_deviations(R, self.observed)
        if self.observed is not None:
            beyond &= self.observed
        return np.where(beyond, R, 0) * self.X.dtype.type(self.unit)

    def corrected(self, L: Dense, kappa: float) -> Dense:
        """X without the errors that it has if L is right; L itself where X was not observed."""
        A = self.X - soft_threshold(self.X - L, kappa)
        return A if self.observed is None else np.where(self.observed, A, L)

    def _residuals(self) -> Dense:
        """X - L where X was observed: a table, or a list of values if some were not."""
        R = self.X - self.L
        return R if self.observed is None else R[self.observed]


@saved
@dataclass(frozen=True)
class Loadings:
    """What was learnt of a view, to clean and complete other samples of it, without the other samples.

    For a row x, with the right singular vectors P held fixed, l minimises the same Huber loss of x - l, shrunk as the
    singular values were: l = P diag(keep) P' (x - e), e = soft(x - l, kappa).
    """

    P: Dense
    keep: Dense
    unit: float
    kappa: float
    leniency: float

    @classmethod
    def of(cls, state: Recovery, leniency: float) -> Loadings:
        """Take the loadings from a view that has been recovered; an infinite leniency cleans nothing."""
        keep = state.spectrum / (state.spectrum + state.spectrum.dtype.type(state.tau))
        return cls(state.P, keep, state.unit, state.kappa, leniency)

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


def narrowness(d: int, r: int, most: float) -> float:
    """Return r / d, at least 1 and at most `most`: how far d features fall short of the rank r."""
    return min(max(r / d, 1.0), most)


def typical_size(X: Dense) -> float:
    """Robust standard deviation of the values about 0, from the median of their magnitudes.

    Where over half of them are 0: that of the others, times the root of their share.
    """
    size = np.abs(X).ravel()
    median = float(np.median(size))
    if median <= 1e-6 * size.mean():
        size = size[size > 0]
        median = float(np.median(size)) * np.sqrt(size.size / X.size) if size.size else 0.0
    return GAUSSIAN * median or 1.0


def orthogonal_iteration(A: Any, U: Dense) -> Dense:
    """One step towards the leading left singular vectors of A."""
    return orthonormal_columns(A @ (A.T @ U))


def singular_triplets(A: Dense, U: Dense) -> tuple[Dense, Dense, Dense]:
    """Singular values of A within the span of U, with their left (n x r) and right (d x r) vectors."""
    P, s, Qt = np.linalg.svd(A.T @ U, full_matrices=False)
    return U @ Qt.T, s, P
