r"""The default variant: recover each view, then find the partition that the graphs of the views agree on.

1. Each dense view is recovered (`recovery.py`): X = L + E + noise. Its samples are represented by the rows of
   R_i = U_i S_i^p, the basis scaled by a power of the singular values of X - E. Sparse views are cleaned entry by entry
   (`counts.py`), rare features weighted up, and their rows scaled to the same length. Samples that are absent from a
   view have no row in it.
2. With graph_weight lam2 > 0, the rows of dense views are smoothed along the joint graph (distances summed over the
   views), S its normalised adjacency: Z_i = argmin 1/2 |Z - R_i|^2 + lam2/2 Tr(Z'(I - S)Z). Off by default: see
   docs/method.md.
3. Graphs on the rows of each view, and the joint one (`layers.py`), are layers of one block model
   (`manyview.partition.blockmodel`); its partition is the result.
4. New samples are represented with the loadings of step 1, linked to the samples in every layer, and put where the
   block model finds their links likeliest (`extension.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from manyview.graphs.connection import connect
from manyview.graphs.laplacian import normalized_adjacency
from manyview.methods.ocbr.counts import CountCleaner
from manyview.methods.ocbr.layers import Layers, spread
from manyview.methods.ocbr.placing import LayerExtension
from manyview.methods.ocbr.recovery import Loadings, Recovery, orthogonal_iteration, singular_triplets
from manyview.methods.ocbr.solution import Defaults, Factors, Problem, Solution, run_problem
from manyview.numerics.loop import Outcome
from manyview.partition.blockmodel import BlockModel
from manyview.partition.spectral import normalized_cut, pivoted_kmeans, spectral_embedding, unit_length_rows
from manyview.preprocessing.scaling import to_unit_distance, unit_distance_factor, without_missing
from manyview.typing import Array, Dense, Indices, Labels
from manyview.views.presence import present_rows

DEFAULTS = Defaults(graph_weight=0.0, consensus_weight=0.0, n_neighbors=None, max_iter=200, tol=1e-3)
NEIGHBORS, SPARSE_NEIGHBORS = 10, 20  # samples of a sparse view share few features: more of them must vote
RANK = 60  # enough for the signal of every view tried
EXPONENT = 0.75  # p: between the distances of X - E itself (1) and those of the bare basis (0)
JOINT_WEIGHT = 1.5  # of the joint graph among the layers; a view's graph has 1
SILENT = 0.2  # of an equal share of the information: a view that tells less is noise
FEW_CLUSTERS = 3  # splits and merges need clusters to spare: with so few, every view's own cut is a start as well
SMOOTHING_STEPS = 15  # the error shrinks by lam2 / (1 + lam2) each


def fit(problem: Problem) -> Solution:
    """Recover, smooth if asked to, and partition."""
    recovered, completed, outcome = recover(problem)
    plain = make_layers(problem, recovered, completed)
    layers = smoothed(plain, problem) if problem.graph_weight > 0 else plain
    views = [layers.view_graph(v) for v in range(len(recovered))]
    found = partition(problem, layers, views)
    heard = np.flatnonzero(found.view_weights * len(views) >= SILENT)
    if len(heard) < len(views):
        # a view that tells nothing still blurs the distances that are summed over the views: sum without it
        plain, layers = (replace(each, joined=tuple(heard.tolist())) for each in (plain, layers))
        found = partition(problem, layers, views)
    n = layers.n_samples
    return Solution(
        [
            Factors(spread(view.U, view.samples, n), view.D, spread(view.E, view.samples, n), W)
            for view, W in zip(recovered, views, strict=True)
        ],
        found.affinity,
        found.view_weights,
        found.embedding,
        found.labels,
        outcome,
        extension(recovered, plain, found),
    )


def joint_graph(problem: Problem) -> sp.csr_array:
    """Return the joint graph of the recovered views, for a look at it before a partition."""
    recovered, completed, _ = recover(problem)
    return make_layers(problem, recovered, completed).joint_graph()


# Recovery --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recovered:
    """A view taken apart, for the samples that are in it: rows that represent them, basis, loadings, gross errors.

    `model` represents other samples of the view in the same way.
    """

    samples: Indices
    rows: Array
    U: Dense
    D: Dense
    E: sp.csr_array
    model: Loadings | CountCleaner


def recover(problem: Problem) -> tuple[list[Recovered], Recovered | None, Outcome]:
    """Recover all views in one loop: each dense one until its own residual is small; sparse ones need no loop.

    Where samples are absent from views, the dense views side by side are recovered as well: low rank in all of them
    completes what is not there. None else.
    """
    n = problem.tables[0].shape[0]
    r = problem.n_components or default_rank(n, problem.n_clusters)
    dense = [v for v, counts in enumerate(problem.counts) if not counts]
    samples = [np.flatnonzero(present_rows(X)) for X in problem.tables]
    tables = [X if len(here) == n else X[here] for X, here in zip(problem.tables, samples, strict=True)]
    states = {v: Recovery.start(tables[v], r, problem.noise_level, problem.sparsity) for v in dense}
    everyone = functools.reduce(np.union1d, (samples[v] for v in dense), np.empty(0, dtype=np.intp))
    whole = None
    if len(dense) > 1 and any(len(samples[v]) < len(everyone) for v in dense):
        beside = np.hstack([problem.tables[v][everyone] for v in dense])
        whole = Recovery.start(beside, r, problem.noise_level, problem.sparsity)

    def bases_of_others(v: int) -> list[Dense]:
        if problem.consensus_weight == 0:
            return []
        return [spread(states[w].U, samples[w], n)[samples[v]] for w in dense if w != v]

    def sweep(_iteration: int) -> dict[str, float]:
        for v, state in states.items():
            if state.residual > problem.tol:
                state.sweep(bases_of_others(v), problem.consensus_weight)
        if whole is not None and whole.residual > problem.tol:
            whole.sweep()
        active = [*states.values(), *([] if whole is None else [whole])]
        return {
            "residual": max((state.residual for state in active), default=0.0),
            "objective": sum(state.objective() for state in active),
            "mu": float(np.mean([1 / state.tau for state in active])) if active else 0.0,
        }

    outcome = run_problem(sweep, problem)
    views = [
        from_recovery(states[v], samples[v]) if v in states else from_counts(tables[v], samples[v], r)
        for v in range(len(tables))
    ]
    return views, None if whole is None else from_recovery(whole, everyone), outcome


def default_rank(n: int, c: int) -> int:
    """Return max(60, c), at most a third of the samples."""
    return max(2, min(max(RANK, c), n // 3))


def from_recovery(state: Recovery, samples: Indices) -> Recovered:
    """Represent samples by the singular vectors of X - E.

    The loadings are of those that survive the shrinkage, which tells signal from noise but makes it too small: they are
    as large as in X - E.
    """
    leniency = state.leniency()
    A = state.cleaned(leniency)
    U, s, P = singular_triplets(A, orthogonal_iteration(A, state.U))
    survives = s > state.tau * state.unit
    rows = U * s ** s.dtype.type(EXPONENT)
    model = Loadings.of(state, leniency, P * np.where(s > 0, s, 1) ** s.dtype.type(EXPONENT - 1))  # A P = U s
    return Recovered(samples, rows, U, P * (s * survives), sp.csr_array(state.gross_errors()), model)


def from_counts(X: Array, samples: Indices, r: int, steps: int = 8) -> Recovered:
    """Represent samples by the cleaned rows of a sparse view; its leading basis is only reported.

    A value that is missing is taken for 0: nothing was counted.
    """
    X = without_missing(X)
    counts = sp.csr_array(X)
    model = CountCleaner.fit(counts)
    A = model.clean(counts)
    U = np.random.default_rng(0).standard_normal((X.shape[0], min(r, *X.shape))).astype(X.dtype)
    for _ in range(steps):
        U = orthogonal_iteration(A, U)
    return Recovered(samples, model.represent(X), U, A.T @ U, sp.csr_array(counts - A), model)


# Graphs ----------------------------------------------------------------------------------------------


def make_layers(problem: Problem, recovered: Sequence[Recovered], completed: Recovered | None) -> Layers:
    """Bring the rows of all views to one scale, and say how many neighbours a sample has in each."""
    n = problem.tables[0].shape[0]
    return Layers(
        rows=tuple(to_unit_distance(view.rows) for view in recovered),
        samples=tuple(view.samples for view in recovered),
        n_samples=n,
        neighbors=tuple(neighbors(problem, counts) for counts in problem.counts),
        joined=tuple(range(len(recovered))),
        completed=None if completed is None else (completed.rows, completed.samples),
    )


def neighbors(problem: Problem, sparse: bool) -> int:
    """Neighbours of a sample: as asked for; else 10, or 20 in a sparse view, but at most a sixth of the samples."""
    if problem.n_neighbors is not None:
        return problem.n_neighbors
    return max(2, min(SPARSE_NEIGHBORS if sparse else NEIGHBORS, problem.tables[0].shape[0] // 6))


def smoothed(layers: Layers, problem: Problem) -> Layers:
    """Smooth the rows of dense views along the joint graph."""
    S = normalized_adjacency(layers.joint_graph())
    views = zip(layers.rows, layers.samples, problem.counts, strict=True)
    rows = [
        R if counts else to_unit_distance(smooth(S[here][:, here], R, problem.graph_weight))
        for R, here, counts in views
    ]
    return replace(layers, rows=tuple(rows))


def smooth(S: sp.csr_array, R: Dense, lam2: float) -> Dense:
    """Minimise 1/2 |Z - R|^2 + lam2/2 Tr(Z'(I - S)Z)."""
    Z = R
    for _ in range(SMOOTHING_STEPS):
        Z = (R + lam2 * (S @ Z)) / (1 + lam2)
    return Z.astype(R.dtype)


def all_graphs(layers: Layers, views: list[sp.csr_array]) -> list[sp.csr_array]:
    """Return the graphs of the views, and the joint one if there are several."""
    return [*views, layers.joint_graph()] if len(views) > 1 else views


# Partition -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Partition:
    """Labels, the graph they belong to and its embedding, weights of the views, and the block model of all layers."""

    labels: Labels
    embedding: Dense
    affinity: sp.csr_array
    view_weights: Dense
    model: BlockModel


def partition(problem: Problem, layers: Layers, views: list[sp.csr_array]) -> Partition:
    """Find the partition that the views' graphs and the joint graph agree on best, or cut one graph if asked to."""
    graphs = all_graphs(layers, views)
    model = BlockModel.of(graphs, [1.0] * len(views) + [JOINT_WEIGHT] * (len(graphs) - len(views)), problem.n_clusters)
    if problem.graph != "consensus" or problem.n_clusters == 1:
        return cut(problem, layers, views, graphs[-1], model)
    z = agreed_labels(problem, model, views, graphs[-1])
    information = model.information(z)
    W = weighted_sum(graphs, shares(information))
    _, embedding = spectral_embedding(W, problem.n_clusters, problem.degree_regularization)
    return Partition(z.astype(np.int32), embedding, W, shares(information[: len(views)]), model)


def agreed_labels(problem: Problem, model: BlockModel, views: list[sp.csr_array], joint: sp.csr_array) -> Labels:
    """Maximise the likelihood of the block model, from cuts of the joint graph and of that and the views' added."""
    c, tau = problem.n_clusters, problem.degree_regularization
    values, F = spectral_embedding(joint, c + min(c, 10), tau)
    others = [sp.csr_array(joint + weighted_sum(views, shares(np.ones(len(views)))))] if len(views) > 1 else []
    if c <= FEW_CLUSTERS:
        others += [W for W in views if W.nnz]
    embeddings = [F[:, :c], *(spectral_embedding(W, c, tau)[1] for W in others)]
    starts = [pivoted_kmeans(unit_length_rows(embedding), c) for embedding in embeddings]
    return model.fit(starts, F * np.maximum(values, 0))[0]


def cut(
    problem: Problem, layers: Layers, views: list[sp.csr_array], joint: sp.csr_array, model: BlockModel
) -> Partition:
    """Cut one graph: the joint one, the mean of the views', or both added."""
    equal = np.full(len(views), 1 / len(views))
    mean = weighted_sum(views, equal)
    W = {"joint": joint, "consensus": joint, "sum": mean, "blend": sp.csr_array(joint + mean)}[problem.graph]
    if sp.csgraph.connected_components(W, directed=False)[0] > problem.n_clusters:
        W = connect(W, layers.side_by_side())
    found = normalized_cut(
        W,
        problem.n_clusters,
        regularization=problem.degree_regularization,
        assign=problem.assign_labels,
        random_state=problem.seed,
    )
    return Partition(found.labels, found.embedding, W, equal, model)


def shares(values: Dense) -> Dense:
    """Scale to add up to 1; equal shares where all are 0."""
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))


def weighted_sum(graphs: Sequence[sp.csr_array], weights: Dense) -> sp.csr_array:
    """Add graphs, each times its weight, in their own precision."""
    return sp.csr_array(sum(W * W.dtype.type(w) for W, w in zip(graphs, weights, strict=True)))


# New samples -----------------------------------------------------------------------------------------


def extension(recovered: Sequence[Recovered], layers: Layers, found: Partition) -> LayerExtension:
    """Keep what it takes to place new samples."""
    return LayerExtension(
        models=tuple(view.model for view in recovered),
        scales=tuple(unit_distance_factor(view.rows) for view in recovered),
        layers=layers,
        layer_weights=shares(found.model.information(found.labels)),
        labels=found.labels,
        blocks=found.model.blocks(found.labels),
    )
