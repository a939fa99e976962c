r"""One partition of several neighbour graphs, by what the neighbours of a sample say to one another.

W_v (v = 1 .. V) are the graphs of the views, W_0 the joint one, P_v the random walks on them. A partition Z (n x c)
gives block matrices (c x c, their entries add up to 1):

- own, :math:`M_v = Z'W_vZ / \sum W_v`: the labels at the two ends of an edge of graph v;
- crossed, :math:`M_{ab} = (P_aZ)'(P_bZ)/n`, symmetrised: the label of a neighbour of a sample in view a, and of one in
  view b.

Own ones are taken at two steps between the blocks, with a = M 1,

.. math:: M^{(2)} = M\, \mathrm{diag}(a)^{-1} M ,

which is convex in how well clusters are separated: a share p of edges that leave one of two equal clusters counts as
2p(1 - p). Halves of a structureless group (p about .2) keep a third of their information, clusters that one view
separates well (p about .02) nearly all. Crossed ones are two steps as they are. Halves along the geometry of one view
have no crossed information; clusters that one view alone tells apart have none either, which is why both kinds are
needed. Maximised is

.. math:: J = \tfrac13 \mathrm{mean}_v I(M_v^{(2)}) + \tfrac13 I(M_0^{(2)}) + \tfrac13 \mathrm{mean}_{a<b} I(M_{ab})
          - \pi H(\text{cluster sizes}), \qquad \pi = \gamma I / H ,

I(M) as in `blockmodel`, I / H that of the best partition for pi = 0, so that gamma has no scale. Splitting a large
group down its middle no longer pays, whatever the sizes of the others.

The price keeps small clusters where they are real, and merges weak ones where they are not. So both optima are kept,
with the price and without, and the one is taken whose two nearest clusters are farther apart (`nearest_clusters`, which
does not depend on sizes); the other is an alternative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.numerics.division import inverse_or_zero, shares, unit_length_rows
from manyview.partition.blockmodel import (
    TINY,
    BlockModel,
    Search,
    SearchSettings,
    links_to_clusters,
    sum_by_cluster,
    xlogx,
)
from manyview.partition.spectral import pivoted_kmeans, spectral_embedding
from manyview.records import saved
from manyview.typing import Dense, Graph, Labels

SMALLEST_SHARE = 1e-12  # of an empty cluster: its square must not underflow
MORE_DIRECTIONS = 10  # of the embedding, beyond one per cluster: along them a cluster may be split


@dataclass(frozen=True)
class Agreement(BlockModel):
    """The moves of the block model on J above; `graphs` are the own layers, `walks` the (P_v, P_v') of the views.

    An evaluation takes time O(nnz + V^2 n c^2) and memory O(nnz + V n c).
    """

    walks: tuple[tuple[sp.csr_array, sp.csr_array], ...] = ()

    @classmethod
    def of_views(
        cls, views: Sequence[Graph], joint: Graph | None, n_clusters: int, settings: SearchSettings
    ) -> Agreement:
        """Give a third of the weight to each kind of layer; a single view has only its own."""
        free = replace(settings, label_cost=0.0)
        own = [total_one(W) for W in views]
        if joint is None or len(own) == 1:
            return cls(tuple(own), (1 / len(own),) * len(own), n_clusters, free)
        walks = tuple((P, sp.csr_array(P.T)) for P in map(random_walk, own))
        weights = (1 / (3 * len(own)),) * len(own) + (1 / 3,)
        return cls((*own, total_one(joint)), weights, n_clusters, free, walks)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of views a > b."""
        return [(a, b) for a in range(len(self.walks)) for b in range(a)]

    @property
    def crossed_weight(self) -> float:
        """Weight of each crossed layer."""
        return 1 / (3 * max(len(self.pairs), 1))

    def evaluate(self, z: NDArray[Any]) -> tuple[float, Dense]:
        """Return J, and the evidence T (n x c) for each sample in each cluster; see `BlockModel.evaluate`."""
        n, c = len(z), self.n_clusters
        J, T = 0.0, np.zeros((n, c))
        for W, w in self._layers():
            links = links_to_clusters(W, z, c)
            value, R = self.two_step_information(sum_by_cluster(links, z, c))
            J += w * value
            T += links @ (w * n * R)
        crossed, T_crossed = self._evaluate_crossed(z)
        sizes, log_sizes = self._sizes(z)
        cost = self.settings.label_cost
        return J + crossed + cost * float(sizes @ log_sizes), T + T_crossed + cost * log_sizes

    def _evaluate_crossed(self, z: NDArray[Any]) -> tuple[float, Dense | float]:
        if not self.walks:
            return 0.0, 0.0
        near = [links_to_clusters(P, z, self.n_clusters) for P, _ in self.walks]
        back = [np.zeros_like(N) for N in near]  # what the walk of each view takes back to the neighbours
        J, w = 0.0, self.crossed_weight
        for a, b in self.pairs:
            M = symmetric(near[a].T @ near[b]) / len(z)
            R = self._log_ratios(M)
            J += w * float((M * R).sum())
            back[a] += near[b] @ (w / 2 * R)
            back[b] += near[a] @ (w / 2 * R)
        return J, sum(Pt @ B for (_, Pt), B in zip(self.walks, back, strict=True))

    def two_step_information(self, M: Dense) -> tuple[float, Dense]:
        """Return I(M2), and its gradient in M up to what eta > 0 changes."""
        a = np.maximum(M.sum(axis=1), SMALLEST_SHARE)
        M2 = two_steps(M)
        R = self._log_ratios(M2)
        forth = R @ M / a  # through either M
        through_a = -((M @ R) * M).sum(axis=1) / a**2
        return float((M2 * R).sum()), forth + forth.T + (through_a[:, None] + through_a) / 2

    def block_matrices(self, z: Labels) -> list[tuple[float, Dense]]:
        """Return all block matrices, own ones at two steps, with their weights."""
        own = [(w, two_steps(M)) for w, M in super().block_matrices(z)]
        near = [links_to_clusters(P, z, self.n_clusters) for P, _ in self.walks]
        return own + [(self.crossed_weight, symmetric(near[a].T @ near[b]) / len(z)) for a, b in self.pairs]

    def candidate(self, z: Labels, *, priced: bool) -> Candidate:
        """Return a partition with what speaks for it."""
        return Candidate(z, self.nearest_clusters(z)[0], self.evaluate(z)[0], priced)

    def view_weights(self, z: Labels, n_views: int) -> Dense:
        """Return the share of each view in the information; a crossed layer counts for both its views."""
        told = [max(w * float((M * self._log_ratios(M)).sum()), 0.0) for w, M in self.block_matrices(z)]
        weights = np.array(told[:n_views])
        for (a, b), value in zip(self.pairs, told[len(self.graphs) :], strict=True):
            weights[[a, b]] += value / 2
        return shares(weights)


@saved
@dataclass(frozen=True)
class Candidate:
    """A partition of nearly the best quality.

    Attributes
    ----------
    labels : (n,)
    separation : how far apart its two nearest clusters are, from 0 to 1, whatever their sizes
    objective : its J without a price of labels
    priced : whether it was found with a price of labels, which keeps small clusters
    """

    labels: Labels
    separation: float
    objective: float
    priced: bool


@dataclass(frozen=True)
class Found:
    """The partition, how it was found, the other candidate if it differs, and the model, without a price of labels."""

    labels: Labels
    search: Search
    alternatives: list[Candidate]
    model: Agreement


def find_agreement(views: Sequence[Graph], joint: Graph | None, n_clusters: int, settings: SearchSettings) -> Found:
    """Maximise J without a price of labels and with one, and take what has its nearest clusters farther apart."""
    starts, F = start_partitions(views, joint, n_clusters, settings)
    model = Agreement.of_views(views, joint, n_clusters, settings)
    free, search = model.fit(starts, F)
    priced, again = search_with_price(model, free, search.objective, starts, F)
    candidates = [model.candidate(z, priced=bool(i)) for i, z in enumerate((free, priced))]
    best = max(candidates, key=lambda candidate: candidate.separation)
    others = [other for other in candidates if not np.array_equal(other.labels, best.labels)]
    chosen = again if best.priced else search
    search = replace(chosen, starts=search.starts + again.starts, sweeps=search.sweeps + again.sweeps)
    return Found(best.labels, search, others, model)


def search_with_price(
    model: Agreement, free: Labels, J: float, starts: Sequence[Labels], F: Dense
) -> tuple[Labels, Search]:
    """Maximise J with a price of labels, in units of gamma I / H of the best partition without one.

    The prices of the settings are tried in turn, the highest first: it escapes poor optima, in which a large group is
    halved.
    """
    settings = model.settings
    entropy = -float(xlogx(np.bincount(free, minlength=model.n_clusters) / len(free)).sum())
    rate = max(J, 0.0) / entropy if entropy > 0 else 0.0
    z = free
    for price in settings.prices:
        priced = replace(model, settings=replace(settings, label_cost=price * settings.label_price * rate))
        z, search = priced.fit([*starts, z], F)
    return z, search


def start_partitions(
    views: Sequence[Graph], joint: Graph | None, n_clusters: int, settings: SearchSettings
) -> tuple[list[Labels], Dense]:
    """Return cuts of the views' graphs added, of the joint graph and of both, and an embedding that proposes splits."""
    c, tau = n_clusters, settings.degree_regularization
    total = mean_graph(views)
    joint = total if joint is None else joint
    values, F = spectral_embedding(mean_graph([total, joint]), c + min(c, MORE_DIRECTIONS), tau)
    embeddings = [F[:, :c], spectral_embedding(total, c, tau)[1], spectral_embedding(joint, c, tau)[1]]
    if c <= settings.few_clusters:
        embeddings += [spectral_embedding(W, c, tau)[1] for W in views if W.nnz]
    starts = [pivoted_kmeans(unit_length_rows(E), c) for E in embeddings]
    return [*starts[:3], pivoted_kmeans(embeddings[1], c), *starts[3:]], F * np.maximum(values, 0)


def two_steps(M: Dense) -> Dense:
    """Return M diag(a)^-1 M: the labels at the ends of two steps that know only the cluster they are in."""
    return M / np.maximum(M.sum(axis=1), SMALLEST_SHARE) @ M


def symmetric(M: Dense) -> Dense:
    """Return the mean of a matrix and its transpose."""
    return (M + M.T) / 2


def total_one(W: Graph) -> Graph:
    """Return a graph scaled so that its entries add up to 1, in double precision."""
    return sp.csr_array(W / max(W.sum(), TINY), dtype=np.float64)


def random_walk(W: Graph) -> Graph:
    """Return the rows of a graph scaled to add up to 1; empty ones stay."""
    return sp.csr_array(sp.diags_array(inverse_or_zero(np.asarray(W.sum(axis=1)).ravel())) @ W)


def mean_graph(graphs: Sequence[Graph]) -> Graph:
    """Return the mean of graphs, each scaled so that its entries add up to 1."""
    return sp.csr_array(sum(total_one(W) for W in graphs) / len(graphs))
