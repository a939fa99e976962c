r"""What the low-rank methods share: self-expression by the augmented Lagrangian.

Each view is X (d x n, samples in columns), written as X = A Z + E with A = X R, where R (n x r) spans what Z may use:
all samples (R = I) or, if Z may have any sign, the row space of the views. The splitting is

.. math:: \min |J|_* + \lambda |E|_1 + f(Z) \quad \text{s.t.} \quad X = A Z + E,\ Z = J,\ Z = G,\ G \ge 0,

with f smooth (0 in RLRR). Z is one block of the method of multipliers; (J, G, E), which do not depend on one another,
are the other. With two blocks it converges for any penalty. In Z's step, f is linearised, with a proximal term.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from manyview.numerics.blocks import row_blocks
from manyview.numerics.projections import economical_svd, project_nonnegative
from manyview.numerics.proximal import partial_singular_value_threshold, soft_threshold
from manyview.typing import Dense

RELAXATION = 1.5  # over-relaxation of the multiplier method; between 1.5 and 1.8 saves about a third of the sweeps
MU = 3.0  # penalty of the copies of Z, whose singular values are of order 1
MU_FIT = 4.0  # penalty of the fit, in units of lambda over the typical entry of X
BLOCK_ENTRIES = 2**16


# The problem and its state -----------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """What stays fixed for a view: the data, the factors of A = P diag(s) B', the weights and penalties."""

    X: Dense  # (d, n)
    A: Dense  # (d, r)
    s: Dense  # (q,)
    B: Dense  # (r, q)
    lam: float
    mu: float
    nonnegative: bool
    smoothness: float = 0.0  # Lipschitz constant of the gradient of f
    typical: float = 1.0  # size of the entries of X that are not near 0

    @cached_property
    def blocks(self) -> list[slice]:
        """Blocks of features that stay in the cache of a core, but not of fewer features than samples."""
        d, n = self.X.shape
        return row_blocks(d, n, max(BLOCK_ENTRIES, n * n))

    @cached_property
    def length(self) -> float:
        """Frobenius norm of X."""
        return float(np.linalg.norm(self.X))

    @property
    def mu_fit(self) -> float:
        """Penalty of X = A Z + E."""
        return MU_FIT * self.lam / self.typical


@dataclass
class State:
    """Z, its low-rank copy J and non-negative copy G (r x n), E (d x n), and the multipliers of the constraints."""

    Z: Dense
    J: Dense
    G: Dense | None
    E: Dense
    K1: Dense
    K2: Dense
    K3: Dense
    basis: Dense | None = None  # right singular vectors of J, where the next partial SVD starts

    @property
    def solution(self) -> Dense:
        """Return the copy that satisfies the sign constraint exactly, otherwise the low-rank copy."""
        return self.J if self.G is None else self.G


def make_problem(X: Dense, R: Dense | None, lam: float, *, smoothness: float = 0.0) -> Problem:
    """Set up a view; R None means the identity, with Z >= 0."""
    A = X if R is None else X @ R
    _, s, Bt = economical_svd(A)
    kept = s > 10 * np.finfo(s.dtype).eps * max(A.shape) * s.max(initial=0)
    typical = float(np.linalg.norm(X)) ** 2 / (float(np.abs(X).sum()) or 1.0) or 1.0
    return Problem(X, A, s[kept], Bt[kept].T, lam, MU, R is None, smoothness, typical)


def initial_state(problem: Problem) -> State:
    """All zero."""
    Z = np.zeros((problem.A.shape[1], problem.X.shape[1]), problem.X.dtype)
    E = np.zeros_like(problem.X)
    return State(Z, Z, Z if problem.nonnegative else None, E, E.copy(), Z, Z)  # E and K1 change in place


def row_space(tables: Sequence[Dense]) -> Dense:
    """Return an orthonormal basis (n x r) of the row space of all views stacked."""
    _, s, Qt = economical_svd(np.vstack(tables))
    kept = s > 10 * np.finfo(s.dtype).eps * max(len(s), Qt.shape[1]) * s.max(initial=0)
    return np.ascontiguousarray(Qt[kept | (np.arange(len(s)) == 0)].T)


def unit_weight(X: Dense) -> float:
    r"""Weight :math:`\min(d, n) / |X|_1` of E: calling all of X corruption costs as much as representing it.

    That is, Z = 0, E = X and Z = Q Q', E = 0 (Q an orthonormal basis of a row space of full rank) have the same value.
    In this unit, a weight means the same whatever the scale and size of the data.
    """
    total = float(np.abs(X).sum(dtype=np.float64))
    return min(X.shape) / total if total > 0 else 1.0


