"""Filling in missing values from neighbours, for methods that need all of them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from manyview.graphs.incomplete import IncompleteSamples, nearest_shared
from manyview.preprocessing.scaling import Scaler, is_sparse_view, to_unit_distance, without_missing
from manyview.typing import Array, Indices, is_sparse
from manyview.views.container import Views
from manyview.views.presence import present_rows, spread_rows

DONORS = 10
IMPUTATION = f"mean of the {DONORS} nearest samples that have the value"


def fill_in(views: Views) -> Views:
    """Replace missing values with the mean over the nearest samples that have them, for methods that need all values.

    These are the `DONORS` nearest samples present in the view, by distance over shared views; if none of them has the
    value, the feature's mean over all samples is used. Time O(n^2 d) as for a neighbour graph.
    """
    samples = IncompleteSamples([scaled_for_distances(X) for X in views.arrays], views.present)
    return views.replace([_fill_view(X, samples) for X in views.arrays])


def scaled_for_distances(X: Array) -> Array:
    """Scale a view as the methods do by default, to a mean squared distance of 1; missing values become 0, the mean."""
    present = np.flatnonzero(present_rows(X))
    rows = X[present]
    scaled = Scaler.fit(rows, "unit" if is_sparse_view(rows) else "standard").apply(rows)
    return without_missing(spread_rows(to_unit_distance(without_missing(scaled)), present, X.shape[0]))


def _fill_view(X: Array, samples: IncompleteSamples) -> Array:
    values = without_missing(X)
    if is_sparse(X):  # entries not stored are 0, and so are missing values of samples that are present
        lacking, donors = np.flatnonzero(~present_rows(X)), np.flatnonzero(present_rows(X))
        filled = _donor_mean(samples, lacking, donors) @ values
        return sp.csr_array(values + _to_rows(filled, lacking, X.shape[0]))
    observed = ~np.isnan(X)
    lacking, donors = np.flatnonzero(~observed.all(axis=1)), np.flatnonzero(observed.any(axis=1))
    if not len(lacking):
        return X
    P = _donor_mean(samples, lacking, donors)
    share = P @ observed.astype(X.dtype)
    average = values.sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    guess = np.where(share > 0, (P @ values) / np.where(share > 0, share, 1), average)
    filled = X.copy()
    filled[lacking] = np.where(observed[lacking], X[lacking], guess)
    return filled


def _donor_mean(samples: IncompleteSamples, lacking: Indices, donors: Indices) -> sp.csr_array:
    """Return the matrix (lacking x samples) that averages over the nearest donors of each sample."""
    if not len(lacking):
        return sp.csr_array((0, len(samples)), dtype=samples.Z.dtype)
    d, neighbors = nearest_shared(samples[lacking], samples[donors], DONORS)
    known = np.isfinite(d)
    weights = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
    rows = np.repeat(np.arange(len(lacking)), d.shape[1])
    shape = (len(lacking), len(samples))
    return sp.csr_array((weights.ravel().astype(samples.Z.dtype), (rows, donors[neighbors.ravel()])), shape=shape)


def _to_rows(part: sp.csr_array, rows: Indices, n_samples: int) -> sp.csr_array:
    place = sp.csr_array((np.ones(len(rows), part.dtype), (rows, np.arange(len(rows)))), shape=(n_samples, len(rows)))
    return place @ part
