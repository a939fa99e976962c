"""The search for the partition that the graphs of several views agree on.

J (`agreement`) has many optima. The price of labels decides which of them are found: without it, large groups are cut
in two instead of small ones being kept separate; with a high price, weak groups are merged. So J is maximised at
several prices, and each optimum is regrouped as well (`regrouping`). All of these are candidates. The one with the
highest J, without a price, is chosen, unless the two nearest clusters of another are much farther apart and its J is
nearly as high. That separation does not depend on the sizes of clusters; it is low if a group was cut in two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from manyview.numerics.division import or_one, shares, unit_length_rows
from manyview.numerics.rows import ascending
from manyview.partition.agreement import Agreement, Memory, ViewGraphs, mean_graph, total_one
from manyview.partition.blockmodel import Search, SearchSettings
from manyview.partition.information import label_entropy
from manyview.partition.regrouping import regroup
from manyview.partition.spectral import pivoted_kmeans, spectral_embedding
from manyview.records import saved
from manyview.typing import Dense, Graph, Indices, Labels

MORE_DIRECTIONS = 10  # directions of the embedding beyond one per cluster, along which clusters may be split
SAME_PARTITION = 0.99  # adjusted Rand index from which two partitions count as one
MOST_ALTERNATIVES = 3


@saved
@dataclass(frozen=True)
class Candidate:
    """A partition of nearly the best quality.

    Attributes
    ----------
    labels : (n,)
    separation : how far apart its two nearest clusters are, from 0 to 1, whatever their sizes
    objective : its J without a price of labels
    price : the price of labels it was found with, in units of gamma I / H; a higher price keeps smaller clusters
    difference : how it differs from the chosen partition, in a sentence
    """

    labels: Labels
    separation: float
    objective: float
    price: float
    difference: str = ""

    def back_in(self, order: Indices) -> Candidate:
        """Return a copy with the samples back in the order they had before this one."""
        labels = np.empty_like(self.labels)
        labels[order] = self.labels
        return replace(self, labels=labels)


@dataclass(frozen=True)
class Optimum:
    """A partition that no single move improves, the price of labels it was found at, and how it was found."""

    labels: Labels
    price: float
    search: Search


@dataclass(frozen=True)
class Found:
    """The partition, how it was found, other candidates if they differ, and the share of each view in it."""

    best: Candidate
    search: Search
    alternatives: list[Candidate]
    view_weights: Dense


def find_agreement(layers: ViewGraphs, n_clusters: int, settings: SearchSettings) -> Found:
    """Return the best candidate, and up to three others.

    All but a first cut runs on samples sorted by that cut: neighbours are then close to each other in memory, which
    makes products with large graphs several times faster.
    """
    first = Start.of(total_one(layers.joint_or_only), n_clusters, settings)
    order = ascending(first.labels)
    layers = layers.in_order(order)
    starts, F = start_partitions(layers, n_clusters, settings, first[order])
    model, n_views = replace(Agreement.of_views(layers, n_clusters, settings), memory=Memory()), len(layers.views)
    del layers  # the model has copies in double precision
    optima = search_optima(model, starts, F)
    candidates = [score(model, optimum) for optimum in optima]
    best = choose(candidates, settings)
    ranked = sorted(range(len(optima)), key=lambda i: (i != best, -candidates[i].objective))
    chosen, *others = different([candidates[i] for i in ranked])
    return Found(
        chosen.back_in(order),
        without_price(optima[best].search, chosen, others),
        [other.back_in(order) for other in others[:MOST_ALTERNATIVES]],
        model.view_weights(chosen.labels, n_views),
    )


def without_price(search: Search, chosen: Candidate, others: Sequence[Candidate]) -> Search:
    """Return the record of a search with J as candidates are compared by it, whatever price each was found at."""
    second = others[0] if others else None
    return replace(
        search,
        objective=chosen.objective,
        runner_up=-np.inf if second is None else second.objective,
        agreement=1.0 if second is None else float(adjusted_rand_score(second.labels, chosen.labels)),
    )


def score(model: Agreement, optimum: Optimum) -> Candidate:
    """Return an optimum with its J and the separation of its nearest clusters."""
    z = optimum.labels
    return Candidate(z, model.nearest_clusters(z)[0], model.evaluate(z)[0], optimum.price)


def choose(candidates: Sequence[Candidate], settings: SearchSettings) -> int:
    """Return which candidate to choose: that of highest J, or one whose nearest clusters are much farther apart.

    Candidates are compared in order of falling J, each with the best one so far.
    """
    first, *rest = sorted(range(len(candidates)), key=lambda i: -candidates[i].objective)
    highest = candidates[first].objective
    least = highest - (1 - settings.least_information) * abs(highest)
    best = first
    for i in rest:
        needed = settings.farther * max(candidates[best].separation, 0.0)
        if candidates[i].objective >= least and candidates[i].separation > needed:
            best = i
    return best


def different(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the first candidate, and those that differ from all earlier ones by more than a few moved samples."""
    kept: list[Candidate] = []
    for one in candidates:
        if all(adjusted_rand_score(one.labels, other.labels) < SAME_PARTITION for other in kept):
            kept.append(one)
    return kept


