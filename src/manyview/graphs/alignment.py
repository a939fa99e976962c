r"""Shifts and scales of batches, estimated together with groups that the batches share.

Every sample is taken to be near the centre of its group, moved by the shift of its batch:

.. math:: \min_{c, \mu, t} \sum_i |x_i - \mu_{c(i)} - t_{b(i)}|^2.

The groups c are found as by k-means, from the samples as they are when the shifts are taken off; centres and shifts
together are a least squares problem of two factors. So a batch may hold other shares of the groups than the others, or
lack some: only groups that two batches share tell how far these are apart. The centres of the batches alone would take
such differences for shifts.

The sum has many local minima, above all if batches lack groups. So some starts centre the batches, and others put a
random group of each batch on one of the largest batch; the one that ends lowest counts. Minima may be equally low: if
each of three batches lacks another one of three groups, the triangle of the centres fits turned around as well. Among
such minima, smaller shifts are more likely. With n samples, b batches and normal shifts of unknown size, it is

.. math:: n \log \sum_i |x_i - \mu_{c(i)} - t_{b(i)}|^2 + (b - 1) \log \sum_b |t_b|^2

that is least at the most likely one.

Batches also differ in scale: one instrument spreads the same cells twice as far as another, so that no shift puts more
than one group in its place. Given the groups, every batch has a factor u_b on all its values, and

.. math:: \min_{u, \mu, t} \sum_i |u_{b(i)} x_i - \mu_{c(i)} - t_{b(i)}|^2, \qquad \prod_i u_{b(i)} = 1.

It counts how far groups are apart in a batch, and how wide they are. Without the groups, a batch that lacks some would
be blown up. One factor for all columns is well determined even in a small batch; one for each column would not be.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin_min

from manyview.graphs.batches import FEWEST, search_in, standing_apart
from manyview.numerics.division import or_one
from manyview.numerics.rows import row_products
from manyview.typing import Array, Dense, Indices, is_sparse

CENTRED = 5  # starts with centred batches
PAIRED = 20  # starts with groups on each other
ENOUGH = 3000  # samples to compare starts on
ROUNDS = 60  # at most; groups, shifts and scales settle in far fewer
SETTLED = 1e-3  # relative change of a scale that no longer matters


def without_shifts(X: Array, batch: Indices | None, n_groups: int) -> Array:
    """Return the samples without the shifts and scales of their batches; as they are, if no batch stands apart.

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
    return take_off(X, find_groups(centre_batches(X, batch), batch, n_groups, before=X), batch)


def stands_apart(X: Array, batch: Indices) -> bool:
    """Return whether batches are separated in a table; never in a sparse one, nor in one of very few samples."""
    if is_sparse(X) or len(X) <= 2 * FEWEST:
        return False
    return bool(standing_apart(search_in(X), np.unique(batch, return_inverse=True)[1])[0].max() > 0)


def centre_batches(X: Dense, batch: Indices) -> Dense:
    """Take off shifts and scales as if there were only one group: the centres of the batches, and their spreads."""
    return take_off(X, np.zeros(len(X), dtype=np.intp), batch)


def take_off(X: Dense, groups: Indices, batch: Indices) -> Dense:
    """Return the samples without the shifts and scales of their batches, given the groups."""
    batch, Y = large_enough(batch), X.astype(np.float64)
    centres = centres_of(Y, batch)
    Y -= centres[batch]
    Y *= solve_scales(Y, groups, batch)[batch, None]
    Y += centres[batch]  # scaled about its own centre, a batch that shares no group stays where it is
    Y -= solve_shifts(Y, groups, batch)[batch]
    return Y.astype(X.dtype)


