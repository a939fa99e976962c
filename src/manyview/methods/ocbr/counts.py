"""Cleaning of sparse views (counts, text), where the low-rank model would swallow the signal."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.views import Array

BINS = 100
ENTRIES_PER_BIN = 50


def clean_counts(X: Array) -> sp.csr_array:
    """Weigh the entries of a sparse view by how likely they are signal.

    X stays as it is without negative entries, and where half of them or more are negative: these are no counts.

    Counts have no negative entries, so those that there are show the noise, and noise that is symmetric about 0
    hides as many positive ones of each size. Among the entries of size t the share of signal is then
    1 - #(about -t) / #(about t); its odds are multiplied by how many true entries the feature seems to hold,
    #(x > 0) - #(x < 0) over the mean of that; and a positive entry x keeps that share of its energy: x sqrt(share).
    """
    X = sp.csr_array(X)
    negative = -X.data[X.data < 0]
    positive = X.data > 0
    if negative.size == 0 or negative.size >= np.count_nonzero(positive):
        return X
    odds = signal_odds(X.data[positive], negative)
    column = X.indices[positive]
    d = X.shape[1]
    true = np.bincount(column, minlength=d) - np.bincount(X.indices[X.data < 0], minlength=d)
    true = np.maximum(true, 0.5)
    odds *= (true / true.mean())[column]
    cleaned = X.copy()
    cleaned.data[positive] *= np.sqrt(odds / (1 + odds)).astype(X.dtype)
    cleaned.data[~positive] = 0
    cleaned.eliminate_zeros()
    return cleaned


def signal_odds(positive: NDArray[Any], negative: NDArray[Any]) -> NDArray[np.float64]:
    """Return the odds that a positive entry is signal, by its size, from sizes of entries that are noise."""
    bins = min(BINS, negative.size // ENTRIES_PER_BIN + 1)
    edges = np.quantile(negative, np.linspace(0, 1, bins + 1)[1:])
    bin_of = np.searchsorted(edges, positive)
    noise = np.bincount(np.searchsorted(edges, negative), minlength=bins + 1)
    total = np.bincount(bin_of, minlength=bins + 1)
    share = np.clip(1 - (noise + 1) / np.maximum(total, 1), 0, 1 - 1e-6)
    return (share / (1 - share))[bin_of]


def weigh_by_rarity(X: sp.csr_array) -> sp.csr_array:
    """Multiply each feature by log((1 + n) / (1 + number of samples that have it)) + 1, the usual idf."""
    n, d = X.shape
    having = np.bincount(X.indices[X.data != 0], minlength=d)
    idf = (np.log((1 + n) / (1 + having)) + 1).astype(X.dtype)
    return sp.csr_array((X.data * idf[X.indices], X.indices, X.indptr), X.shape)
