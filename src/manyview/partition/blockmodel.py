r"""One partition of the samples for several graphs: the multi-layer degree-corrected block model.

Every graph (layer) shares the same partition z, but has its own c x c block matrix M_l: the share of its edge weight
that runs between each pair of clusters. With a_l = M_l 1, the objective to maximise over z is

.. math:: J(z) = \sum_l w_l \sum_{kh} M_l(k,h) \log\Big((1-\eta)\,\frac{M_l(k,h)}{a_l(k)\,a_l(h)} + \eta\Big)
          - \pi\, H(\text{cluster sizes}) .

For eta = 0 each inner sum is the mutual information of the labels at the two ends of an edge, which is the likelihood
of the degree-corrected stochastic block model. A layer of noise has M = a a' and contributes nothing; a layer that
confuses two clusters says nothing about those two but still counts for the others. Cutting a sum of graphs cannot do
this. eta is the share of edges expected to be noise; pi is the price of each nat of the labels themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from manyview.numerics.progress import tracked
from manyview.numerics.rows import ascending
from manyview.partition.information import TINY, merge_entropy, merge_loss, separations, split_entropy, split_gain
from manyview.records import saved
from manyview.typing import Dense, Indices, Labels

SMALLEST_GAIN = 1e-9  # smaller gains are rounding error
SMALLEST_SPLIT = 4  # samples; smaller clusters are not split
TWO_MEANS_STEPS = 5  # along one direction; they usually converge sooner
EMPTY = 0.5  # samples that an empty cluster counts as, where the logarithm of its size is taken


@dataclass(frozen=True)
class SearchSettings:
    """How J is defined and searched.

    Attributes
    ----------
    background : eta, the share of edges expected to be noise
    label_cost : pi, in nats per nat of the labels
    label_price : gamma, pi in units of the information that a nat of labels brings on average (`agreement`)
    prices : tried in turn, in units of gamma; the optimum at each is a candidate
    degree_regularization : tau of the cuts that the search starts from
    few_clusters : with at most this many, splits and merges cannot help much, so every view's own cut is also a start
    sweeps : maximum number of passes over the samples in an ascent; it nearly always converges sooner
    step_trials : how many times a step that does not raise J is retried with a third of its moves
    rounds : maximum number of rounds of splits and merges
    proposals : splits and merges tried in each round
    worst_loss : the most that a proposal may lower J before its ascent
    halving_sweeps : passes in which the halves of a cluster are refined
    smallest_rise : rise of J that justifies another round
    farther : how many times as far apart the nearest clusters must be of a partition that is taken despite a lower J
    least_information : share of the highest J that such a partition must have
    """

    background: float = 0.05
    label_cost: float = 0.5
    label_price: float = 0.2
    prices: tuple[float, ...] = (2.0, 1.0)
    degree_regularization: float = 1.0
    few_clusters: int = 3
    sweeps: int = 20
    step_trials: int = 4
    rounds: int = 3
    proposals: int = 3
    worst_loss: float = 0.02
    halving_sweeps: int = 5
    smallest_rise: float = 1e-6
    farther: float = 1.75
    least_information: float = 0.9


USUAL = SearchSettings()


@dataclass(frozen=True)
class Ascent:
    """A partition that no move improves, its J, the number of passes, and whether it converged."""

    labels: Labels
    objective: float
    sweeps: int
    converged: bool


@saved
@dataclass(frozen=True)
class Search:
    """How the partition was found.

    Attributes
    ----------
    objective : J of the partition
    starts : number of partitions that an ascent started from, including splits and merges
    sweeps : passes over the samples in all ascents
    converged : whether the ascent to the partition converged
    runner_up : J of the second-best partition found that differs, -inf if there was none
    agreement : adjusted Rand index of the runner-up with the partition
    """

    objective: float
    starts: int
    sweeps: int
    converged: bool
    runner_up: float
    agreement: float


@saved
@dataclass(frozen=True)
class Blocks:
    """Per layer, weighted log-odds of links between each pair of clusters; and a log-prior of clusters by size."""

    ratios: tuple[Dense, ...]
    prior: Dense

    def evidence(self, z: Labels, links: Sequence[sp.csr_array]) -> Dense:
        """Return T for other samples from their links to the samples of z: one matrix per layer, rows add up to 1."""
        T = np.tile(self.prior, (links[0].shape[0], 1))
        for R, W in zip(self.ratios, links, strict=True):
            T += links_to_clusters(W, z, len(self.prior)) @ R
        return T

    def reordered(self, order: Indices) -> Blocks:
        """Return the blocks with other cluster numbers: the first in `order` becomes 0, the next 1, and so on."""
        return Blocks(tuple(R[np.ix_(order, order)] for R in self.ratios), self.prior[order])


@dataclass(frozen=True)
class BlockModel:
    """Layers with their weights, and the moves that raise J.

    An evaluation takes time O(nnz + n c^2) and memory O(nnz + n c).
    """

    graphs: tuple[sp.csr_array, ...]
    weights: tuple[float, ...]
    n_clusters: int
    settings: SearchSettings = USUAL

    @classmethod
    def of(
        cls,
        graphs: Iterable[sp.csr_array],
        weights: Sequence[float],
        n_clusters: int,
        settings: SearchSettings = USUAL,
    ) -> BlockModel:
        """Create a model: each graph's entries are scaled to add up to 1, and the weights to mean 1."""
        layers = tuple(sp.csr_array(W / max(W.sum(), TINY), dtype=np.float64) for W in graphs)
        mean = sum(weights) / len(weights)
        return cls(layers, tuple(w / mean for w in weights), n_clusters, settings)

    @property
    def n_layers(self) -> int:
        """Number of block matrices of a partition."""
        return len(self.graphs)

    def evaluate(self, z: NDArray[Any]) -> tuple[float, Dense]:
        """Return J, and the evidence T (n x c) for each sample in each cluster.

        `z` holds labels (n,), or soft memberships (n, c). T is how likely each sample's edges are in each cluster, with
        the block matrices as they are, plus pi log of the cluster's size. For memberships Q and eta = 0 this is, up to
        a constant per sample, n/2 dJ/dQ, but with pi doubled; for eta > 0 it ignores that the block matrices depend on
        Q. T only proposes moves; J decides.
        """
        n, c = len(z), self.n_clusters
        J, T = 0.0, np.zeros((n, c))
        for w, W in zip(self.weights, self.graphs, strict=True):
            links = links_to_clusters(W, z, c)
            M = sum_by_cluster(links, z, c)
            R = self._log_ratios(M)
            J += w * float((M * R).sum())
            T += links @ (w * n * R)
        sizes, log_sizes = self._sizes(z)
        return J + self.settings.label_cost * float(sizes @ log_sizes), T + self.settings.label_cost * log_sizes

    def block_matrices(self, z: Labels) -> list[tuple[float, Dense]]:
        """Return the weight and the block matrix of each layer."""
        c = self.n_clusters
        return [(w, sum_by_cluster(links_to_clusters(W, z, c), z, c)) for W, w in self._layers()]

    def nearest_clusters(self, z: Labels) -> tuple[float, tuple[int, int]]:
        """Return the smallest separation of two clusters, at most 1, and the two whose merger loses the least."""
        apart, loss = separations(self.block_matrices(z))
        pairs = np.triu_indices(self.n_clusters, 1)
        cheapest = loss[pairs].argmin()
        return min(float(apart[pairs].min()), 1.0), (int(pairs[0][cheapest]), int(pairs[1][cheapest]))

    def blocks(self, z: Labels) -> Blocks:
        """Return what the partition z implies for the links of other samples."""
        ratios = tuple(w * self._log_ratios(M) for w, M in self.block_matrices(z))
        return Blocks(ratios, self.settings.label_cost * self._sizes(z)[1])

    def _log_ratios(self, M: Dense) -> Dense:
        """Return the log of how much more likely an edge between each pair of clusters is than by chance."""
        a = M.sum(axis=1)
        ratio = (1 - self.settings.background) * M / np.maximum(np.outer(a, a), TINY)
        return np.log(np.maximum(ratio + self.settings.background, TINY))

    def _sizes(self, z: NDArray[Any]) -> tuple[Dense, Dense]:
        """Share of the samples in each cluster, and its logarithm."""
        n = len(z)
        sizes = z.mean(axis=0) if z.ndim == 2 else np.bincount(z, minlength=self.n_clusters) / n
        return sizes, np.log(np.maximum(sizes, EMPTY / n))

    def information(self, z: Labels) -> Dense:
        """Return what each layer contributes to J, in nats, at least 0."""
        free = replace(self.settings, label_cost=0.0)
        alone = (replace(self, graphs=(W,), weights=(w,), settings=free) for W, w in self._layers())
        return np.array([max(model.evaluate(z)[0], 0.0) for model in alone])

    def _layers(self) -> Iterable[tuple[sp.csr_array, float]]:
        return zip(self.graphs, self.weights, strict=True)

    def ascend(self, z: Labels) -> Ascent:
        """Move samples to their best clusters while J rises; no cluster is emptied."""
        J, T = self.evaluate(z)
        for sweep in range(self.settings.sweeps):
            better = self._step(z, J, T)
            if better is None:
                return Ascent(z, J, sweep, converged=True)
            z, J, T = better
        return Ascent(z, J, self.settings.sweeps, converged=False)

    def _step(self, z: Labels, J: float, T: Dense) -> tuple[Labels, float, Dense] | None:
        """Move all samples that gain; if J does not rise, only the third that gain the most, and so on."""
        rows = np.arange(len(z))
        best = T.argmax(axis=1)
        gain = T[rows, best] - T[rows, z]
        movers = np.flatnonzero(gain > SMALLEST_GAIN)
        movers = movers[ascending(-gain[movers])]
        for _ in range(self.settings.step_trials):
            new = z.copy()
            new[movers] = best[movers]
            if len(movers) and np.bincount(new, minlength=self.n_clusters).min() > 0:
                J_new, T_new = self.evaluate(new)
                if J_new > J + SMALLEST_GAIN:
                    return new, J_new, T_new
            movers = movers[: len(movers) // 3]
        return None

    def fit(
        self, starts: Sequence[Labels], F: Dense, halves: dict[bytes, Labels] | None = None
    ) -> tuple[Labels, Search]:
        """Return the best partition found from these starts, improved by splits and merges, and how it was found.

        F (n x k) is an embedding of the samples, used to propose splits. `halves` remembers those of each partition;
        they do not depend on the price of labels, so fits at several prices can share them.
        """
        halves = {} if halves is None else halves
        tried = [self.ascend(z) for z in tracked("partition", starts)]
        best = max(tried, key=lambda found: found.objective)
        for _ in range(self.settings.rounds if self.n_clusters > 2 else 0):
            key = best.labels.tobytes()
            if key not in halves:
                halves[key] = self.halve(best.labels, F)
            proposals = self.split_and_merge(best.labels, halves[key])
            ascents = [self.ascend(proposal) for proposal in proposals]
            tried += ascents
            new = max(ascents, key=lambda found: found.objective, default=best)
            if new.objective <= best.objective + self.settings.smallest_rise:
                break
            best = new
        return best.labels, _search(best, tried)

    def halve(self, z: Labels, F: Dense) -> Labels:
        """Cut every cluster k in two, labelled 2k and 2k + 1: along its longest direction in F, then by ascent of J."""
        half = np.zeros(len(z), dtype=np.intp)
        for k in range(self.n_clusters):
            members = np.flatnonzero(z == k)
            half[members] = split_in_two(F[members])
        free = replace(self.settings, label_cost=0.0)
        doubled = replace(self, n_clusters=2 * self.n_clusters, settings=free)
        rows = np.arange(len(z))
        for _ in range(self.settings.halving_sweeps):
            _, T = doubled.evaluate(2 * z + half)
            new = (T[rows, 2 * z + 1] > T[rows, 2 * z]).astype(np.intp)
            if np.array_equal(new, half):
                break
            half = new
        return 2 * z + half

    def split_and_merge(self, z: Labels, halves: Labels) -> list[Labels]:
        """Return the most promising partitions that split one cluster into its halves and merge two others.

        The gain of a split and the loss of a merger follow from the block matrices of the halves (with eta = 0),
        without another pass over the samples.
        """
        c = self.n_clusters
        gain, loss = np.zeros(c), np.zeros((c, c))
        for w, H in replace(self, n_clusters=2 * c).block_matrices(halves):
            gain += w * split_gain(H)
            loss += w * merge_loss(H)
        sizes = np.bincount(halves, minlength=2 * c)
        shares, price = sizes / len(z), self.settings.label_cost
        gain -= price * split_entropy(shares)
        loss -= price * merge_entropy(shares[0::2] + shares[1::2])
        gain[sizes.reshape(c, 2).min(axis=1) == 0] = -np.inf  # in one piece
        p, q = np.triu_indices(c, 1)
        net = gain[:, None] - loss[p, q]  # clusters to split x pairs to merge
        pair = np.arange(len(p))
        net[p, pair] = net[q, pair] = -np.inf
        promising = ascending(-net.ravel())[: self.settings.proposals]
        chosen = [j for j in promising if net.flat[j] >= -self.settings.worst_loss]
        proposals = []
        for split, merged in zip(*np.unravel_index(np.array(chosen, dtype=np.intp), net.shape), strict=True):
            new = z.copy()
            new[z == q[merged]] = p[merged]
            new[(z == split) & (halves % 2 == 1)] = q[merged]
            proposals.append(new)
        return proposals


def _search(best: Ascent, tried: Sequence[Ascent]) -> Search:
    others = [found for found in tried if not np.array_equal(found.labels, best.labels)]
    second = max(others, key=lambda found: found.objective, default=None)
    return Search(
        objective=best.objective,
        starts=len(tried),
        sweeps=sum(found.sweeps for found in tried),
        converged=best.converged,
        runner_up=-np.inf if second is None else second.objective,
        agreement=1.0 if second is None else float(adjusted_rand_score(best.labels, second.labels)),
    )


def part_of(W: sp.csr_array, rows: slice) -> sp.csr_array:
    """Return some rows of a graph, without copying them."""
    if rows == slice(0, W.shape[0]):
        return W
    first, last = W.indptr[rows.start], W.indptr[rows.stop]
    ends = W.indptr[rows.start : rows.stop + 1] - first
    return sp.csr_array((W.data[first:last], W.indices[first:last], ends), shape=(len(ends) - 1, W.shape[1]))


def links_to_clusters(W: sp.csr_array, z: NDArray[Any], c: int) -> Dense:
    """Return the link weight from each sample to each cluster (n x c)."""
    if z.ndim == 2:
        return W @ z
    to_clusters = z.astype(W.indices.dtype)[W.indices]
    return sp.csr_array((W.data, to_clusters, W.indptr), shape=(W.shape[0], c), dtype=np.float64).toarray()


def sum_by_cluster(links: Dense, z: NDArray[Any], c: int) -> Dense:
    """Add up the rows of each cluster (c x c)."""
    if z.ndim == 2:
        return z.T @ links
    members = sp.csc_array((np.ones(len(z)), z, np.arange(len(z) + 1)), shape=(c, len(z)))
    return members @ links


def split_in_two(X: Dense, direction: int = 0) -> Indices:
    """Split points by 2-means along their longest direction (0), or the next (1, 2); a few points stay together."""
    if len(X) < SMALLEST_SPLIT:
        return np.zeros(len(X), dtype=np.intp)
    X = X - X.mean(axis=0)
    t = X @ np.linalg.eigh(X.T @ X)[1][:, -1 - min(direction, X.shape[1] - 1)]
    upper = t > 0
    for _ in range(TWO_MEANS_STEPS):
        if upper.all() or not upper.any():
            break
        upper = t > (t[upper].mean() + t[~upper].mean()) / 2
    return upper.astype(np.intp)
