r"""One partition of the samples for several graphs: the multi-layer degree-corrected block model.

Every graph (layer) sees the same partition z, but has a c x c block matrix of its own, M_l: the share of its edge
weight that runs between each two clusters. With a_l = M_l 1, maximised over z is

.. math:: J(z) = \sum_l w_l \sum_{kh} M_l(k,h) \log\Big((1-\eta)\,\frac{M_l(k,h)}{a_l(k)\,a_l(h)} + \eta\Big)
          - \pi\, H(\text{cluster sizes}) .

For eta = 0 each inner sum is the mutual information of the labels at the two ends of an edge, which is the likelihood
of the degree-corrected stochastic block model. A layer of noise has M = a a', hence nothing to say; a layer that
confuses two clusters says nothing about these two and still counts for the others. A sum of graphs, cut once, lacks
this. eta is the share of edges that are expected to mean nothing; pi pays for every nat of the labels themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from manyview.records import saved
from manyview.typing import Dense, Indices, Labels

TINY = np.finfo(np.float64).tiny
SMALLEST_GAIN = 1e-9  # smaller ones are rounding
SMALLEST_SPLIT = 4  # a cluster of fewer samples is not split: two pairs are no clusters
TWO_MEANS_STEPS = 5  # along one direction; they settle sooner


@dataclass(frozen=True)
class SearchSettings:
    """How J is defined and searched.

    Attributes
    ----------
    background : eta, the share of edges that are expected to mean nothing
    label_cost : pi, in nats paid for every nat of the labels
    label_price : gamma, pi in units of the information that a nat of labels brings on average (`agreement`)
    prices : tried in turn, in units of gamma; the last one counts
    degree_regularization : tau of the cuts that are started from
    few_clusters : splits and merges need clusters to spare; with so few, every view's own cut is a start as well
    sweeps : most passes over the samples in an ascent; it nearly always ends sooner, by itself
    step_trials : how often a step that does not raise J is retried with a third of its moves
    relaxed : from how many of the starts soft memberships are followed, too
    relaxed_sweeps, softness : passes of these, and the share of a sample's membership that starts spread over all
    rounds : most rounds of splits and merges
    proposals : splits and merges that are tried in each
    worst_loss : of J, that a proposal may have before its ascent
    halving_sweeps : passes in which the halves of a cluster settle
    smallest_rise : of J, for which another round is worth while
    """

    background: float = 0.05
    label_cost: float = 0.5
    label_price: float = 0.2
    prices: tuple[float, ...] = (2.0, 1.0)
    degree_regularization: float = 1.0
    few_clusters: int = 3
    sweeps: int = 20
    step_trials: int = 4
    relaxed: int = 2
    relaxed_sweeps: int = 10
    softness: float = 0.1
    rounds: int = 3
    proposals: int = 3
    worst_loss: float = 0.02
    halving_sweeps: int = 5
    smallest_rise: float = 1e-6


@dataclass(frozen=True)
class Ascent:
    """A partition that no move improves, its J, the passes it took, and whether it ended by itself."""

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
    starts : partitions that were ascended from, splits and merges included
    sweeps : passes over the samples, in all of them
    converged : whether the ascent to the partition ended by itself
    runner_up : J of the best other partition that was found, -inf if there was none
    agreement : adjusted Rand index of that one with the partition
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
    """Per layer, how likely links between each two clusters are (logarithms, weighed), and clusters by their size."""

    ratios: tuple[Dense, ...]
    prior: Dense

    def evidence(self, z: Labels, links: Sequence[sp.csr_array]) -> Dense:
        """Return T for other samples, from their links to those of z: one matrix per layer, rows that add up to 1."""
        T = np.tile(self.prior, (links[0].shape[0], 1))
        for R, W in zip(self.ratios, links, strict=True):
            T += links_to_clusters(W, z, len(self.prior)) @ R
        return T


@dataclass(frozen=True)
class BlockModel:
    """Layers with their weights, and the moves that raise J.

    An evaluation takes time O(nnz + n c^2) and memory O(nnz + n c).
    """

    graphs: tuple[sp.csr_array, ...]
    weights: tuple[float, ...]
    n_clusters: int
    settings: SearchSettings = SearchSettings()

    @classmethod
    def of(
        cls,
        graphs: Iterable[sp.csr_array],
        weights: Sequence[float],
        n_clusters: int,
        settings: SearchSettings = SearchSettings(),  # noqa: B008
    ) -> BlockModel:
        """Make a model: each graph's entries are scaled to add up to 1, and the weights to have mean 1."""
        layers = tuple(sp.csr_array(W / max(W.sum(), TINY), dtype=np.float64) for W in graphs)
        mean = sum(weights) / len(weights)
        return cls(layers, tuple(w / mean for w in weights), n_clusters, settings)

    def evaluate(self, z: NDArray[Any]) -> tuple[float, Dense]:
        """Return J, and the evidence T (n x c) for each sample in each cluster.

        `z` holds labels (n,), or soft memberships (n, c). T is how likely each sample's edges are in each cluster,
        with the block matrices as they are, plus pi log of the cluster's size. For memberships Q and eta = 0 that is,
        up to a constant per sample, n/2 dJ/dQ, but with pi doubled; for eta > 0 it leaves out that the block matrices
        depend on Q. T only proposes moves, J decides.
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
        """Return the smallest separation of two clusters, and the two whose merger loses least information.

        The separation of two clusters is what merging them takes from the information, relative to what it takes from
        the entropy of the labels: 1 where they have nothing to do with each other, 0 where they are one. Their sizes do
        not matter.
        """
        c = self.n_clusters
        loss, entropy = np.zeros((c, c)), np.zeros((c, c))
        for w, M in self.block_matrices(z):
            a = M.sum(axis=1)
            loss += w * merge_loss(np.kron(M, [[1, 0], [0, 0]]))  # that is, second halves are empty
            entropy += w * (xlogx(a[:, None] + a) - xlogx(a)[:, None] - xlogx(a))
        pairs = np.triu_indices(c, 1)
        cheapest = loss[pairs].argmin()
        separation = (loss[pairs] / np.maximum(entropy[pairs], TINY)).min()
        return float(separation), (int(pairs[0][cheapest]), int(pairs[1][cheapest]))

    def blocks(self, z: Labels) -> Blocks:
        """Return what the partition z tells about the links of other samples."""
        ratios = tuple(w * self._log_ratios(M) for w, M in self.block_matrices(z))
        return Blocks(ratios, self.settings.label_cost * self._sizes(z)[1])

    def _log_ratios(self, M: Dense) -> Dense:
        """Return how much likelier an edge is between each two clusters than by chance, as a logarithm."""
        a = M.sum(axis=1)
        ratio = (1 - self.settings.background) * M / np.maximum(np.outer(a, a), TINY)
        return np.log(np.maximum(ratio + self.settings.background, TINY))

    def _sizes(self, z: NDArray[Any]) -> tuple[Dense, Dense]:
        """Share of the samples in each cluster, and its logarithm."""
        n = len(z)
        sizes = z.mean(axis=0) if z.ndim == 2 else np.bincount(z, minlength=self.n_clusters) / n
        return sizes, np.log(np.maximum(sizes, 0.5 / n))

    def information(self, z: Labels) -> Dense:
        """Return what each layer contributes to J, in nats, at least 0."""
        free = replace(self.settings, label_cost=0.0)
        alone = (replace(self, graphs=(W,), weights=(w,), settings=free) for W, w in self._layers())
        return np.array([max(model.evaluate(z)[0], 0.0) for model in alone])

    def _layers(self) -> Iterable[tuple[sp.csr_array, float]]:
        return zip(self.graphs, self.weights, strict=True)

    def ascend(self, z: Labels) -> Ascent:
        """Move samples to their best clusters as long as J rises; no cluster is emptied."""
        J, T = self.evaluate(z)
        for sweep in range(self.settings.sweeps):
            better = self._step(z, J, T)
            if better is None:
                return Ascent(z, J, sweep, converged=True)
            z, J, T = better
        return Ascent(z, J, self.settings.sweeps, converged=False)

    def _step(self, z: Labels, J: float, T: Dense) -> tuple[Labels, float, Dense] | None:
        """Move all samples that gain; if J does not rise, only the third that gains most, and so on."""
        rows = np.arange(len(z))
        best = T.argmax(axis=1)
        gain = T[rows, best] - T[rows, z]
        movers = np.flatnonzero(gain > SMALLEST_GAIN)
        movers = movers[np.argsort(-gain[movers], kind="stable")]
        for _ in range(self.settings.step_trials):
            new = z.copy()
            new[movers] = best[movers]
            if len(movers) and np.bincount(new, minlength=self.n_clusters).min() > 0:
                J_new, T_new = self.evaluate(new)
                if J_new > J + SMALLEST_GAIN:
                    return new, J_new, T_new
            movers = movers[: len(movers) // 3]
        return None

    def relax(self, z: Labels) -> Labels:
        """Follow soft memberships (mean field) from z: they leave poor optima that single moves cannot."""
        c, softness = self.n_clusters, self.settings.softness
        Q = (1 - softness) * np.eye(c)[z] + softness / c
        for _ in range(self.settings.relaxed_sweeps):
            _, T = self.evaluate(Q)
            Q = np.exp(T - T.max(axis=1, keepdims=True))
            Q /= Q.sum(axis=1, keepdims=True)
        new = Q.argmax(axis=1)
        return new if np.bincount(new, minlength=c).min() > 0 else z

    def fit(self, starts: Sequence[Labels], F: Dense) -> tuple[Labels, Search]:
        """Return the best partition found from the starts, improved by splits and merges, and how it was found.

        F (n x k) is an embedding of the samples; it proposes where a cluster could be split.
        """
        soft = [self.relax(z) for z in starts[: self.settings.relaxed]]
        tried = [self.ascend(z) for z in (*starts, *soft)]
        best = max(tried, key=lambda found: found.objective)
        for _ in range(self.settings.rounds if self.n_clusters > 2 else 0):
            proposals = self.split_and_merge(best.labels, self.halve(best.labels, F))
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

        What a split gains and a merger loses is read off the block matrices of the halves (with eta = 0), without
        looking at the samples again.
        """
        c = self.n_clusters
        gain, loss = np.zeros(c), np.zeros((c, c))
        for w, H in replace(self, n_clusters=2 * c).block_matrices(halves):
            gain += w * split_gain(H)
            loss += w * merge_loss(H)
        in_one_piece = np.bincount(halves, minlength=2 * c).reshape(c, 2).min(axis=1) == 0
        gain[in_one_piece] = -np.inf
        p, q = np.triu_indices(c, 1)
        net = gain[:, None] - loss[p, q]  # clusters to split x pairs to merge
        pair = np.arange(len(p))
        net[p, pair] = net[q, pair] = -np.inf
        promising = np.argsort(-net, axis=None, kind="stable")[: self.settings.proposals]
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


