"""What the estimator hands to a variant of OCBR, and what it gets back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from manyview.methods.ocbr.placing import LayerExtension
from manyview.numerics.loop import Callback, Outcome, Sweep, run
from manyview.partition.spectral import normalized_cut
from manyview.preprocessing.scaling import unit_rows
from manyview.typing import Array, Dense, Labels

GRAPHS = ("consensus", "joint", "sum", "blend")


@dataclass(frozen=True)
class Defaults:
    """Values that a variant uses for the parameters left at None; None again where it depends on the data."""

    graph_weight: float
    consensus_weight: float
    n_neighbors: int | None
    max_iter: int
    tol: float


@dataclass(frozen=True)
class Problem:
    """The tables (n x d each; standardised, or `sparse` and as given) and the parameters, all filled in."""

    tables: list[Array]
    sparse: list[bool]
    n_clusters: int
    graph_weight: float
    consensus_weight: float
    n_neighbors: int | None
    n_components: int | None
    sparsity: float
    noise_level: float
    graph: str
    orthonormalize: str
    degree_regularization: float
    assign_labels: str
    max_iter: int
    tol: float
    seed: int
    callback: Callback | None

    @property
    def counts(self) -> list[bool]:
        """Whether each view is cleaned as counts: it is scaled as such, or a scipy sparse matrix that is not scaled."""
        return [sparse or sp.issparse(X) for sparse, X in zip(self.sparse, self.tables, strict=True)]

    @property
    def fixed_neighbors(self) -> int:
        """Neighbours per sample, for the variants in which they do not depend on the data."""
        assert self.n_neighbors is not None
        return self.n_neighbors


@dataclass(frozen=True)
class Factors:
    """One view as found, samples in rows: table = U D' + E + what is left over, and the view's graph W."""

    U: Dense
    D: Dense
    E: sp.csr_array
    W: sp.csr_array


@dataclass(frozen=True)
class Solution:
    """Factors of each view, the consensus graph with the weights of the views in it, and the partition.

    `extension` places new samples, for a variant with a way of its own to do that.
    """

    factors: list[Factors]
    affinity: sp.csr_array
    view_weights: Dense
    embedding: Dense
    labels: Labels
    outcome: Outcome
    extension: LayerExtension | None = None


def run_problem(sweep: Sweep, problem: Problem) -> Outcome:
    """Run the one loop with the problem's limits."""
    return run(sweep, max_iter=problem.max_iter, tol=problem.tol, name="OCBR", callback=problem.callback)


def dense_tables(problem: Problem) -> list[Dense]:
    """Return all tables dense, sparse ones with rows of unit length: the paper's E fills every entry of X anyway."""
    tables = [unit_rows(X) if sparse else X for X, sparse in zip(problem.tables, problem.sparse, strict=True)]
    return [X.toarray() if sp.issparse(X) else X for X in tables]


def cut_sum(factors: list[Factors], weights: list[float], problem: Problem, outcome: Outcome) -> Solution:
    """Cut the weighted sum of the views' graphs."""
    share = np.array(weights) / sum(weights)
    W = sp.csr_array(sum(w * view.W for w, view in zip(share, factors, strict=True)))
    cut = normalized_cut(
        W,
        problem.n_clusters,
        regularization=problem.degree_regularization,
        assign=problem.assign_labels,
        random_state=problem.seed,
    )
    return Solution(factors, W, share, cut.embedding, cut.labels, outcome)