def find_groups(X: Dense, batch: Indices, n_groups: int, before: Dense | None = None) -> Indices:
    """Return the group of each sample, from samples in centred batches.

    Parameters
    ----------
    X : (n, d)
        One row per sample, batches centred.
    batch : (n,)
        Batch of each sample.
    n_groups : int
        Number of groups, at most.
    before : (n, any), optional
        The samples before batches were centred: how long shifts are there decides between solutions that fit alike.
        Without it, the one that fits best counts.
    """
    X, batch = X.astype(np.float64), large_enough(batch)
    some = some_of_each(batch, ENOUGH)
    Y, of = X[some], batch[some]
    n_groups = max(1, min(n_groups, len(Y) // FEWEST))
    centred = np.zeros((int(batch.max()) + 1, X.shape[1]))
    starts = [centred] * CENTRED + pair_groups(Y, of, n_groups)
    found = [_settle(Y, of, _k_means(Y - start[of], n_groups, seed).labels_) for seed, start in enumerate(starts)]
    groups = most_likely(found, None if before is None else before[some].astype(np.float64), of)
    if len(some) == len(X):
        return groups
    shifts = solve_shifts(Y, groups, of)
    nearest = pairwise_distances_argmin_min(X - shifts[batch], centres_of(Y - shifts[of], groups))[0]
    return _settle(X, batch, nearest)[1]


def most_likely(found: Sequence[tuple[float, Indices]], before: Dense | None, batch: Indices) -> Indices:
    """Return the groups that leave the least sum of squares; among those that fit alike, the ones of short shifts.

    `found` holds the sum of squares and the groups of each solution, `before` the samples as they were measured.
    """

    def cost(one: tuple[float, Indices]) -> float:
        left, groups = one
        if before is None:
            return left
        length = np.square(solve_shifts(before, groups, batch)).sum()
        return float(len(batch) * log_or_lowest(left) + batch.max() * log_or_lowest(length))

    return min(found, key=cost)[1]


def log_or_lowest(value: float) -> float:
    """Return the logarithm; of 0, that of the smallest number."""
    return float(np.log(max(value, np.finfo(np.float64).tiny)))


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


def solve_scales(X: Dense, groups: Indices, batch: Indices) -> Dense:
    """Solve for the factor of each batch (b,), given the groups and centred batches; the mean logarithm of all is 0.

    Alternates between centres and factors. Given the centres, the best factor of a batch solves a quadratic equation.
    """
    n_batches = int(batch.max()) + 1
    cells, cell_of = np.unique(groups * n_batches + batch, return_inverse=True)
    g, b = np.divmod(cells, n_batches)  # samples of one group in one batch are a cell, and only its sum is needed
    sums, counts, sizes = sum_rows(X, cell_of), np.bincount(cell_of), np.bincount(batch)
    wide = np.bincount(batch, weights=row_products(X, X))
    scales = np.ones(n_batches)
    for _ in range(ROUNDS):
        centres = _cell_centres(sums * scales[b, None], g, b, counts)
        along = np.bincount(b, weights=row_products(sums, centres))
        apart = np.bincount(b, weights=counts * row_products(centres, centres))
        noise = max(float((scales**2 * wide - 2 * scales * along + apart).sum()), 0.0) / len(X)
        before, scales = scales, (along + np.sqrt(along**2 + 4 * wide * sizes * noise)) / or_one(2 * wide)
        scales = or_one(scales)  # a batch whose samples are all equal has no scale
        scales = scales / np.exp(sizes @ np.log(scales) / len(X))  # otherwise all of them would shrink to 0
        if np.abs(np.log(scales / before)).max() < SETTLED:
            break
    return scales


def _cell_centres(sums: Dense, groups: Indices, batch: Indices, counts: Indices) -> Dense:
    """Return the centre of the group of each cell, relative to the mean of the centres over its batch."""
    moved = sums - counts[:, None] * solve_shifts(sums, groups, batch, counts)[batch]
    centres: Dense = (sum_rows(moved, groups) / or_one(np.bincount(groups, counts))[:, None])[groups]
    mean = sum_rows(counts[:, None] * centres, batch) / np.bincount(batch, counts)[:, None]
    return centres - mean[batch]


def solve_shifts(X: Dense, groups: Indices, batch: Indices, counts: Indices | None = None) -> Dense:
    """Solve for the shifts of the batches (b x d), given the groups; their mean over the samples is 0.

    Where batches share no group, the least shift counts. With `counts`, each row is the sum of so many samples.
    """
    cells = np.zeros((int(groups.max()) + 1, int(batch.max()) + 1))
    np.add.at(cells, (groups, batch), 1 if counts is None else counts)
    shares = (cells / np.maximum(cells.sum(axis=1, keepdims=True), 1)).T
    size = cells.sum(axis=0)
    left = sum_rows(X, batch) - shares @ sum_rows(X, groups)
    shifts = np.linalg.pinv(np.diag(size) - shares @ cells, hermitian=True) @ left
    mean: Dense = size @ shifts / size.sum()
    return shifts - mean


def sum_rows(X: Dense, codes: Indices) -> Dense:
    """Sum the rows of each code."""
    n = len(codes)
    return sp.csr_array((np.ones(n), (codes, np.arange(n)))) @ X


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