def search_optima(model: Agreement, starts: Sequence[Labels], F: Dense) -> list[Optimum]:
    """Maximise J without a price of labels, then at each price, in units of gamma I / H of the first; regroup each.

    The prices of the settings are tried in turn, the highest first: it escapes poor optima that halve a large group.
    """
    settings, halves = model.settings, dict[bytes, Labels]()
    z, search = model.fit(starts, F, halves)
    rate = max(search.objective, 0.0) / or_one(label_entropy(z))
    optima = [Optimum(z, 0.0, search)]
    for price in settings.prices:
        priced = replace(model, settings=replace(settings, label_cost=price * settings.label_price * rate))
        z, search = priced.fit([*starts, z], F, halves)
        optima.append(Optimum(z, price, search))
    optima += [new for optimum in without_repeats(optima) if (new := regrouped(model, optimum, F)) is not None]
    starts_tried, sweeps = (sum(getattr(one.search, part) for one in optima) for part in ("starts", "sweeps"))
    return [replace(one, search=replace(one.search, starts=starts_tried, sweeps=sweeps)) for one in optima]


def without_repeats(optima: Sequence[Optimum]) -> list[Optimum]:
    """Return the optima whose labels differ from those of all earlier ones."""
    first = {one.labels.tobytes(): one for one in reversed(optima)}
    return [one for one in optima if first[one.labels.tobytes()] is one]


def regrouped(model: Agreement, optimum: Optimum, F: Dense) -> Optimum | None:
    """Return what regrouping the clusters of an optimum leads to."""
    found = regroup(model, optimum.labels, F) if model.n_clusters > 1 else None
    if found is None:
        return None
    search = Search(
        objective=found.objective,
        starts=1,
        sweeps=found.sweeps,
        converged=found.converged,
        runner_up=optimum.search.objective,
        agreement=float(adjusted_rand_score(found.labels, optimum.labels)),
    )
    return Optimum(found.labels, optimum.price, search)


@dataclass(frozen=True)
class Start:
    """A cut of one graph that the search starts from: its embedding (n x c) and labels."""

    embedding: Dense
    labels: Labels

    @classmethod
    def of(cls, W: Graph, n_clusters: int, settings: SearchSettings) -> Start:
        """Cut a graph."""
        _, E = spectral_embedding(W, n_clusters, settings.degree_regularization)
        return cls(E, pivoted_kmeans(unit_length_rows(E), n_clusters))

    def __getitem__(self, order: Indices) -> Start:
        return Start(self.embedding[order], self.labels[order])


def start_partitions(
    layers: ViewGraphs, n_clusters: int, settings: SearchSettings, joint: Start
) -> tuple[list[Labels], Dense]:
    """Return cuts of the summed view graphs, of the joint graph and of both, and an embedding that proposes splits.

    `joint` is the cut of the joint graph, or of the only view.
    """
    c = n_clusters
    total = mean_graph(layers.views, shares(layers.redundancy.weights))
    values, F = spectral_embedding(
        sp.csr_array((total + total_one(layers.joint_or_only)) / 2),
        c + min(c, MORE_DIRECTIONS),
        settings.degree_regularization,
    )
    added = joint if layers.joint is None else Start.of(total, c, settings)
    few = layers.views if c <= settings.few_clusters else ()
    starts = [
        pivoted_kmeans(unit_length_rows(F[:, :c]), c),
        added.labels,
        joint.labels,
        pivoted_kmeans(added.embedding, c),
        *(Start.of(W, c, settings).labels for W in few if W.nnz),
    ]
    return starts, F * np.maximum(values, 0)
