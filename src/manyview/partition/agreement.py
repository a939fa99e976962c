r"""One partition of several neighbour graphs, based on the labels of each sample's neighbours.

W_v (v = 1 .. V) are the graphs of the views, W_0 the joint one, P_v the random walks on them. A partition Z (n x c)
gives block matrices (c x c, their entries add up to 1):

- own, :math:`M_v = Z'W_vZ / \sum W_v`: the labels at the two ends of an edge in graph v;
- crossed, :math:`M_{ab} = (P_aZ)'(P_bZ)/n`, symmetrised: the labels of a sample's neighbours in views a and b.

Own matrices are taken at two steps between the blocks, with a = M 1,

.. math:: M^{(2)} = M\, \mathrm{diag}(a)^{-1} M ,

which is convex in how well clusters are separated: if a share p of the edges leaves one of two equal clusters, it
counts as 2p(1 - p). Halves of a structureless group (p about .2) keep a third of their information; clusters that one
view separates well (p about .02) keep nearly all. Crossed matrices span two steps already. Halves along the geometry of
a single view have no crossed information; clusters that only one view can distinguish have none either, so both kinds
are needed. The objective to maximise is

.. math:: J = \tfrac13 \mathrm{mean}_v I(M_v^{(2)}) + \tfrac13 I(M_0^{(2)}) + \tfrac13 \mathrm{mean}_{a<b} I(M_{ab})
          - \pi H(\text{cluster sizes}), \qquad \pi = \gamma I / H ,

I(M) as in `blockmodel`, I / H that of the best partition for pi = 0, so that gamma has no scale. Splitting a large
group down its middle no longer pays, whatever the sizes of the others.

Views that repeat others count less (`redundancy`): the means above are weighted ones.

`search` maximises J.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.graphs.laplacian import reordered
from manyview.numerics.blocks import row_blocks
from manyview.numerics.division import inverse_or_zero, shares
from manyview.partition.blockmodel import (
    BlockModel,
    Blocks,
    SearchSettings,
    links_to_clusters,
    part_of,
    sum_by_cluster,
)
from manyview.partition.information import TINY
from manyview.partition.redundancy import Redundancy
from manyview.typing import Dense, Graph, Indices, Labels

BLOCK_ENTRIES = 2**16  # values of a table that is made for some samples at a time
REMEMBERED = 2**22  # values of evidence, 32 megabytes: all of a small fit, whose every evaluation counts
SMALLEST_SHARE = 1e-12  # share of an empty cluster: its square must not underflow


@dataclass
class Memory:
    """J and the evidence of the first partitions that were evaluated; a search meets most of them at every price."""

    known: dict[tuple[int, bytes], tuple[float, Dense]] = field(default_factory=dict)
    room: int = REMEMBERED

    def recall(self, key: tuple[int, bytes], evaluate: Callable[[], tuple[float, Dense]]) -> tuple[float, Dense]:
        """Return what is known, or evaluate and remember it if there is room."""
        if key in self.known:
            return self.known[key]
        J, T = evaluate()
        if T.size <= self.room:
            self.known[key] = J, T
            self.room -= T.size
        return J, T


@dataclass(frozen=True)
class Agreement(BlockModel):
    """Applies the moves of the block model to J above; `graphs` are the own layers, the views' first, all symmetric.

    `steps` holds one over the degrees of each view. A walk P_v is W_v with its rows scaled by them, P_v' with its
    columns, so neither is stored, and P_v Z follows from the own layer. A single view has no walks.

    An evaluation takes time O(c nnz + V^2 n c^2) and memory O(nnz + V n c). Rows are done in blocks, which stay in the
    cache of a core.
    """

    steps: tuple[Dense, ...] = ()
    crossed_weights: tuple[float, ...] = ()
    memory: Memory | None = None

    @classmethod
    def of_views(cls, layers: ViewGraphs, n_clusters: int, settings: SearchSettings) -> Agreement:
        """Give a third of the weight to each kind of layer; a single view has only its own."""
        free = replace(settings, label_cost=0.0)
        own = tuple(map(total_one, layers.views))
        counts = tuple(shares(layers.redundancy.weights))
        if layers.joint is None or len(own) == 1:
            return cls(own, counts, n_clusters, free)
        weights = tuple(w / 3 for w in (*counts, 1.0))
        crossed = tuple(w / 3 for w in layers.redundancy.pair_shares(pairs_of(len(own))))
        return cls(
            (*own, total_one(layers.joint)), weights, n_clusters, free, tuple(map(one_over_degrees, own)), crossed
        )

    @property
    def n_layers(self) -> int:
        """Number of block matrices of a partition."""
        return len(self.graphs) + len(self.pairs)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of views that have a crossed layer."""
        return pairs_of(len(self.steps))

    def evaluate(self, z: NDArray[Any]) -> tuple[float, Dense]:
        """Return J, and the evidence T (n x c) for each sample in each cluster; see `BlockModel.evaluate`."""
        if self.memory is None:
            J, T = self._evaluate_free(z)
        else:
            J, T = self.memory.recall((self.n_clusters, z.tobytes()), lambda: self._evaluate_free(z))
        sizes, log_sizes = self._sizes(z)
        cost = self.settings.label_cost
        return J + cost * float(sizes @ log_sizes), T + cost * log_sizes

    def _evaluate_free(self, z: NDArray[Any]) -> tuple[float, Dense]:
        """Evaluate without a price of labels."""
        n, c = len(z), self.n_clusters
        parts = self._parts()
        links = [self._links(z, part) for _, part in parts]
        own, crossed = self._matrices(z, [rows for rows, _ in parts], links)
        told = [self.two_step_information(M) for M in own]
        log_ratios = [self._log_ratios(M) for M in crossed]
        J = sum(w * value for w, (value, _) in zip(self.weights, told, strict=True))
        J += sum(w * float((M * R).sum()) for w, M, R in zip(self.crossed_weights, crossed, log_ratios, strict=True))
        T = np.empty((n, c))
        back = [np.zeros((n, c)) for _ in self.steps]  # what the walk of each view takes back to the neighbours
        for (rows, _), linked in zip(parts, links, strict=True):
            near = self._near(linked, rows)
            T[rows] = sum(L @ (w * n * R) for L, w, (_, R) in zip(linked, self.weights, told, strict=True))
            for (a, b), w, R in zip(self.pairs, self.crossed_weights, log_ratios, strict=True):
                back[a][rows] += near[b] @ (w / 2 * R)
                back[b][rows] += near[a] @ (w / 2 * R)
            for B, steps in zip(back, self.steps, strict=True):
                B[rows] *= steps[rows, None]
        for rows, part in parts:
            for W, B in zip(part, back, strict=False):
                T[rows] += W @ B
        return J, T

    def _parts(self) -> list[tuple[slice, list[sp.csr_array]]]:
        """Return blocks of rows, with those rows of each graph."""
        blocks = row_blocks(self.graphs[0].shape[0], self.n_clusters, BLOCK_ENTRIES)
        return [(rows, [part_of(W, rows) for W in self.graphs]) for rows in blocks]

    def _links(self, z: NDArray[Any], part: Sequence[sp.csr_array]) -> list[Dense]:
        """Return the weight that runs from some samples to each cluster, in each graph."""
        return [links_to_clusters(W, z, self.n_clusters) for W in part]

    def _matrices(
        self, z: NDArray[Any], blocks: Sequence[slice], links: Iterable[list[Dense]]
    ) -> tuple[list[Dense], list[Dense]]:
        """Return the block matrices, own and crossed ones, from the links of each block of rows."""
        n, c = len(z), self.n_clusters
        own: Dense = np.zeros((c, len(self.graphs) * c))
        crossed: list[Dense] = [np.zeros((c, c)) for _ in self.pairs]
        for rows, linked in zip(blocks, links, strict=True):
            near = self._near(linked, rows)
            own += sum_by_cluster(np.hstack(linked), z[rows], c)
            for M, (a, b) in zip(crossed, self.pairs, strict=True):
                M += near[a].T @ near[b]
        return np.split(own, len(self.graphs), axis=1), [symmetric(M) / n for M in crossed]

    def _near(self, links: Sequence[Dense], rows: slice) -> list[Dense]:
        """Return P_v Z of each view: the labels of a neighbour of each sample."""
        return [L * steps[rows, None] for L, steps in zip(links, self.steps, strict=False)]

    def two_step_information(self, M: Dense) -> tuple[float, Dense]:
        """Return I(M2), and its gradient in M, ignoring the effect of eta > 0."""
        a = np.maximum(M.sum(axis=1), SMALLEST_SHARE)
        M2 = two_steps(M)
        R = self._log_ratios(M2)
        forth = R @ M / a  # through either M
        through_a = -((M @ R) * M).sum(axis=1) / a**2
        return float((M2 * R).sum()), forth + forth.T + (through_a[:, None] + through_a) / 2

    def link_evidence(self, z: Labels) -> Blocks:
        """Return the evidence of a link from another sample to each cluster, in the own layers, regardless of sizes."""
        ratios = tuple(w * self.two_step_information(M)[1] for w, M in super().block_matrices(z))
        return Blocks(ratios, np.zeros(self.n_clusters))

    def block_matrices(self, z: Labels) -> list[tuple[float, Dense]]:
        """Return all block matrices, own ones at two steps, with their weights."""
        parts = self._parts()
        links = (self._links(z, part) for _, part in parts)
        own, crossed = self._matrices(z, [rows for rows, _ in parts], links)
        at_two_steps = list(zip(self.weights, map(two_steps, own), strict=True))
        return at_two_steps + list(zip(self.crossed_weights, crossed, strict=True))

    def among(self, members: Indices, n_clusters: int) -> Agreement:
        """Return the model restricted to some samples, without a price of labels; layers keep their weights."""
        own = tuple(total_one(sp.csr_array(W[members][:, members])) for W in self.graphs)
        steps = tuple(map(one_over_degrees, own[: len(self.steps)]))
        free = replace(self.settings, label_cost=0.0)
        return replace(self, graphs=own, n_clusters=n_clusters, settings=free, steps=steps, memory=None)

    def view_weights(self, z: Labels, n_views: int) -> Dense:
        """Return the share of each view in the information; a crossed layer counts for both its views."""
        told = [max(w * float((M * self._log_ratios(M)).sum()), 0.0) for w, M in self.block_matrices(z)]
        weights = np.array(told[:n_views])
        for (a, b), value in zip(self.pairs, told[len(self.graphs) :], strict=True):
            weights[[a, b]] += value / 2
        return shares(weights)


