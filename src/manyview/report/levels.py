"""Layout of the tree of nested partitions: the positions of its leaves and merges. Nothing here draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manyview.partition.levels import Levels
from manyview.typing import Indices, Labels


@dataclass(frozen=True)
class Branch:
    """A cluster that spans some levels: its height in the tree, the level where it ends, and its fitted cluster.

    `cluster` is None for a branch that contains several of the fitted clusters.
    """

    height: float
    end: float
    cluster: int | None


@dataclass(frozen=True)
class Fork:
    """Two branches merged on the way from ``level + 1`` clusters to `level`, and how far apart they are."""

    level: int
    separation: float
    branches: tuple[Branch, Branch]


@dataclass(frozen=True)
class Tree:
    """A tree from one cluster to the finest level.

    Attributes
    ----------
    fitted : number of clusters of the fit
    sizes, clusters : number of samples in each leaf, from top to bottom, and the fitted cluster it belongs to
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
    """Return the pieces in an order that keeps each cluster of each level contiguous."""
    runs = [[piece] for piece in range(levels.finest)]
    for p, q in levels.merges:
        runs[p] += runs[q]
    return np.array(runs[0])


def between(level: int) -> float:
    """Return the position, on a logarithmic axis, of the merge from level + 1 clusters to `level`."""
    return float(np.sqrt(level * (level + 1)))
