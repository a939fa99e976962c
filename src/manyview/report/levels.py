"""The tree of nested partitions: where its leaves and merges are drawn. Nothing here draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manyview.partition.levels import Levels
from manyview.typing import Indices, Labels


@dataclass(frozen=True)
class Branch:
    """A cluster of some levels: its height in the tree, the number of clusters where it ends, its fitted cluster.

    `cluster` is None for a branch that holds several of the fitted clusters.
    """

    height: float
    end: float
    cluster: int | None


@dataclass(frozen=True)
class Fork:
    """Two branches that one level joins, between `level` clusters and one more; how far apart they are."""

    level: int
    separation: float
    branches: tuple[Branch, Branch]


@dataclass(frozen=True)
class Tree:
    """A tree from one cluster to the finest level.

    Attributes
    ----------
    fitted : number of clusters of the fit
    sizes, clusters : samples of each leaf, from top to bottom, and the fitted cluster that it belongs to
    forks : from the finest level to the coarsest
    """

    fitted: int
    sizes: Indices
    clusters: Indices
    forks: list[Fork]


def lay_out_tree(levels: Levels, labels: Labels) -> Tree:
    """Return the tree of nested partitions, of which `labels` is one; branches do not cross."""
    _, first = np.unique(levels.labels, return_index=True)
    cluster_of = labels[first]
    order = leaf_order(levels)
    height = np.empty(len(order))
    height[order] = np.arange(len(order))
    branches = [Branch(float(height[piece]), levels.finest, int(cluster_of[piece])) for piece in range(len(order))]
    forks = []
    for i, (p, q) in enumerate(levels.merges):
        level = levels.finest - 1 - i
        pair = branches[p], branches[q]
        forks.append(Fork(level, float(levels.separation[i]), pair))
        same = pair[0].cluster if pair[0].cluster == pair[1].cluster else None
        branches[p] = Branch((pair[0].height + pair[1].height) / 2, between(level), same)
    sizes = np.bincount(levels.labels)
    return Tree(int(labels.max()) + 1, sizes[order], cluster_of[order], forks)


def leaf_order(levels: Levels) -> Indices:
    """Return the pieces in an order in which each cluster of each level is in one run."""
    runs = [[piece] for piece in range(levels.finest)]
    for p, q in levels.merges:
        runs[p] += runs[q]
    return np.array(runs[0])


def between(level: int) -> float:
    """Return where a merge is drawn that leads from level + 1 clusters to `level`, on a logarithmic axis."""
    return float(np.sqrt(level * (level + 1)))