def links_to_clusters(W: sp.csr_array, z: NDArray[Any], c: int) -> Dense:
    """Weight that runs from each sample to each cluster (n x c)."""
    if z.ndim == 2:
        return W @ z
    n = W.shape[0]
    rows = np.repeat(np.arange(n), np.diff(W.indptr))
    return np.bincount(rows * c + z[W.indices], W.data, n * c).astype(float, copy=False).reshape(n, c)


def sum_by_cluster(links: Dense, z: NDArray[Any], c: int) -> Dense:
    """Add up the rows of each cluster (c x c)."""
    if z.ndim == 2:
        return z.T @ links
    members = sp.csr_array((np.ones(len(z)), z, np.arange(len(z) + 1)), shape=(len(z), c))
    return members.T @ links


def split_in_two(X: Dense) -> Indices:
    """2-means along the longest direction of some points; fewer than `SMALLEST_SPLIT` points stay together."""
    if len(X) < SMALLEST_SPLIT:
        return np.zeros(len(X), dtype=np.intp)
    X = X - X.mean(axis=0)
    t = X @ np.linalg.eigh(X.T @ X)[1][:, -1]
    upper = t > 0
    for _ in range(TWO_MEANS_STEPS):
        if upper.all() or not upper.any():
            break
        upper = t > (t[upper].mean() + t[~upper].mean()) / 2
    return upper.astype(np.intp)


