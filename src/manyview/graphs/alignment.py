r"""Shifts between batches, estimated together with groups that the batches share.

Every sample is taken to be near the centre of its group, moved by the shift of its batch:

.. math:: \min_{c, \mu, t} \sum_i |x_i - \mu_{c(i)} - t_{b(i)}|^2.

The groups c are found as by k-means, from the samples as they are when the shifts are taken off; centres and shifts
together are a least squares problem of two factors. So a batch may hold other shares of the groups than the others, or
lack some: only groups that two batches share tell how far these are apart. The centres of the batches alone would take
such differences for shifts.
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin_min

from manyview.graphs.batches import FEWEST, search_in, standing_apart
from manyview.typing import Array, Dense, Indices, is_sparse

STARTS = 5  # of k-means; the best fit counts
ROUNDS = 60  # at most; groups and shifts settle in far fewer


def without_shifts(X: Array, batch: Indices | None, n_groups: int) -> Array:
    """Return the samples with the shifts of their batches taken off; as they are, if no batch stands apart.

    A batch of fewer than `FEWEST` samples counts to the largest one. A sparse table is not changed.

    Parameters
    ----------
    X : (n, d)
        One row per sample.
    batch : (n,) or None
        Batch of each sample.
    n_groups : int
        Groups that the batches share, as far as they hold them.
    """
    if batch is None or is_sparse(X) or len(X) <= 2 * FEWEST:
        return X
    codes = np.unique(batch, return_inverse=True)[1]
    if standing_apart(search_in(X), codes)[0].max() == 0:
        return X
    sizes = np.bincount(codes)
    known = np.unique(np.where(sizes[codes] < FEWEST, sizes.argmax(), codes), return_inverse=True)[1]
    shifts = find_shifts(X, known, max(1, min(n_groups, len(X) // FEWEST)))
    return X - shifts.astype(X.dtype)[known]


def find_shifts(X: Dense, batch: Indices, n_groups: int) -> Dense:
    """Return the shift of each batch (b x d); their mean over the samples is 0."""
    X = X.astype(np.float64)
    centred = np.array([X[batch == b].mean(axis=0) for b in range(int(batch.max()) + 1)]) - X.mean(axis=0)
    found = (_descend(X, batch, n_groups, centred, seed) for seed in range(STARTS))
    return min(found, key=lambda one: one[0])[1]


def _descend(X: Dense, batch: Indices, n_groups: int, shifts: Dense, seed: int) -> tuple[float, Dense]:
    """Alternate between groups and shifts; return the sum of squares that is left, and the shifts."""
    start = KMeans(n_groups, n_init=1, random_state=seed).fit(X - shifts[batch])
    groups, centres = start.labels_, start.cluster_centers_
    for _ in range(ROUNDS):
        shifts = solve_shifts(X, groups, batch, n_groups)
        moved = X - shifts[batch]
        held = np.unique(groups)
        centres[held] = [moved[groups == g].mean(axis=0) for g in held]
        before, (groups, distances) = groups, pairwise_distances_argmin_min(moved, centres)
        if np.array_equal(before, groups):
            break
    return float((distances**2).sum()), shifts


def solve_shifts(X: Dense, groups: Indices, batch: Indices, n_groups: int) -> Dense:
    """Solve for the shifts of the batches, given the groups; where batches share no group, the least shift counts."""
    n_batches = int(batch.max()) + 1
    counts = np.zeros((n_groups, n_batches))
    np.add.at(counts, (groups, batch), 1)
    of_batches, of_groups = (sum_rows(X, codes, size) for codes, size in ((batch, n_batches), (groups, n_groups)))
    shares = (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).T
    size = counts.sum(axis=0)
    shifts = np.linalg.pinv(np.diag(size) - shares @ counts, hermitian=True) @ (of_batches - shares @ of_groups)
    mean: Dense = size @ shifts / size.sum()
    return shifts - mean


def sum_rows(X: Dense, codes: Indices, n_codes: int) -> Dense:
    """Sum the rows of each code."""
    total = np.zeros((n_codes, X.shape[1]))
    np.add.at(total, codes, X)
    return total