@dataclass(frozen=True)
class ViewGraphs:
    """What is partitioned: the graphs of the views, the joint graph if there are several, and what is repeated."""

    views: tuple[Graph, ...]
    joint: Graph | None
    redundancy: Redundancy

    @classmethod
    def of(cls, views: Sequence[Graph], joint: Graph | None = None) -> ViewGraphs:
        """Compare the graphs of the views."""
        return cls(tuple(views), joint, Redundancy.of(views))

    @property
    def joint_or_only(self) -> Graph:
        """The joint graph, or the mean of the views' if there is none."""
        return mean_graph(self.views, shares(self.redundancy.weights)) if self.joint is None else self.joint

    def in_order(self, order: Indices) -> ViewGraphs:
        """Return a copy with the samples in this order."""
        joint = None if self.joint is None else reordered(self.joint, order)
        return ViewGraphs(tuple(reordered(W, order) for W in self.views), joint, self.redundancy)


def two_steps(M: Dense) -> Dense:
    """Return M diag(a)^-1 M: the labels at the ends of two steps that depend only on the current cluster."""
    return M / np.maximum(M.sum(axis=1), SMALLEST_SHARE) @ M


def symmetric(M: Dense) -> Dense:
    """Return the mean of a matrix and its transpose."""
    return (M + M.T) / 2


def total_one(W: Graph) -> Graph:
    """Return a graph scaled so that its entries add up to 1, in double precision."""
    return sp.csr_array(W / max(W.sum(), TINY), dtype=np.float64)


def one_over_degrees(W: Graph) -> Dense:
    """Return the factors that make the rows of a graph add up to 1; 0 for empty rows."""
    return inverse_or_zero(np.asarray(W.sum(axis=1)).ravel())


def mean_graph(graphs: Sequence[Graph], weights: Dense | None = None) -> Graph:
    """Return the mean of graphs, each scaled so that its entries add up to 1; weights also add up to 1."""
    weights = np.full(len(graphs), 1 / len(graphs)) if weights is None else weights
    return sp.csr_array(sum(w * total_one(W) for W, w in zip(graphs, weights, strict=True) if w))


def pairs_of(n_views: int) -> list[tuple[int, int]]:
    """Return the pairs of views a > b."""
    return [(a, b) for a in range(n_views) for b in range(a)]