def xlogx(x: Any) -> Any:
    """Return x log x, 0 at 0."""
    return x * np.log(np.maximum(x, TINY))


def split_gain(H: Dense) -> Dense:
    """Information gained by splitting each cluster k into the halves 2k and 2k + 1 of the block matrix H."""
    c = len(H) // 2
    k = np.arange(c)
    A = H[:, 0::2] + H[:, 1::2]  # halves x clusters
    M = A[0::2] + A[1::2]
    with_others = xlogx(A[0::2]) + xlogx(A[1::2]) - xlogx(M)
    with_others[k, k] = 0
    inside = xlogx(H[0::2, 0::2][k, k]) + xlogx(H[1::2, 1::2][k, k]) + 2 * xlogx(H[0::2, 1::2][k, k])
    degree = xlogx(A[0::2].sum(axis=1)) + xlogx(A[1::2].sum(axis=1)) - xlogx(M.sum(axis=1))
    return 2 * with_others.sum(axis=1) + inside - xlogx(np.diag(M)) - 2 * degree


def merge_loss(H: Dense) -> Dense:
    """Information lost by merging each two clusters (c x c) of the block matrix H of halves."""
    A = H[:, 0::2] + H[:, 1::2]
    M = A[0::2] + A[1::2]
    c = len(M)
    k = np.arange(c)
    a, d, f = M.sum(axis=1), np.diag(M), xlogx(M)
    loss = np.zeros((c, c))
    for j in range(c):
        with_others = f[j] + f - xlogx(M[j] + M)
        with_others[:, j] = 0
        with_others[k, k] = 0
        inside = f[j, j] + xlogx(d) + 2 * f[j] - xlogx(d[j] + d + 2 * M[j])
        degree = xlogx(a[j]) + xlogx(a) - xlogx(a[j] + a)
        loss[j] = 2 * with_others.sum(axis=1) + inside - 2 * degree
    return loss
