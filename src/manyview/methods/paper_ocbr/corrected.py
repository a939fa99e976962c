r"""The paper's objective and alternation, with every erratum corrected.

For each view X (d x n), with U, G (n x r), D (d x r), E (d x n) and a graph W on the rows of U,

.. math::
    \min \sum_i \gamma_i |E_i|_1 + \frac{\lambda_2}{2} \mathrm{Tr}(U_i' L_i U_i)
         + \frac{\beta}{4} \sum_{j \ne i} |U_i - U_j Q_{ij}|_F^2
    \quad \text{s.t.}\quad X_i = D_i U_i' + E_i,\; D_i = X_i U_i,\; U_i = G_i \ge 0,\; U_i'U_i = I,

over the rotations Q_ij (each unordered pair occurs twice, hence beta/4: the U-step has beta/2 as in the paper), by the
augmented Lagrangian with multipliers K1, K2, K3. W_i solves the adaptive-neighbour problem, in which the number of
neighbours s determines the weight lambda_1 of each row. One function per update; memory O(n (d + r + s)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from manyview.graphs.affinity import adaptive_graph
from manyview.graphs.laplacian import laplacian
from manyview.methods.paper_ocbr.lagrangian import Coupling, View, harden, update_D
from manyview.numerics.linear_systems import conjugate_gradients
from manyview.numerics.projections import procrustes, project_nonnegative, project_orthonormal
from manyview.numerics.proximal import soft_threshold
from manyview.typing import Dense

MU_START, MU_GROWTH, MU_MAX = 1.25, 1.2, 1e6


@dataclass
class RelaxedView(View):
    """Adds the weight gamma of |E|_1, and the Laplacian of W."""

    gamma: float = 1.0
    L: sp.csr_array = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.G = project_nonnegative(self.U)
        self.L = self.W


def lagrangian(view: RelaxedView, others: Sequence[Dense], lam2: float, beta: float, mu: float) -> float:
    """Augmented Lagrangian of one view; `others` are the other views' bases, already rotated onto this one."""
    X, U, E, D, G = view.X, view.U, view.E, view.D, view.G
    value = view.gamma * np.abs(E).sum() + lam2 / 2 * np.sum(U * (view.L @ U))
    value += beta / 2 * sum(np.sum((U - other) ** 2) for other in others)
    for K, gap in ((view.K1, X - D @ U.T - E), (view.K2, U - G), (view.K3, D - X @ U)):
        value += np.sum(K * gap) + mu / 2 * np.sum(gap**2)
    return float(value)


def update_U(view: RelaxedView, others: Sequence[Dense], lam2: float, beta: float, mu: float) -> Dense:
    """Minimise the augmented Lagrangian over U: the Sylvester equation A U + U B = S.

    A = lam2 L + (beta (V - 1) + mu) I + mu X'X,  B = mu D'D, S = beta sum_j U_j Q_j + K1'D - K2 + X'K3 + mu ((X - E)'D
    + G + X'D). With B = P diag(b) P' it separates into the systems (A + b_k I) v_k = (S P)_k, solved together by
    conjugate gradients: O(n (d + s) r) per step, and no n x n matrix.
    """
    X, D = view.X, view.D
    S = beta * sum(others, np.zeros_like(view.U)) + view.K1.T @ D - view.K2 + X.T @ view.K3
    S += mu * ((X - view.E).T @ D + view.G + X.T @ D)
    b, P = np.linalg.eigh(mu * (D.T @ D))
    diagonal = (beta * len(others) + mu + b).astype(X.dtype)

    def shifted(V: Dense) -> Dense:
        return lam2 * (view.L @ V) + mu * (X.T @ (X @ V)) + V * diagonal

    return conjugate_gradients(shifted, S @ P, start=view.U @ P) @ P.T


def update_E(view: RelaxedView, mu: float) -> Dense:
    """E = soft-threshold of X - D U' + K1/mu at gamma/mu."""
    return soft_threshold(view.X - view.D @ view.U.T + view.K1 / mu, view.gamma / mu)