# The updates -------------------------------------------------------------------------------------


def update_Z(problem: Problem, state: State, gradient: Dense | float = 0.0) -> Dense:
    r"""Solve, with eta the Lipschitz constant of the gradient of f at the last Z,

    .. math:: (\mu_1 A'A + (\mu m + \eta) I) Z = A'(\mu_1 (X - E) + K_1) + \sum_{C \in \{J, G\}} (\mu C - K_C)
              + \eta Z_{last} - \nabla f,

    m copies of Z, by the thin SVD of A.
    """  # noqa: D400
    mu_1, mu, eta = problem.mu_fit, problem.mu, problem.smoothness
    parts = ((problem.A[rows], problem.X[rows] - state.E[rows], state.K1[rows]) for rows in problem.blocks)
    right = sum(A.T @ (mu_1 * residual + K1) for A, residual, K1 in parts) + mu * state.J - state.K2
    if state.G is not None:
        right += mu * state.G - state.K3
    if eta:
        right += eta * state.Z - gradient
    c = mu * (1 if state.G is None else 2) + eta
    shrink = (1 / (mu_1 * problem.s**2 + c) - 1 / c).astype(right.dtype)
    return right / right.dtype.type(c) + problem.B @ (shrink[:, None] * (problem.B.T @ right))


def update_E(problem: Problem, fit: Dense, K1: Dense) -> Dense:
    r"""``argmin_E lam |E|_1 + mu_1/2 |X - fit - E + K1/mu_1|^2``: shrink."""
    return soft_threshold(problem.X - fit + K1 / problem.mu_fit, problem.lam / problem.mu_fit)


def update_J(problem: Problem, Z: Dense, K2: Dense, basis: Dense | None) -> tuple[Dense, Dense]:
    r"""``argmin_J |J|_* + mu/2 |Z - J + K2/mu|^2``: shrink the singular values."""
    return partial_singular_value_threshold(Z + K2 / problem.mu, 1 / problem.mu, basis)


def update_G(problem: Problem, Z: Dense, K3: Dense) -> Dense:
    r"""``argmin_{G >= 0} |Z - G + K3/mu|^2``: clip."""
    return project_nonnegative(Z + K3 / problem.mu)


def fit_rows(problem: Problem, state: State, rows: slice) -> float:
    """Update E and its multiplier in some features; return the length of X - A Z - E there."""
    part = replace(problem, X=problem.X[rows], A=problem.A[rows])
    fit = part.A @ state.Z
    relaxed = RELAXATION * fit + (1 - RELAXATION) * (part.X - state.E[rows])
    state.E[rows] = update_E(part, relaxed, state.K1[rows])
    state.K1[rows] += problem.mu_fit * (part.X - relaxed - state.E[rows])
    return float(np.linalg.norm(part.X - fit - state.E[rows]))


def sweep(problem: Problem, state: State, gradient: Dense | float = 0.0) -> dict[str, float]:
    """Update Z, then its copies and E, then the multipliers; return the relative gaps and the relative change."""
    a, mu = RELAXATION, problem.mu
    state.Z = Z = update_Z(problem, state, gradient)
    J = state.J
    size = max(float(np.linalg.norm(Z)), 1.0)  # a Z near 0 is compared with one sample that represents itself
    gap = np.linalg.norm([fit_rows(problem, state, rows) for rows in problem.blocks])
    relaxed = a * Z + (1 - a) * J
    state.J, state.basis = update_J(problem, relaxed, state.K2, state.basis)
    state.K2 = state.K2 + mu * (relaxed - state.J)
    gaps = {
        "fit_gap": float(gap) / (problem.length or 1.0),
        "rank_gap": float(np.linalg.norm(Z - state.J)) / size,
        "change": float(np.linalg.norm(state.J - J)) / size,
    }
    if state.G is not None:
        relaxed = a * Z + (1 - a) * state.G
        state.G = update_G(problem, relaxed, state.K3)
        state.K3 = state.K3 + mu * (relaxed - state.G)
        gaps["sign_gap"] = float(np.linalg.norm(Z - state.G)) / size
    return gaps


def largest_gaps(all_gaps: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Take the largest gap of each kind over the views; "residual" is the largest of all."""
    all_gaps = list(all_gaps)
    worst = {kind: max(gaps[kind] for gaps in all_gaps) for kind in all_gaps[0]}
    return {"residual": max(worst.values()), **worst}


def nuclear_norm(Z: Dense) -> float:
    """Sum of the singular values."""
    return float(economical_svd(Z)[1].sum())
