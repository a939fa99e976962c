"""Algorithm 1 as printed, equation by equation, with only what is undefined filled in.

It is here so that anyone can see the results of the printed equations. What had to be filled in:

- X_i is standardised (the paper does not say how it is scaled).
- U_i[0] comes from k-means on X_i ("U_i[0] computation"); D_i[0] = X_i U_i; K_3[0] = 0.
- ``D U`` and ``X U`` in Eq. K1 and in the stopping rule have shapes that do not match; read ``D U'`` and ``X U U'``.
- ``alpha`` in the weights m of Eq. W is lambda_1. Ties are cut off at s neighbours, because the text asks for s.
- mu grows by the factor `MU_GROWTH` (the text only cites an adaptive rule), and all views share it.
- A row system that happens to be singular is solved in the least-squares sense.

The errors listed in docs/errata.md are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from manyview.graphs.laplacian import laplacian, symmetrize
from manyview.graphs.neighbors import from_neighbors, nearest_neighbors
from manyview.methods.paper_ocbr.lagrangian import Coupling, View, harden, update_D
from manyview.typing import Dense

LAM1 = 0.8
MU_START, MU_GROWTH = 1e-3, 1.1
NOISE_SHARE, NOISE_RANGE = 0.2, 5.0


@dataclass
class Algorithm1:
    """The state over all views, and its sweep; `done` are the views removed from V."""

    views: list[View]
    coupling: Coupling
    tol: float
    mu: float = MU_START
    done: list[View] = field(default_factory=list)

    @classmethod
    def start(cls, tables: Sequence[Dense], coupling: Coupling, tol: float) -> Algorithm1:
        """Begin from tables with samples in rows."""
        rng = np.random.default_rng(coupling.seed)
        return cls([start(X, coupling, rng) for X in tables], coupling, tol)

    def weights(self) -> Dense:
        """Return the weight of each view's graph in the result: equal for views left at the end, 0 for others."""
        remaining = self.remaining()
        return np.array([float(any(view is left for left in remaining)) for view in self.views]) / len(remaining)

    def sweep(self, _iteration: int) -> dict[str, float]:
        """Do one pass over the views that have not converged, in the printed order."""
        lam2, beta = self.coupling.lam2, self.coupling.beta
        active = self.remaining()
        for view in active:
            others = sum((other.U for other in active if other is not view), np.zeros_like(view.U))
            view.U = harden(update_rows(view, others, lam2, beta, self.mu), self.coupling)
            view.W = update_graph(view.U, lam2, self.coupling.s)
            view.E = positive_soft_threshold(view.X - view.D @ view.U.T + view.K1 / self.mu, 1 / self.mu)
            view.D = update_D(view, self.mu)
            view.G = view.U + view.K2 / self.mu
            view.K1 = view.K1 + self.mu * (view.X - view.D @ view.U.T - view.E)
            view.K2 = view.K2 + self.mu * (view.U - view.G)
            view.K3 = view.K3 + self.mu * (view.D - view.X @ view.U)
        mu, self.mu = self.mu, self.mu * MU_GROWTH
        residuals = [residual(view) for view in active]
        self.done += [view for view, value in zip(active, residuals, strict=True) if value <= self.tol]
        return {"residual": max(residuals), "objective": objective(self.views, lam2, beta), "mu": mu}

    def remaining(self) -> list[View]:
        """Return the views still in V, over which the printed result is summed; all views if none is left."""
        return [view for view in self.views if not any(view is other for other in self.done)] or self.views


def start(X: Dense, coupling: Coupling, rng: np.random.Generator) -> View:
    """Initialise a view: k-means indicators, and a fifth of the entries of E filled with uniform noise."""
    hit = rng.random(X.T.shape) < NOISE_SHARE
    noise = rng.uniform(-NOISE_RANGE, NOISE_RANGE, X.T.shape)
    return View(np.ascontiguousarray(X.T), harden(X, coupling), np.where(hit, noise, 0).astype(X.dtype))


def objective(views: Sequence[View], lam2: float, beta: float) -> float:
    """Sum over the views of |E|_1 + lam1 |W|_F^2 + lam2/2 Tr(U'LU) + beta/2 sum_j |U - U_j|_F^2."""
    total = 0.0
    for view in views:
        U = view.U
        total += np.abs(view.E).sum() + LAM1 * (view.W.data**2).sum() + lam2 / 2 * np.sum(U * (laplacian(view.W) @ U))
        total += beta / 2 * sum(np.sum((U - other.U) ** 2) for other in views if other is not view)
    return float(total)


def update_rows(view: View, others: Dense, lam2: float, beta: float, mu: float) -> Dense:
    """Row update of U as printed: U(l,.) = (T_l + beta sum_j U_j(l,.)) (R_l + D'D)^-1, all rows at once.

    R_l = (1 + mu + sum_k (lam2 L(k,l) - mu (X'X)(k,l))) I is a multiple of the identity, so all rows share the
    eigenvectors of D'D.
    """
    X, D = view.X, view.D
    T = X.T @ view.K3 + mu * (view.G - view.E.T @ D) - view.K2 - view.K1.T @ D
    column_sums_L = np.asarray(laplacian(view.W).sum(axis=0)).ravel()  # zero: a Laplacian's columns sum to 0
    column_sums_XtX = X.T @ X.sum(axis=1)
    R = 1 + mu + lam2 * column_sums_L - mu * column_sums_XtX
    b, P = np.linalg.eigh(D.T @ D)
    scale = R[:, None] + b
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=np.abs(scale) > 1e-12)
    return ((T + beta * others) @ P * inverse) @ P.T


def update_graph(U: Dense, lam2: float, s: int) -> sp.csr_array:
    """Row update of W as printed: ((1 + sum_{l<=s} m(l)) / s - m)_+ with m = lam2 |U_j - U_k|^2 / (4 lam1)."""
    distances, neighbors = nearest_neighbors(U, s)
    m = lam2 * distances**2 / (4 * LAM1)
    weights = np.maximum((1 + m.sum(axis=1, keepdims=True)) / m.shape[1] - m, 0)
    return symmetrize(from_neighbors(weights.astype(U.dtype), neighbors))


def positive_soft_threshold(A: Dense, t: float) -> Dense:
    """Soft-threshold with the printed sign, which is 1 for positive entries and 0 otherwise."""
    return np.where(A > 0, np.maximum(np.abs(A) - t, 0), 0).astype(A.dtype)


def residual(view: View) -> float:
    """|X - X U U' - E|_F / |X|_F, the printed stopping rule."""
    X, U = view.X, view.U
    return float(np.linalg.norm(X - (X @ U) @ U.T - view.E) / max(np.linalg.norm(X), np.finfo(X.dtype).tiny))