def update_G(view: RelaxedView, mu: float) -> Dense:
    """G = max(0, U + K2/mu)."""
    return project_nonnegative(view.U + view.K2 / mu)


def update_multipliers(view: RelaxedView, mu: float) -> None:
    """K += mu (gap), for the three constraints."""
    view.K1 = view.K1 + mu * (view.X - view.D @ view.U.T - view.E)
    view.K2 = view.K2 + mu * (view.U - view.G)
    view.K3 = view.K3 + mu * (view.D - view.X @ view.U)


def aligned(views: Sequence[RelaxedView], onto: RelaxedView) -> list[Dense]:
    """Return the other views' bases, each rotated to be as close as possible to this view's."""
    return [other.U @ procrustes(other.U, onto.U) for other in views if other is not onto]


def residual(view: RelaxedView) -> float:
    """Return the largest relative gap of the three constraints."""
    X, U, D = view.X, view.U, view.D
    size = max(np.linalg.norm(X), np.finfo(X.dtype).tiny)
    sign = np.linalg.norm(U - view.G) / np.linalg.norm(U)
    return float(max(np.linalg.norm(X - D @ U.T - view.E) / size, sign, np.linalg.norm(D - X @ U) / size))


@dataclass
class Alternation:
    """The state over all views, and its sweep."""

    views: list[RelaxedView]
    coupling: Coupling
    hard: bool  # whether U is made a hard indicator, as in the paper
    mu: float = MU_START

    @classmethod
    def start(cls, tables: Sequence[Dense], coupling: Coupling, sparsity: float, *, hard: bool) -> Alternation:
        """Begin from tables with samples in rows."""
        return cls([start(X, coupling, sparsity) for X in tables], coupling, hard)

    def weights(self) -> Dense:
        """Return the weight of each view's graph in the result: all equal."""
        return np.full(len(self.views), 1 / len(self.views))

    def sweep(self, _iteration: int) -> dict[str, float]:
        """Do one pass over the views, in the paper's order: U, W, E, D, G, multipliers."""
        lam2, beta = self.coupling.lam2, self.coupling.beta
        for view in self.views:
            relaxed = project_orthonormal(update_U(view, aligned(self.views, view), lam2, beta, self.mu))
            # the graph is learned before k-means makes the rows of a cluster coincide
            view.W = adaptive_graph(relaxed, self.coupling.s)
            view.L = laplacian(view.W)
            view.U = harden(relaxed, self.coupling) if self.hard else relaxed
            view.E = update_E(view, self.mu)
            view.D = update_D(view, self.mu)
            view.G = update_G(view, self.mu)
            update_multipliers(view, self.mu)
        measured = {
            "residual": max(map(residual, self.views)),
            "objective": objective(self.views, lam2, beta),
            "mu": self.mu,
        }
        self.mu = min(self.mu * MU_GROWTH, MU_MAX)
        return measured


def objective(views: Sequence[RelaxedView], lam2: float, beta: float) -> float:
    """Sum over the views of gamma |E|_1 + lam2/2 Tr(U'LU) + beta/4 sum_j |U - U_j Q_j|^2."""
    total = 0.0
    for view in views:
        apart = sum(np.sum((view.U - other) ** 2) for other in aligned(views, view))
        total += view.gamma * np.abs(view.E).sum() + lam2 / 2 * np.sum(view.U * (view.L @ view.U)) + beta / 4 * apart
    return float(total)


def start(X: Dense, coupling: Coupling, sparsity: float) -> RelaxedView:
    """Divide X by its spectral norm, so that weights mean the same in every view.

    U starts from the k-means indicator, which is orthonormal and non-negative; E and the multipliers are 0.
    """
    scale = float(np.linalg.norm(X, 2)) or 1.0
    gamma = sparsity / float(np.sqrt(max(X.shape)))
    table = np.ascontiguousarray(X.T) / X.dtype.type(scale)
    return RelaxedView(table, harden(X, coupling), np.zeros_like(table), scale, gamma)
