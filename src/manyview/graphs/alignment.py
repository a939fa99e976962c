r"""Shifts between batches, estimated together with groups that the batches share.

Every sample is taken to be near the centre of its group, moved by the shift of its batch:

.. math:: \min_{c, \mu, t} \sum_i |x_i - \mu_{c(i)} - t_{b(i)}|^2.

The groups c are found as by k-means, from the samples as they are when the shifts are taken off; centres and shifts
together are a least squares problem of two factors. So a batch may hold other shares of the groups than the others, or
lack some: only groups that two batches share tell how far these are apart. The centres of the batches alone would take
such differences for shifts.

The sum has many local minima, above all if batches lack groups. So some starts centre the batches, and others put a
random group of each batch on one of the largest batch; the one that ends lowest counts.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin_min

from manyview.graphs.batches import FEWEST, search_in, standing_apart
from manyview.typing import Array, Dense, Indices, is_sparse

CENTRED = 5  # starts with centred batches
PAIRED = 20  # starts with groups on each other
ENOUGH = 3000  # samples to compare starts on
ROUNDS = 60  # at most; groups and shifts settle in far fewer


def without_shifts(X: Array, batch: Indices | None, n_groups: int) -> Array:
    """Return the samples with the shifts of their batches taken off; as they are, if no batch stands apart.

    Parameters
    ----------
    X : (n, d)
        One row per sample. A sparse table is not changed.
    batch : (n,) or None
        Batch of each sample.
    n_groups : int
        Groups that the batches share, as far as they hold them.
    """
    if batch is None or not stands_apart(X, batch):
        return X
    return take_off(X, find_groups(centre_batches(X, batch), batch, n_groups), batch)


def stands_apart(X: Array, batch: Indices) -> bool:
    """Return whether batches are separated in a table; never in a sparse one, nor in one of very few samples."""
    if is_sparse(X) or len(X) <= 2 * FEWEST:
        return False
    return bool(standing_apart(search_in(X), np.unique(batch, return_inverse=True)[1])[0].max() > 0)


def centre_batches(X: Dense, batch: Indices) -> Dense:
    """Take off the shifts as if there were only one group: the centres of the batches."""
    return take_off(X, np.zeros(len(X), dtype=np.intp), batch)


def take_off(X: Dense, groups: Indices, batch: Indices) -> Dense:
    """Return the samples without the shifts of their batches, given the groups."""
    batch = large_enough(batch)
    shifts = solve_shifts(X.astype(np.float64), groups, batch)
    return X - shifts.astype(X.dtype)[batch]


def find_groups(X: Dense, batch: Indices, n_groups: int) -> Indices:
    """Return the group of each sample, from samples in centred batches."""
    X, batch = X.astype(np.float64), large_enough(batch)
    some = some_of_each(batch, ENOUGH)
    Y, of = X[some], batch[some]
    n_groups = max(1, min(n_groups, len(Y) // FEWEST))
    centred = np.zeros((int(batch.max()) + 1, X.shape[1]))
    starts = [centred] * CENTRED + pair_groups(Y, of, n_groups)
    found = (_settle(Y, of, _k_means(Y - start[of], n_groups, seed).labels_) for seed, start in enumerate(starts))
    groups = min(found, key=lambda one: one[0])[1]
    if len(some) == len(X):
        return groups
    shifts = solve_shifts(Y, groups, of)
    nearest = pairwise_distances_argmin_min(X - shifts[batch], centres_of(Y - shifts[of], groups))[0]
    return _settle(X, batch, nearest)[1]


def pair_groups(X: Dense, batch: Indices, n_groups: int) -> list[Dense]:
    """Return shifts (b x d) that put a random group of each batch on a random one of the largest batch."""
    rng, sizes = np.random.default_rng(0), np.bincount(batch)
    centres = [
        _k_means(X[batch == b], min(n_groups, size // FEWEST), seed=0).cluster_centers_ for b, size in enumerate(sizes)
    ]
    largest = centres[sizes.argmax()]
    return [np.array([rng.choice(own) for own in centres]) - rng.choice(largest, len(sizes)) for _ in range(PAIRED)]


def _k_means(X: Dense, n_groups: int, seed: int) -> KMeans:
    return KMeans(n_groups, n_init=1, random_state=seed).fit(X)


def _settle(X: Dense, batch: Indices, groups: Indices) -> tuple[float, Indices]:
    """Alternate between shifts and groups; return the sum of squares that is left, and the groups."""
    for _ in range(ROUNDS):
        moved = X - solve_shifts(X, groups, batch)[batch]
        before, (groups, distances) = groups, pairwise_distances_argmin_min(moved, centres_of(moved, groups))
        groups = np.unique(groups, return_inverse=True)[1]  # none is empty
        if np.array_equal(before, groups):
            break
    return float((distances**2).sum()), groups


def centres_of(X: Dense, groups: Indices) -> Dense:
    """Return the mean of each group."""
    return sum_rows(X, groups) / np.bincount(groups)[:, None]


def solve_shifts(X: Dense, groups: Indices, batch: Indices) -> Dense:
    """Solve for the shifts of the batches (b x d), given the groups; their mean over the samples is 0.

    Where batches share no group, the least shift counts.
    """
    counts = np.zeros((int(groups.max()) + 1, int(batch.max()) + 1))
    np.add.at(counts, (groups, batch), 1)
    shares = (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).T
    size = counts.sum(axis=0)
    left = sum_rows(X, batch) - shares @ sum_rows(X, groups)
    shifts = np.linalg.pinv(np.diag(size) - shares @ counts, hermitian=True) @ left
    mean: Dense = size @ shifts / size.sum()
    return shifts - mean


def sum_rows(X: Dense, codes: Indices) -> Dense:
    """Sum the rows of each code."""
    n = len(codes)
    return sp.csr_array((np.ones(n), (codes, np.arange(n))), shape=(int(codes.max()) + 1, n)) @ X


def large_enough(batch: Indices) -> Indices:
    """Return batches numbered from 0; those of fewer than `FEWEST` samples count to the largest one."""
    codes = np.unique(batch, return_inverse=True)[1]
    sizes = np.bincount(codes)
    return np.unique(np.where(sizes[codes] < FEWEST, sizes.argmax(), codes), return_inverse=True)[1]


def some_of_each(batch: Indices, most: int) -> Indices:
    """Return all samples or, if there are more than `most`, the same share of each batch, but `FEWEST` at least."""
    if len(batch) <= most:
        return np.arange(len(batch))
    rng, drawn = np.random.default_rng(0), []
    for b, size in enumerate(np.bincount(batch)):
        drawn.append(rng.permutation(np.flatnonzero(batch == b))[: max(FEWEST, most * size // len(batch))])
    return np.sort(np.concatenate(drawn))
