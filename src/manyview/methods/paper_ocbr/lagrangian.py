"""What Algorithm 1 and its correction share: the variables of a view, and the two steps printed correctly."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from manyview.partition.spectral import kmeans_labels
from manyview.typing import Dense


@dataclass(frozen=True)
class Coupling:
    """The paper's parameters: clusters c, weights lambda_2 and beta, neighbours s; and the seed of k-means."""

    c: int
    lam2: float
    beta: float
    s: int
    seed: int


@dataclass
class View:
    """Variables of one view. X: d x n; U, G, K2: n x c; D, K3: d x c; E, K1: d x n; W: n x n.

    X has been divided by `scale`.
    """

    X: Dense
    U: Dense
    E: Dense
    scale: float = 1.0
    D: Dense = field(init=False)
    G: Dense = field(init=False)
    K1: Dense = field(init=False)
    K2: Dense = field(init=False)
    K3: Dense = field(init=False)
    W: sp.csr_array = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.U)
        self.D = self.X @ self.U
        self.G, self.K2 = np.zeros_like(self.U), np.zeros_like(self.U)
        self.K1, self.K3 = np.zeros_like(self.X), np.zeros_like(self.D)
        self.W = sp.csr_array((n, n), dtype=self.X.dtype)


def update_D(view: View, mu: float) -> Dense:
    """D = (K1 U - K3 + mu (2X - E) U) (I + U'U)^-1 / mu."""
    c = view.U.shape[1]
    right = view.K1 @ view.U - view.K3 + mu * (2 * view.X - view.E) @ view.U
    return np.linalg.solve(np.eye(c, dtype=right.dtype) + view.U.T @ view.U, right.T).T / mu


def harden(rows: Dense, coupling: Coupling) -> Dense:
    """Orthonormalise by k-means on the rows: U(j, k) = 1/sqrt(|C_k|) if sample j falls into cluster k."""
    c = coupling.c
    labels = kmeans_labels(rows, c, coupling.seed)
    return (np.eye(c) / np.sqrt(np.bincount(labels, minlength=c)))[labels].astype(rows.dtype)
