"""Nested partitions around a given one: coarser by merging its nearest clusters, finer by halving them.

The distance of two clusters is their separation in the graphs (`agreement`): the information lost by merging them,
relative to the entropy of the labels lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyview.checks import InputError, check_int
from manyview.numerics.division import unit_length_rows
from manyview.partition.agreement import Agreement, ViewGraphs, mean_graph
from manyview.partition.blockmodel import SearchSettings
from manyview.partition.information import separations
from manyview.partition.spectral import number_by_size, pivoted_kmeans, spectral_embedding
from manyview.records import saved
from manyview.typing import Dense, Graph, Indices, Labels

SMALLEST_CLUSTER = 5  # samples: neighbours do not reveal smaller ones


@saved
@dataclass(frozen=True)
class Levels:
    """Nested partitions, from the finest to one cluster: each merges two clusters of the previous one.

    Attributes
    ----------
    labels : array (n_samples,) of int
        The finest partition. Its clusters are called pieces here.
    merges : array (n_pieces - 1, 2) of int
        Row i leads from n_pieces - i clusters to one fewer: the two clusters that contain these pieces are merged. Each
        cluster is named after the first of its pieces.
    separation : array (n_pieces - 1,)
        How far apart the two are, from 0 to 1, in the same order.
    """

    labels: Labels
    merges: NDArray[Any]
    separation: Dense

    @property
    def finest(self) -> int:
        """Number of pieces."""
        return len(self.merges) + 1

    def cut(self, n_clusters: int) -> Labels:
        """Return the partition into this many clusters, numbered by size."""
        check_int("n_clusters", n_clusters, minimum=1)
        if n_clusters > self.finest:
            raise InputError(
                f"n_clusters={n_clusters} is more than the {self.finest} of the finest level; choose fewer, or fit "
                "with a larger max_clusters."
            )
        return number_by_size(self.cluster_of_piece(n_clusters)[self.labels])

    def cluster_of_piece(self, n_clusters: int) -> Indices:
        """Return, for each piece, the first piece of its cluster."""
        cluster = np.arange(self.finest)
        for p, q in self.merges[: self.finest - n_clusters]:
            cluster[cluster == q] = p
        return cluster

    def separation_of(self, n_clusters: int) -> float:
        """Return the separation of the two clusters that are merged next, from this many clusters to one fewer."""
        return float(self.separation[self.finest - n_clusters])


def build_levels(views: Sequence[Graph], joint: Graph | None, z: Labels, most: int) -> Levels:
    """Return nested partitions into at most max(most, c) clusters; the one into c clusters is z itself.

    Parameters
    ----------
    views, joint : sparse symmetric affinities (n, n), as for `find_agreement`
    z : labels (n,) from 0 to c - 1, none left out
    most : clusters at the finest level, if that many can be distinguished
    """
    model = Agreement.of_views(ViewGraphs.of(views, joint), int(z.max()) + 1, SearchSettings())
    pieces = split(model, z, most)
    merges, separation = merge_all(model, pieces, z)
    return Levels(pieces, merges, separation)


def split(model: Agreement, z: Labels, most: int) -> Labels:
    """Repeatedly halve the cluster whose halves are farthest apart, until there are `most`."""
    pieces = z.astype(np.int32)
    n_pieces = int(z.max()) + 1
    if n_pieces >= most:
        return pieces
    halves = [halve(model, np.flatnonzero(pieces == k)) for k in range(n_pieces)]
    while len(halves) < most:
        k = int(np.argmax([apart for apart, _ in halves]))
        apart, second = halves[k]
        if apart < 0:
            break
        pieces[second] = len(halves)
        halves[k] = halve(model, np.flatnonzero(pieces == k))
        halves.append(halve(model, second))
    return pieces


def halve(model: Agreement, members: Indices) -> tuple[float, Indices]:
    """Return how far apart the two halves of a cluster are, and the members of one; -1 if it cannot be halved."""
    none = -1.0, members[:0]
    if len(members) < 2 * SMALLEST_CLUSTER:
        return none
    within = model.among(members, 2)
    total = mean_graph(within.graphs)
    if total.nnz == 0:
        return none
    _, F = spectral_embedding(total, 2, model.settings.degree_regularization)
    half = within.ascend(pivoted_kmeans(unit_length_rows(F), 2)).labels
    if np.bincount(half).min() < SMALLEST_CLUSTER:
        return none
    return within.nearest_clusters(half)[0], members[half == 1]


def merge_all(model: Agreement, pieces: Labels, home: Labels) -> tuple[NDArray[Any], Dense]:
    """Merge the two nearest clusters until one is left; those within a cluster of `home` come first."""
    name = np.arange(int(pieces.max()) + 1)
    _, first = np.unique(pieces, return_index=True)
    home, z = home[first], pieces
    merges, separation = [], []
    while len(name) > 1:
        apart = np.minimum(separations(replace(model, n_clusters=len(name)).block_matrices(z))[0], 1)
        together = np.triu(home[:, None] == home, 1)
        allowed = together if together.any() else np.triu(np.ones_like(together), 1)
        p, q = np.unravel_index(np.where(allowed, apart, np.inf).argmin(), apart.shape)
        merges.append((name[p], name[q]))
        separation.append(apart[p, q])
        z = merge(z, int(p), int(q))
        name, home = np.delete(name, q), np.delete(home, q)
    return np.array(merges, dtype=np.int32).reshape(-1, 2), np.array(separation)


def merge(z: Labels, p: int, q: int) -> Labels:
    """Merge clusters p < q, and close the gap in the labels."""
    merged = np.where(z == q, p, z)
    return merged - (merged > q)
