"""Another partition into the same number of clusters: they are cut into pieces, and the nearest pieces are joined.

Moving samples, or splitting one cluster and merging two others, cannot undo several mistakes at once, such as a group
that was cut in two while two others were merged. Pieces are smaller than these mistakes. The distance of two pieces is
their separation (`BlockModel.nearest_clusters`), which does not depend on their sizes; they are joined by its mean
(average linkage).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from manyview.partition.blockmodel import Ascent, BlockModel, split_in_two
from manyview.partition.information import separations
from manyview.typing import Dense, Labels

DIRECTIONS = 3  # each cluster is cut in two along at most this many: up to eight pieces
MOST_WORK = 5e7  # pieces^3 x layers, because all pairs of pieces are compared; this takes about a fifth of a second


def regroup(model: BlockModel, z: Labels, F: Dense) -> Ascent | None:
    """Return the partition that the pieces of the clusters of z are joined to, after an ascent of J.

    None if there are too many clusters, or they cannot be cut. F (n x k) is an embedding of the samples, used to cut.
    """
    pieces = cut_in_pieces(z, F, how_often(model))
    if pieces.max() + 1 <= model.n_clusters:
        return None
    joined = join_nearest(model, pieces)
    return model.ascend(joined) if len(np.unique(joined)) == model.n_clusters else None


def how_often(model: BlockModel) -> int:
    """Return the number of directions to cut clusters along, so that all pairs of pieces can be compared quickly."""
    work = [(2**m * model.n_clusters) ** 3 * model.n_layers for m in range(1, DIRECTIONS + 1)]
    return sum(one <= MOST_WORK for one in work)


def cut_in_pieces(z: Labels, F: Dense, directions: int) -> Labels:
    """Cut every cluster in two along each of its longest directions in F; number the pieces."""
    pieces = z.astype(np.intp)
    for direction in range(directions):
        half = np.zeros_like(pieces)
        for k in range(int(z.max()) + 1):
            members = np.flatnonzero(z == k)
            half[members] = split_in_two(F[members], direction)
        pieces = 2 * pieces + half
    return np.unique(pieces, return_inverse=True)[1]


def join_nearest(model: BlockModel, pieces: Labels) -> Labels:
    """Join pieces by average linkage, until as many clusters are left as the model has."""
    apart, _ = separations(replace(model, n_clusters=int(pieces.max()) + 1).block_matrices(pieces))
    pairs = squareform(apart, checks=False)  # pragma: no mutate: it is symmetric up to rounding
    tree = linkage(pairs, "average")
    cluster_of_piece = fcluster(tree, model.n_clusters, "maxclust") - 1
    return cluster_of_piece.astype(np.intp)[pieces]
