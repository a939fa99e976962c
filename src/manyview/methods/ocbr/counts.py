"""Cleaning of sparse views (counts, text), in which the low-rank model would absorb the signal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.preprocessing.scaling import unit_rows
from manyview.records import saved

BINS = 100
ENTRIES_PER_BIN = 50


@saved
@dataclass(frozen=True)
class CountCleaner:
    """Weights the entries of a sparse view by how likely they are signal, and its features by how rare they are.

    Nothing is cleaned if the table it was fitted on has no negative entries, or as many negative as positive ones,
    because then they are not counts.

    True counts are never negative, so negative entries reveal the noise. If it is symmetric about 0, as many positive
    entries of each size are noise. Among the entries of size t the share of signal is then 1 - #(about -t) / #(about
    t); its odds are multiplied by how many true entries the feature seems to have,
    #(x > 0) - #(x < 0) over the mean of that; and a positive entry x keeps that share of its energy: x sqrt(share).
    """

    edges: NDArray[Any]  # edges of the bins of sizes; empty if nothing is cleaned
    odds: NDArray[np.float64]  # of signal, by bin
    factors: NDArray[np.float64]  # on the odds, by feature
    rarity: NDArray[Any]  # weight of each feature
    typical: float = 1.0  # median of the entries that are left

    @classmethod
    def fit(cls, X: sp.csr_array, *, clean: bool = True, weigh: bool = True) -> CountCleaner:
        """Learn the odds from the entries of X, and the rarity from what is left; `clean` and `weigh` turn them off."""
        positive, negative = X.data[X.data > 0], -X.data[X.data < 0]
        d = X.shape[1]
        cleaner = cls(np.empty(0), np.empty(0), np.ones(d), np.ones(d))
        if clean and 0 < negative.size < positive.size:
            true = np.bincount(X.indices[X.data > 0], minlength=d) - np.bincount(X.indices[X.data < 0], minlength=d)
            true = np.maximum(true, 0.5)
            cleaner = cls(*signal_odds(positive, negative), true / true.mean(), np.ones(d))
        A = cleaner.clean(X)
        left = A.data[A.data > 0]
        typical = float(np.median(left)) if left.size else 1.0
        return replace(cleaner, typical=typical, rarity=rarity(A) if weigh else np.ones(d))

    def clean(self, X: sp.csr_array) -> sp.csr_array:
        """Return X with its entries weighted."""
        if self.edges.size == 0:
            return X
        positive = X.data > 0
        odds = self.odds[np.searchsorted(self.edges, X.data[positive])] * self.factors[X.indices[positive]]
        cleaned = X.copy()
        cleaned.data[positive] *= np.sqrt(odds / (1 + odds)).astype(X.dtype)
        cleaned.data[~positive] = 0
        cleaned.eliminate_zeros()
        return cleaned


def log_rarity_rows(A: sp.csr_array, cleaner: CountCleaner) -> sp.csr_array:
    """Return logarithms of cleaned entries in units of a typical entry, weighted by rarity, in rows of one length."""
    data = np.log1p(np.maximum(A.data, 0) / cleaner.typical) * cleaner.rarity[A.indices]
    return sp.csr_array(unit_rows(sp.csr_array((data.astype(A.dtype), A.indices, A.indptr), A.shape)))


def signal_odds(positive: NDArray[Any], negative: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the odds that a positive entry is signal, by size (edges of bins), given the sizes of noise."""
    bins = min(BINS, negative.size // ENTRIES_PER_BIN + 1)
    edges = np.quantile(negative, np.linspace(0, 1, bins + 1)[1:])
    noise = np.bincount(np.searchsorted(edges, negative), minlength=bins + 1)
    total = np.bincount(np.searchsorted(edges, positive), minlength=bins + 1)
    share = np.clip(1 - (noise + 1) / np.maximum(total, 1), 0, 1 - 1e-6)
    return edges, share / (1 - share)


def rarity(X: sp.csr_array) -> NDArray[Any]:
    """Weight each feature by log((1 + n) / (1 + number of samples that have it)) + 1, the usual idf."""
    n, d = X.shape
    having = np.bincount(X.indices[X.data != 0], minlength=d)
    return np.asarray(np.log((1 + n) / (1 + having)) + 1)
