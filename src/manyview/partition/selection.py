r"""How many clusters there are: as many as are well separated and found again in subsamples.

The graphs are partitioned into 2, 3, ... clusters by the block model (`blockmodel`), the finest level first: a level
starts from the previous one with two clusters merged, and from the spectral cut, and keeps the one with the higher J.
The separation of clusters p and q is what merging them takes from the labels at the ends of the edges: the loss of
their mutual information I, relative to the loss of their entropy H,

.. math:: \text{separation}(p, q) = \Delta I / \Delta H .

It is 1 if no edge runs between p and q, and 0 if edges run between them as if there were no clusters. The separation of
a level is that of its two nearest clusters. Halves of a cluster are not far apart, so it drops beyond the true number,
as eigenvalues do, but regardless of cluster sizes.

The same is done on the subgraphs of random samples. Separations are averaged over them, and the stability of a level is
how well its least stable cluster is found again in them. Each number has the

.. math:: \text{score} = (\text{separation} - \text{separation with more clusters}) \cdot \text{stability}^2 \cdot H ,

H the entropy of the cluster sizes: many clusters tell more about the samples than two. Stability is squared, so that
this does not favour many clusters that are not found again. Where groups are not all equally far apart, the drop is
spread over several numbers. So scores of numbers that differ by about a fifth are added up, and around the highest sum,
the number with the highest score is chosen. Groups may have subgroups, so the best numbers around other peaks of the
sums are suggested too, unless their scores are low (`best_numbers`). Numbers up to 30 are tried, and more if even the
nearest of 30 clusters are far apart: then the drop is still to come.

The answer is **one** if data without clusters separate just as well: the separation of the two best halves of the
samples must be three and a half standard deviations above that of draws without clusters, which have the covariances of
the data (`manyview.graphs.structureless`). docs/selection.md reports the measurements, and where the choice fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.checks import InputError, check_int
from manyview.graphs.structureless import Rows
from manyview.numerics.division import unit_length_rows
from manyview.partition.agreement import Agreement, ViewGraphs
from manyview.partition.blockmodel import BlockModel, SearchSettings
from manyview.partition.information import label_entropy
from manyview.partition.levels import SMALLEST_CLUSTER, halve, merge
from manyview.partition.spectral import pivoted_kmeans, spectral_embedding
from manyview.records import saved
from manyview.typing import Dense, Indices, Labels

MAX_CLUSTERS = 30  # tried first
MOST_CLUSTERS = 240  # tried at all, unless the user asks for more
NEARBY = 0.2  # difference of the logarithms of similar numbers: a score counts exp(-1/2) for the other
STILL_APART = 0.6  # separation of the finest level from which finer ones are tried: 8 % of the links run between two
MOST_SUGGESTED = 3
LOW = 0.25  # of the score of the best number: numbers with lower scores are not suggested
SHARE = 0.8  # share of the samples in a subgraph
DRAWS = 15  # per kind of data without clusters
MOST_COMPARED = 1000  # samples; more do not make the comparison more certain
CLEARLY = 3.5  # standard deviations
SMALLEST_SHARE = 1e-6


@saved
@dataclass(frozen=True)
class Selection:
    """The numbers of clusters tried, their scores, and the number chosen.

    Attributes
    ----------
    candidates : array of int
        Numbers of clusters, ascending: each from 2 to 30, above that every second, third, ...
    eigengap : array
        Drop from the k-th to the next eigenvalue of the summed graphs. For information: the choice does not use it.
    separation : array
        How far apart the two nearest clusters are, from 0 to 1: the mean over the subgraphs.
    stability : array
        How well the least stable cluster is found again, from 0 to 1: its mean Jaccard index over the subgraphs.
    score : array
        Drop in separation to the next number, times the squared stability, times the entropy of the cluster sizes.
    chosen : int
        The candidate with the highest score around the highest sum of scores; 1 if the data show no clusters.
    suggestions : array of int
        Up to three candidates worth a look, best first: the best around each peak of the sums of scores. The first is
        the chosen one, unless that is 1.
    halves : float
        How far apart the two halves of all samples are, from 0 to 1, if that was compared with chance.
    by_chance : array (15, 2)
        The same for draws without clusters, Gaussian and uniform; empty if there was nothing to draw from, as for
        affinities.
    """

    candidates: NDArray[Any]
    eigengap: NDArray[Any]
    separation: NDArray[Any]
    stability: NDArray[Any]
    score: NDArray[Any]
    chosen: int
    suggestions: NDArray[Any]
    halves: float = np.nan
    by_chance: NDArray[Any] = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Hierarchy:
    """Partitions into ever more clusters, the separation of each, and the eigenvalues of the summed graphs."""

    numbers: NDArray[Any]
    labels: list[Labels]
    separation: Dense
    eigenvalues: Dense


def select_n_clusters(
    graphs: Sequence[sp.csr_array],
    rows: Rows | None = None,
    *,
    max_clusters: int | None = None,
    degree_regularization: float = 1.0,
    repeats: int = 8,
    seed: int = 0,
) -> Selection:
    """Choose the number of clusters by their separation and stability.

    Takes time O(nnz k + n k^2) for each level and subgraph, memory O(nnz + n k), k the largest candidate.

    Parameters
    ----------
    graphs : sequence of sparse affinities (n, n), symmetric and not negative
        The layers of one block model. Samples without links in a graph are left to the other graphs.
    rows : Rows, optional
        The samples, used to draw similar data without clusters. Without them, the answer is always at least two
        clusters.
    max_clusters : int, optional
        The largest candidate, but at most a fifth of the number of samples. By default 30; 60, 120 or 240 if even
        the nearest clusters of the finest level are far apart.
    degree_regularization : float
        tau in ``D + tau * mean(D)``, for the spectral cuts.
    repeats : int
        Number of subgraphs, each of 80% of the samples.
    seed : int
        Seed for drawing the samples of the subgraphs.
    """
    n = graphs[0].shape[0]
    if n < 2 * SMALLEST_CLUSTER:
        raise InputError(
            f"n_samples={n} is too few to choose the number of clusters; give n_clusters, or at least "
            f"{2 * SMALLEST_CLUSTER} samples."
        )
    layers = [W for W in graphs if W.nnz]
    if not layers:
        raise InputError(
            f"No sample has a neighbour in any of the {len(graphs)} graphs, as if all samples were equal, so the "
            "number of clusters cannot be chosen; check the data, or give n_clusters."
        )
    check_int("repeats", repeats, minimum=1)
    whole = hierarchy_to_the_drop(layers, max_clusters, degree_regularization)
    numbers = whole.numbers
    rng = np.random.default_rng(seed)
    subsets = [np.sort(rng.choice(n, int(SHARE * n), replace=False)) for _ in range(repeats)]
    parts = [
        build_hierarchy([sp.csr_array(W[s][:, s]) for W in layers], numbers, degree_regularization) for s in subsets
    ]
    separation = np.mean([part.separation for part in parts], axis=0)
    stability = np.array([worst_found_again(whole, subsets, parts, level) for level in range(len(numbers) - 1)])
    told = np.array([label_entropy(z) for z in whole.labels[:-1]])
    candidates = numbers[:-1]
    score = (separation[:-1] - separation[1:]) * stability**2 * told
    eigengap = whole.eigenvalues[candidates - 1] - whole.eigenvalues[candidates]
    halves, by_chance = (np.nan, np.empty(0)) if rows is None else compare_with_chance(rows, seed)
    best = best_numbers(candidates, score)
    chosen = int(best[0]) if rows is None or clearly_above(halves, by_chance) else 1
    return Selection(candidates, eigengap, separation[:-1], stability, score, chosen, best, halves, by_chance)


def best_numbers(numbers: NDArray[Any], scores: Dense) -> NDArray[Any]:
    """Return the number with the highest score around each peak of the sums of the scores of similar numbers.

    The highest peak comes first. Numbers with much lower scores than its are left out.
    """
    log = np.log(numbers)
    apart = np.abs(log[:, None] - log) / NEARBY
    sums = np.exp(-0.5 * apart**2) @ scores
    rises, falls = np.r_[True, np.diff(sums) > 0], np.r_[np.diff(sums) <= 0, True]
    peaks = sorted(np.flatnonzero(rises & falls), key=lambda i: -sums[i])
    best = [np.where(apart[i] <= 1, scores, -np.inf).argmax() for i in peaks]
    least = min(LOW * scores[best[0]], scores[best[0]])  # even if that is negative
    return numbers[list(dict.fromkeys(i for i in best if scores[i] >= least))[:MOST_SUGGESTED]]


def compare_with_chance(rows: Rows, seed: int) -> tuple[float, Dense]:
    """Return how far apart the halves of (at most some) samples are, and those of draws without clusters."""
    rng = np.random.default_rng(seed)
    if rows.n_samples > MOST_COMPARED:
        rows = rows.part(np.sort(rng.choice(rows.n_samples, MOST_COMPARED, replace=False)))
    by_chance = [separation_of_halves(*drawn.graphs()) for drawn in rows.without_structure(2 * DRAWS, rng)]
    return separation_of_halves(*rows.graphs()), np.reshape(by_chance, (DRAWS, 2))


def separation_of_halves(views: Sequence[sp.csr_array], joint: sp.csr_array | None) -> float:
    """Return how far apart the two best halves of all samples are; 0 if they cannot be halved."""
    model = Agreement.of_views(ViewGraphs.of(views, joint), 2, SearchSettings())
    return max(halve(model, np.arange(views[0].shape[0]))[0], 0.0)


def clearly_above(halves: float, by_chance: Dense) -> bool:
    """Return whether a separation is `CLEARLY` standard deviations above chance (draws x kinds), in log odds."""
    chance = log_odds(by_chance)
    return bool(log_odds(np.array(halves)) > (chance.mean(axis=0) + CLEARLY * chance.std(axis=0, ddof=1)).max())


def log_odds(shares: Dense) -> Dense:
    """Return log(p / (1 - p)), finite at 0 and 1."""
    inside = np.clip(shares, SMALLEST_SHARE, 1 - SMALLEST_SHARE)
    return np.log(inside / (1 - inside))


def worst_found_again(whole: Hierarchy, subsets: Sequence[Labels], parts: Sequence[Hierarchy], level: int) -> float:
    """Return the mean Jaccard index, over the subgraphs, of the least stable cluster of a level."""
    found = [
        found_again(whole.labels[level][subset], part.labels[level], int(whole.numbers[level]))
        for subset, part in zip(subsets, parts, strict=True)
    ]
    return float(np.mean(found, axis=0).min())


def hierarchy_to_the_drop(
    graphs: Sequence[sp.csr_array], max_clusters: int | None, degree_regularization: float
) -> Hierarchy:
    """Partition into up to `max_clusters` and one more; if None, into so many that the separation has dropped."""
    n = graphs[0].shape[0]
    limit = MOST_CLUSTERS if max_clusters is None else check_int("max_clusters", max_clusters, minimum=2)
    limit = min(limit, n // SMALLEST_CLUSTER)
    most = min(limit, MAX_CLUSTERS) if max_clusters is None else limit
    while True:
        found = build_hierarchy(graphs, numbers_up_to(most), degree_regularization)
        if most == limit or found.separation[-1] < STILL_APART:
            return found
        most = min(2 * most, limit)


def numbers_up_to(most: int) -> NDArray[Any]:
    """Return numbers of clusters from 2 to `most`, and one more: all up to 30, every second up to 60, and so on."""
    numbers = [most + 1, most]
    while numbers[-1] > 2:
        numbers.append(max(2, numbers[-1] - 1 - (numbers[-1] - 1) // MAX_CLUSTERS))
    return np.array(numbers[::-1])


def build_hierarchy(graphs: Sequence[sp.csr_array], numbers: NDArray[Any], degree_regularization: float) -> Hierarchy:
    """Partition into each of these numbers of clusters, from the finest level to the coarsest."""
    most = int(numbers[-1])
    values, F = spectral_embedding(total(graphs), most, degree_regularization)
    model = BlockModel.of(graphs, [1.0] * len(graphs), most)
    labels, separation = [], []
    merged: list[Labels] = []
    for c in numbers[::-1].tolist():
        model = replace(model, n_clusters=c)
        starts = [pivoted_kmeans(unit_length_rows(F[:, :c]), c), *(merge_to(model, z) for z in merged)]
        z = max((model.ascend(start) for start in starts), key=lambda found: found.objective).labels
        labels.append(z)
        separation.append(model.nearest_clusters(z)[0])
        merged = [z]
    return Hierarchy(numbers, labels[::-1], np.array(separation[::-1]), values)


def merge_to(model: BlockModel, z: Labels) -> Labels:
    """Merge the two nearest clusters until there are as many as the model has."""
    for c in range(int(z.max()) + 1, model.n_clusters, -1):
        z = merge(z, *replace(model, n_clusters=c).nearest_clusters(z)[1])
    return z


def parts_of(graphs: Sequence[sp.csr_array], samples: Indices) -> list[sp.csr_array]:
    """Return the graphs among some of the samples."""
    return [sp.csr_array(W[samples][:, samples]) for W in graphs]


def total(graphs: Sequence[sp.csr_array]) -> sp.csr_array:
    """Add graphs, each scaled so that its entries add up to 1."""
    return sp.csr_array(sum(W / W.sum() for W in graphs))


def found_again(z: Labels, other: Labels, c: int) -> Dense:
    """Return, for each of the c clusters of z, its Jaccard index with the most similar cluster of `other`."""
    both = np.bincount(z * c + other, minlength=c * c).reshape(c, c)
    either = both.sum(axis=1)[:, None] + both.sum(axis=0) - both
    return (both / np.maximum(either, 1)).max(axis=1)
