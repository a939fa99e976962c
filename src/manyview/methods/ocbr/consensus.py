"""From recovered views to clusters: the partition that the graphs of the views agree on.

The graphs of the views and the joint graph (`layers.py`) are partitioned by the labels that neighbours share in them
(`manyview.partition.agreement`). The block model of the same layers, given that partition, measures how informative
each layer is, and places new samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from manyview.graphs.connection import connect
from manyview.graphs.laplacian import symmetrize
from manyview.methods.ocbr.layers import Layers
from manyview.methods.ocbr.settings import Settings
from manyview.methods.ocbr.treated import TreatedViews
from manyview.numerics.division import shares
from manyview.partition.agreement import Agreement, ViewGraphs
from manyview.partition.blockmodel import BlockModel, Search
from manyview.partition.difference import describe_difference
from manyview.partition.redundancy import Redundancy
from manyview.partition.search import Candidate, find_agreement
from manyview.partition.spectral import normalized_cut, number_by_size, spectral_embedding
from manyview.typing import Dense, Graph, Indices, Labels, Seed

GRAPHS = ("consensus", "joint", "sum", "blend")


@dataclass(frozen=True)
class PartitionOptions:
    """The user's parameters for the partition, and the constants."""

    n_clusters: int
    graph: str
    degree_regularization: float
    random_state: Seed
    settings: Settings


@dataclass(frozen=True)
class Partition:
    """Labels, the graph they belong to and its embedding, weights of the views, and the models of all layers."""

    labels: Labels
    embedding: Dense
    affinity: Graph
    view_weights: Dense
    model: BlockModel
    agreement: Agreement
    search: Search | None = None
    alternatives: list[Candidate] = field(default_factory=list)


def make_layers(
    treated: TreatedViews, n_neighbors: int | None, settings: Settings, batch: Indices | None = None
) -> Layers:
    """Put the rows of all views on one scale, and set how many neighbours a sample has in each.

    The number of neighbours is as requested, otherwise 10, or 20 in a sparse view, but at most a sixth of the samples.
    """
    n = treated.n_samples
    usual = (settings.sparse_neighbors if view.kind.is_sparse else settings.neighbors for view in treated.views)
    neighbors = tuple(n_neighbors if n_neighbors is not None else max(2, min(k, n // 6)) for k in usual)
    return Layers(
        rows=tuple(view.rows for view in treated.views),
        samples=tuple(view.samples for view in treated.views),
        n_samples=n,
        neighbors=neighbors,
        joined=tuple(range(len(treated.views))),
        weights=(1.0,) * len(treated.views),
        completed=treated.completed,
        given=tuple(None if view.graph is None else symmetrize(view.graph) for view in treated.views),
        batch=batch,
    )


def find_partition(layers: Layers, views: list[Graph], options: PartitionOptions) -> tuple[Layers, Partition]:
    """Partition the graphs of the views and the joint graph; also return the layers that were used.

    Views that repeat others count less, also in the distances summed over the views. Views without information would
    blur these distances, and take weight from those that agree, so the search is done again without them.
    """
    redundancy = Redundancy.of(views)
    layers = layers.weighted(redundancy.weights)
    found = partition(layers, views, redundancy, options)
    heard = np.flatnonzero(found.view_weights >= options.settings.silent * shares(redundancy.weights))
    if len(heard) == len(views):
        return layers, found
    layers = replace(layers, joined=tuple(heard.tolist()))
    return layers, partition(layers, views, redundancy.only(heard), options)


def partition(layers: Layers, views: list[Graph], redundancy: Redundancy, options: PartitionOptions) -> Partition:
    """Find the partition that the views' graphs and the joint graph agree on best, or cut one graph if requested."""
    graphs = [*views, layers.joint_graph()] if len(views) > 1 else views
    settings = options.settings
    weights = [*redundancy.weights, *[settings.joint_weight] * (len(graphs) - len(views))]
    compared = ViewGraphs(tuple(views), graphs[-1] if len(views) > 1 else None, redundancy)
    if options.graph != "consensus" or options.n_clusters == 1:
        model = BlockModel.of(graphs, weights, options.n_clusters, settings.search)
        agreement = Agreement.of_views(compared, options.n_clusters, settings.search)
        return cut(layers, views, graphs[-1], model, agreement, options)
    search_settings = replace(settings.search, degree_regularization=options.degree_regularization)
    found = find_agreement(compared, options.n_clusters, search_settings)
    z = number_by_size(found.best.labels)
    model = BlockModel.of(graphs, weights, options.n_clusters, settings.search)
    W = weighted_sum(graphs, shares(model.information(z)))
    _, embedding = spectral_embedding(W, options.n_clusters, options.degree_regularization, near=z)
    alternatives = [described(other, z) for other in found.alternatives]
    agreement = Agreement.of_views(compared, options.n_clusters, search_settings)
    return Partition(z, embedding, W, found.view_weights, model, agreement, found.search, alternatives)


def described(other: Candidate, z: Labels) -> Candidate:
    """Return another candidate with its clusters numbered by size, and how it differs from the partition z."""
    labels = number_by_size(other.labels)
    return replace(other, labels=labels, difference=describe_difference(z, labels))


def cut(
    layers: Layers,
    views: list[Graph],
    joint: Graph,
    model: BlockModel,
    agreement: Agreement,
    options: PartitionOptions,
) -> Partition:
    """Cut one graph: the joint graph, the mean of the view graphs, or the sum of both."""
    equal = np.full(len(views), 1 / len(views))
    mean = weighted_sum(views, equal)
    W = {"joint": joint, "consensus": joint, "sum": mean, "blend": sp.csr_array(joint + mean)}[options.graph]
    if sp.csgraph.connected_components(W)[0] > options.n_clusters:
        W = connect(W, layers.side_by_side())
    found = normalized_cut(
        W,
        options.n_clusters,
        degree_regularization=options.degree_regularization,
        random_state=options.random_state,
    )
    return Partition(found.labels, found.embedding, W, equal, model, agreement)


def weighted_sum(graphs: Sequence[Graph], weights: Dense) -> Graph:
    """Add graphs, each times its weight, in their own precision."""
    return sp.csr_array(sum(W * W.dtype.type(w) for W, w in zip(graphs, weights, strict=True)))
