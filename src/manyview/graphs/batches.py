r"""Neighbours across batches: if batches are separated in the data, neighbours are drawn from each in turn.

If there is a shift between batches, a sample's nearest neighbours are in its own batch, and clusters reproduce the
batches. Shifts and scales that are the same for all groups are taken off first (`alignment`). Three steps correct what
remains, without labels:

1. Which batches *stand apart*? For a sample i and its nearest one j in another batch, take how much farther i is from
   the batch of j than from its own, times how much farther j is from the batch of i than from its own. How many samples
   there are of each batch cancels out, also if batches hold different shares of the types. Two batches stand apart if
   the product is above 1 even for the nearest tenth of their samples; a tenth, because samples of a type that the
   other batch lacks are far from it without any shift. Batches that do not stand apart count as one; if only one is
   left, neighbours are the usual ones.
2. Each sample gets neighbours from every batch, the nearest ones there: as many as its share of the samples, and at
   least two. With the same number from all, the samples of a small batch would be neighbours of everyone.
3. The distances to another batch are divided by how much farther it is than the own one, so that all batches count
   alike. That is done only if the sample is also near to its neighbour, seen from there; a sample of a type that the
   other batch lacks is not, and keeps its long distance.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from scipy.sparse.csgraph import connected_components

from manyview.graphs.neighbors import NeighborIndex, k_smallest, nearest_neighbors
from manyview.numerics.division import or_one
from manyview.preprocessing.scaling import in_unit, safe_unit
from manyview.typing import Array, Dense, Indices, Mask

Search = Callable[[Indices, int], tuple[Dense, Indices]]
"""Distances and indices (n x k) of the k nearest of some samples (their indices) to all n; a sample may find itself."""

WITNESSES = 3  # batches are compared by the distance to this many neighbours
FEWEST = 10  # samples; too little is known about a smaller batch to call it separate
NEAREST_SHARE = 0.1  # two batches are judged by this share of their samples
PER_BATCH = 2  # neighbours from each batch, at least
SLACK = 2.0  # this many times more samples may be near a neighbour than it has neighbours itself


def neighbors_of(X: Array, k: int, batch: Indices | None = None) -> tuple[Dense, Indices]:
    """Distances and indices of the k nearest other samples, nearest first; with batches, drawn from each in turn.

    With batches there may be more than k, so that every batch has two, and distances are those of step 3. Takes twice
    the time of the usual search, and memory O(n b) for b batches.
    """
    if batch is None or X.shape[0] <= 2 * FEWEST:
        return nearest_neighbors(X, k)
    found = draw_neighbors(search_in(X), k, batch)
    return nearest_neighbors(X, k) if found is None else found


def search_in(X: Array) -> Search:
    """Return a function that searches among the rows of a table."""
    Z = in_unit(X, safe_unit(X))  # one unit for all batches

    def search(members: Indices, k: int) -> tuple[Dense, Indices]:
        distances, found = NeighborIndex(Z[members], Z.shape[0], typical=Z).query(Z, k)
        return distances, members[found]

    return search


def draw_neighbors(search: Search, k: int, batch: Indices) -> tuple[Dense, Indices] | None:
    """Draw neighbours from each separate batch; None if there is none, so that the usual neighbours are right."""
    groups, dimension = standing_apart(search, np.unique(batch, return_inverse=True)[1])
    members = [np.flatnonzero(groups == g) for g in range(int(groups.max()) + 1)]
    if len(members) == 1:
        return None
    wanted = [max(PER_BATCH, -(-k * len(some) // len(groups))) for some in members]
    drawn = [_nearest_others(search, some, min(n, len(some) - 1)) for some, n in zip(members, wanted, strict=True)]
    distances = _comparable([d for d, _ in drawn], [j for _, j in drawn], groups, dimension)
    nearest, order = k_smallest(distances, distances.shape[1])
    return nearest, np.take_along_axis(np.hstack([j for _, j in drawn]), order, axis=1)


def standing_apart(search: Search, codes: Indices) -> tuple[Indices, float]:
    """Return the group of each sample (batches that do not stand apart form one), and the intrinsic dimension."""
    n, sizes = len(codes), np.bincount(codes)
    reach, nearest = np.full((n, len(sizes)), np.inf), np.zeros((n, len(sizes)), dtype=np.intp)
    own = np.full((n, WITNESSES), np.inf)
    for b in np.flatnonzero(sizes >= FEWEST):
        d, j = _nearest_others(search, np.flatnonzero(codes == b), WITNESSES)
        reach[:, b], nearest[:, b] = d[:, -1], j[:, 0]
        own[codes == b] = d[codes == b]
    apart = _pairs_apart(reach, nearest, codes)
    known = np.flatnonzero(sizes >= FEWEST)
    group_of = np.full(len(sizes), -1)
    group_of[known] = connected_components(~apart[np.ix_(known, known)])[1]
    if len(known):  # too little is known about a small batch: it joins the largest group
        counts = np.bincount(group_of[known], weights=sizes[known])
        group_of[group_of < 0] = counts.argmax()
    return np.maximum(group_of, 0)[codes], intrinsic_dimension(own)


def _pairs_apart(reach: Dense, nearest: Indices, codes: Indices) -> Mask:
    """Return whether two batches (b x b) stand apart, from the reach of all samples into all batches (step 1)."""
    n_batches = reach.shape[1]
    own = np.take_along_axis(reach, codes[:, None], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        back = reach[nearest, codes[:, None]] / reach[nearest, np.arange(n_batches)]
        product = reach / own * back
    apart = np.zeros((n_batches, n_batches), dtype=bool)
    for a, b in combinations(range(n_batches), 2):
        both = np.r_[product[codes == a, b], product[codes == b, a]]
        both = both[np.isfinite(both)]
        apart[a, b] = apart[b, a] = len(both) >= FEWEST and np.quantile(both, NEAREST_SHARE) > 1
    return apart


def intrinsic_dimension(distances: Dense) -> float:
    """Maximum likelihood estimate (Levina and Bickel 2004) from ascending distances to a few neighbours (n x m)."""
    usable = np.isfinite(distances[:, -1]) & (distances[:, 0] > 0)
    if not usable.any():
        return 1.0
    d = distances[usable]
    return float(1 / max(np.mean(np.log(d[:, -1:] / d[:, :-1])), np.finfo(np.float64).eps))


def _nearest_others(search: Search, members: Indices, k: int) -> tuple[Dense, Indices]:
    """Return the k nearest members, or all if there are fewer; the sample itself is infinitely far away."""
    d, neighbors = search(members, min(k + 1, len(members)))
    d = np.where(neighbors == np.arange(len(d))[:, None], np.inf, d)
    nearest, order = k_smallest(d, min(k, d.shape[1]))
    return nearest, np.take_along_axis(neighbors, order, axis=1)


def _comparable(distances: list[Dense], neighbors: list[Indices], groups: Indices, dimension: float) -> Dense:
    """Return all distances, those to other groups divided by how much farther away these are (step 3)."""
    reach = np.column_stack([d[:, -1] for d in distances])  # of every sample into every group
    own = np.take_along_axis(reach, groups[:, None], axis=1)
    with np.errstate(invalid="ignore"):
        farther = np.nan_to_num(np.maximum(reach / or_one(own), 1), nan=1.0, posinf=1.0)
    taken = np.array([d.shape[1] for d in distances]) / np.bincount(groups)  # share of each group that is drawn
    parts = []
    for g, (d, j) in enumerate(zip(distances, neighbors, strict=True)):
        widened = np.maximum(1, SLACK * taken[g] / taken[groups])[:, None] ** (1 / dimension)
        near = d <= reach[j, groups[:, None]] * widened
        parts.append(np.where(near, d / farther[:, [g]], d))
    return np.hstack(parts)
