r"""The default variant: recover each view, then find the partition that the graphs of the views agree on.

1. Each dense view is recovered (`recovery.py`): X = L + E + noise. Its samples are represented by the rows of
   R_i = U_i S_i^p, the basis scaled by a power of the singular values of X - E. Sparse views are cleaned entry by entry
   (`counts.py`), rare features weighted up, and their rows scaled to the same length.
2. With graph_weight lam2 > 0, the rows of dense views are smoothed along the joint graph (distances summed over the
   views), S its normalised adjacency: Z_i = argmin 1/2 |Z - R_i|^2 + lam2/2 Tr(Z'(I - S)Z). Off by default: see
   docs/method.md.
3. Graphs on the rows of each view, and the joint one, are layers of one block model (`manyview.blockmodel`); its
   partition is the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.blockmodel import BlockModel
from manyview.graph import adaptive_graph, connect, normalized_adjacency
from manyview.methods.ocbr.counts import clean_counts, weigh_by_rarity
from manyview.methods.ocbr.recovery import Recovery, orthogonal_iteration, singular_triplets
from manyview.methods.ocbr.solution import Defaults, Factors, Problem, Solution, run_problem
from manyview.optimize import Outcome
from manyview.scaling import side_by_side, unit_rows
from manyview.spectral import normalized_cut, pivoted_kmeans, spectral_embedding, unit_length_rows
from manyview.views import Array

Dense = NDArray[np.floating[Any]]

DEFAULTS = Defaults(graph_weight=0.0, consensus_weight=0.0, n_neighbors=None, max_iter=200, tol=1e-3)
NEIGHBORS, SPARSE_NEIGHBORS = 10, 20  # samples of a sparse view share few features: more of them must vote
RANK = 60  # enough for the signal of every view tried
EXPONENT = 0.75  # p: between the distances of X - E itself (1) and those of the bare basis (0)
JOINT_WEIGHT = 1.5  # of the joint graph among the layers; a view's graph has 1
SILENT = 0.2  # of an equal share of the information: a view that tells less is noise
FEW_CLUSTERS = 3  # splits and merges need clusters to spare: with so few, every view's own cut is a start as well
SMOOTHING_STEPS = 15  # the error shrinks by lam2 / (1 + lam2) each


@dataclass(frozen=True)
class Recovered:
    """A view taken apart: the rows that represent the samples, the basis, its loadings, the gross errors."""

    rows: Array
    U: Dense
    D: Dense
    E: sp.csr_array


def fit(problem: Problem) -> Solution:
    """Recover, smooth if asked to, and partition."""
    recovered, outcome = recover(problem)
    rows = [to_unit_distance(view.rows) for view in recovered]
    sizes = [neighbors(problem, counts) for counts in problem.counts]
    if problem.graph_weight > 0:
        S = normalized_adjacency(adaptive_graph(side_by_side(rows), max(sizes)))
        rows = [
            R if counts else to_unit_distance(smooth(S, R, problem.graph_weight))
            for R, counts in zip(rows, problem.counts, strict=True)
        ]
    graphs = [view_graph(R, s) for R, s in zip(rows, sizes, strict=True)]
    factors = [Factors(view.U, view.D, view.E, W) for view, W in zip(recovered, graphs, strict=True)]
    joint = view_graph(side_by_side(rows), max(sizes)) if len(rows) > 1 else graphs[0]
    if problem.graph != "consensus" or problem.n_clusters == 1:
        return cut(problem, factors, joint, side_by_side(rows), outcome)
    solution = partition(problem, factors, joint, outcome)
    heard = solution.view_weights * len(rows) >= SILENT
    if heard.all():
        return solution
    # a view that tells nothing still blurs the distances that are summed over the views: sum without it
    joint = view_graph(side_by_side([R for R, ok in zip(rows, heard, strict=True) if ok]), max(sizes))
    return partition(problem, factors, joint, outcome)


# Recovery --------------------------------------------------------------------------------------------


def recover(problem: Problem) -> tuple[list[Recovered], Outcome]:
    """Recover all views in one loop: each dense one until its own residual is small; sparse ones need no loop."""
    r = problem.n_components or default_rank(problem.tables[0].shape[0], problem.n_clusters)
    states = [
        None if counts else Recovery.start(X, r, problem.noise_level, problem.sparsity)
        for X, counts in zip(problem.tables, problem.counts, strict=True)
    ]
    dense = [state for state in states if state is not None]

    def sweep(_iteration: int) -> dict[str, float]:
        for state in dense:
            if state.residual > problem.tol:
                state.sweep([other.U for other in dense if other is not state], problem.consensus_weight)
        return {
            "residual": max((state.residual for state in dense), default=0.0),
            "objective": sum(state.objective() for state in dense),
            "mu": float(np.mean([1 / state.tau for state in dense])) if dense else 0.0,
        }

    outcome = run_problem(sweep, problem)
    pairs = zip(problem.tables, states, strict=True)
    return [from_counts(X, r) if state is None else from_recovery(state) for X, state in pairs], outcome


def default_rank(n: int, c: int) -> int:
    """Return max(60, c), at most a third of the samples."""
    return max(2, min(max(RANK, c), n // 3))


def from_recovery(state: Recovery) -> Recovered:
    """Represent samples by the singular vectors of X - E; the loadings are shrunk as L is."""
    A = state.cleaned()
    U, s, P = singular_triplets(A, orthogonal_iteration(A, state.U))
    shrunk = np.maximum(s - s.dtype.type(state.tau * state.unit), 0)
    return Recovered(U * s ** s.dtype.type(EXPONENT), U, P * shrunk, sp.csr_array(state.gross_errors()))


def from_counts(X: Array, r: int, steps: int = 8) -> Recovered:
    """Represent samples by the cleaned rows of a sparse view; its leading basis is only reported.

    Rows are stored as X is: products of dense tables are quicker, but sparse ones may not fit into memory as dense.
    """
    given_dense = not sp.issparse(X)
    X = sp.csr_array(X)
    A = clean_counts(X)
    rows = unit_rows(weigh_by_rarity(A))
    U = np.random.default_rng(0).standard_normal((X.shape[0], min(r, *X.shape))).astype(X.dtype)
    for _ in range(steps):
        U = orthogonal_iteration(A, U)
    return Recovered(rows.toarray() if given_dense else rows, U, A.T @ U, sp.csr_array(X - A))


# Graphs ----------------------------------------------------------------------------------------------


def neighbors(problem: Problem, sparse: bool) -> int:
    """Neighbours of a sample: as asked for; else 10, or 20 in a sparse view, but at most a sixth of the samples."""
    if problem.n_neighbors is not None:
        return problem.n_neighbors
    return max(2, min(SPARSE_NEIGHBORS if sparse else NEIGHBORS, problem.tables[0].shape[0] // 6))


def to_unit_distance(X: Array) -> Array:
    """Scale so that the mean squared distance between samples is 1, hence the same in every view."""
    squares = X.multiply(X).sum() if sp.issparse(X) else np.vdot(X, X)
    mean = np.asarray(X.mean(axis=0)).ravel()
    variance = float(squares) / X.shape[0] - float(mean @ mean)
    return X * X.dtype.type(1 / np.sqrt(2 * variance)) if variance > 1e-12 * float(squares) / X.shape[0] else X * 0


def smooth(S: sp.csr_array, R: Dense, lam2: float) -> Dense:
    """Minimise 1/2 |Z - R|^2 + lam2/2 Tr(Z'(I - S)Z)."""
    Z = R
    for _ in range(SMOOTHING_STEPS):
        Z = (R + lam2 * (S @ Z)) / (1 + lam2)
    return Z.astype(R.dtype)


def view_graph(R: Array, s: int) -> sp.csr_array:
    """Adaptive neighbours within a view; a view in which all samples are alike has no links."""
    n = R.shape[0]
    return adaptive_graph(R, s) if abs(R).max() > 0 else sp.csr_array((n, n), dtype=R.dtype)


# Partition -------------------------------------------------------------------------------------------


def partition(problem: Problem, factors: list[Factors], joint: sp.csr_array, outcome: Outcome) -> Solution:
    """Find the partition that the views' graphs and the joint graph agree on best."""
    c = problem.n_clusters
    graphs = [view.W for view in factors]
    layers = [*graphs, joint] if len(graphs) > 1 else graphs
    model = BlockModel.of(layers, [1.0] * len(graphs) + [JOINT_WEIGHT] * (len(layers) - len(graphs)), c)
    tau = problem.degree_regularization
    values, F = spectral_embedding(joint, c + min(c, 10), tau)
    others = [sp.csr_array(joint + weighted_sum(graphs, shares(np.ones(len(graphs)))))] if len(graphs) > 1 else []
    if c <= FEW_CLUSTERS:
        others += [W for W in graphs if W.nnz]
    embeddings = [F[:, :c], *(spectral_embedding(W, c, tau)[1] for W in others)]
    starts = [pivoted_kmeans(unit_length_rows(embedding), c) for embedding in embeddings]
    z, _ = model.fit(starts, F * np.maximum(values, 0))
    information = model.information(z)
    W = weighted_sum(layers, shares(information))
    _, embedding = spectral_embedding(W, c, tau)
    return Solution(factors, W, shares(information[: len(graphs)]), embedding, z.astype(np.int32), outcome)


def cut(problem: Problem, factors: list[Factors], joint: sp.csr_array, rows: Array, outcome: Outcome) -> Solution:
    """Cut one graph: the joint one, the mean of the views', or both added."""
    equal = np.full(len(factors), 1 / len(factors))
    mean = weighted_sum([view.W for view in factors], equal)
    W = {"joint": joint, "consensus": joint, "sum": mean, "blend": sp.csr_array(joint + mean)}[problem.graph]
    if sp.csgraph.connected_components(W, directed=False)[0] > problem.n_clusters:
        W = connect(W, rows)
    found = normalized_cut(
        W,
        problem.n_clusters,
        regularization=problem.degree_regularization,
        assign=problem.assign_labels,
        random_state=problem.seed,
    )
    return Solution(factors, W, equal, found.embedding, found.labels, outcome)


def shares(values: Dense) -> Dense:
    """Scale to add up to 1; equal shares where all are 0."""
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))


def weighted_sum(graphs: Sequence[sp.csr_array], weights: Dense) -> sp.csr_array:
    """Add graphs, each times its weight, in their own precision."""
    return sp.csr_array(sum(W * W.dtype.type(w) for W, w in zip(graphs, weights, strict=True)))
