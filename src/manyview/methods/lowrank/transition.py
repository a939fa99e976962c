r"""The low-rank and sparse decomposition of transition matrices (Xia, Pan, Du and Yin, AAAI 2014).

.. math:: \min_{P, E_v} |P|_* + \lambda \sum_v |E_v|_1 \quad \text{s.t.} \quad P_v = P + E_v,\ P \ge 0,\ P 1 = 1,

by the method of multipliers with the copy J = P: P (a projection) is one block and (J, E_1, ..., E_V) the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from manyview.graphs.laplacian import degrees
from manyview.methods.lowrank.selfexpression import RELAXATION, nuclear_norm
from manyview.numerics.projections import project_simplex
from manyview.numerics.proximal import partial_singular_value_threshold, soft_threshold
from manyview.typing import Dense

MU = 10.0  # penalty of P = J: singular values of transition matrices are at most of order 1


@dataclass
class State:
    """P, its low-rank copy J, the E_v (all n x n), and the multipliers of P = J and of P_v = P + E_v."""

    P: Dense
    J: Dense
    E: list[Dense]
    K: Dense
    K_v: list[Dense]
    basis: Dense | None = None  # right singular vectors of J, where the next partial SVD starts


def objective(P: Dense, E: Sequence[Dense], lam: float) -> float:
    """Nuclear norm of P and lam times the sum of all |E_v|."""
    return nuclear_norm(P) + lam * sum(float(np.abs(Ev).sum()) for Ev in E)


def transition_matrix(W: sp.csr_array) -> Dense:
    """Return ``D^-1 K``, dense; a sample without neighbours stays where it is."""
    d = degrees(W)
    K = W.toarray()
    K[d == 0, d == 0] = 1
    return K / K.sum(axis=1, keepdims=True)


def initial_state(P_v: Sequence[Dense]) -> State:
    """Start from no noise and no structure: all zero."""
    zero = np.zeros_like(P_v[0])
    return State(zero, zero, [zero] * len(P_v), zero, [zero] * len(P_v))


def penalty(lam: float, n: int) -> float:
    """Penalty of P_v = P + E_v; the mean entry of a transition matrix is 1/n."""
    return lam * n


def update_P(state: State, P_v: Sequence[Dense], mu: float, mu_fit: float) -> Dense:
    r"""Project ``(mu J - K + sum_v (mu_fit (P_v - E_v) + K_v)) / (mu + V mu_fit)`` onto the simplex, row by row."""
    right = mu * state.J - state.K
    for Pv, Ev, Kv in zip(P_v, state.E, state.K_v, strict=True):
        right += mu_fit * (Pv - Ev) + Kv
    return project_simplex(right / right.dtype.type(mu + len(P_v) * mu_fit))


def update_E(Pv: Dense, P: Dense, Kv: Dense, lam: float, mu_fit: float) -> Dense:
    """``argmin lam |E|_1 + mu_fit/2 |P_v - P - E + K_v/mu_fit|^2``: shrink."""
    return soft_threshold(Pv - P + Kv / mu_fit, lam / mu_fit)


def sweep(P_v: Sequence[Dense], state: State, lam: float) -> dict[str, float]:
    """Update P, then J and the E_v, then the multipliers; return the relative gaps and the relative change."""
    a, mu, mu_fit = RELAXATION, MU, penalty(lam, len(P_v[0]))
    state.P = P = update_P(state, P_v, mu, mu_fit)
    size = float(np.linalg.norm(P))
    gaps = {"fit_gap": 0.0}
    for v, Pv in enumerate(P_v):
        relaxed = a * P + (1 - a) * (Pv - state.E[v])
        state.E[v] = update_E(Pv, relaxed, state.K_v[v], lam, mu_fit)
        state.K_v[v] = state.K_v[v] + mu_fit * (Pv - relaxed - state.E[v])
        gap = float(np.linalg.norm(Pv - P - state.E[v]) / np.linalg.norm(Pv))
        gaps["fit_gap"] = max(gaps["fit_gap"], gap)
    J, relaxed = state.J, a * P + (1 - a) * state.J
    state.J, state.basis = partial_singular_value_threshold(relaxed + state.K / mu, 1 / mu, state.basis)
    state.K = state.K + mu * (relaxed - state.J)
    gaps["rank_gap"] = float(np.linalg.norm(P - state.J)) / size
    gaps["change"] = float(np.linalg.norm(state.J - J)) / size
    return {"residual": max(gaps.values()), **gaps}


def stationary_distribution(P: Dense, max_iter: int = 1000) -> Dense:
    """Return where the walk spends its time, started uniformly (so it is also defined if the graph is disconnected)."""
    pi = np.full(len(P), 1 / len(P))
    for _ in range(max_iter):
        last, pi = pi, (pi + pi @ P) / 2  # a lazy step prevents oscillation
        if np.abs(pi - last).sum() < 1e-10:
            break
    return pi / pi.sum()


def symmetric_flow(P: Dense) -> Dense:
    """Return ``(Pi P + P' Pi) / 2``: how often the stationary walk goes between two samples."""
    F = (stationary_distribution(P)[:, None] * P).astype(P.dtype)
    return (F + F.T) / 2
