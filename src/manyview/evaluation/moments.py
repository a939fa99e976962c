"""Means and effect sizes of features by cluster, from sums that are computed in one pass over a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from manyview.numerics.division import or_one
from manyview.preprocessing.scaling import without_missing
from manyview.typing import Array, Dense, Indices
from manyview.views.presence import present_rows

LEAST_SPREAD = 0.01  # of a feature's deviation: if it is constant within clusters, its effect would be infinite


@dataclass(frozen=True)
class Moments:
    """Number of values, their sum and their sum of squares, of each feature in each cluster (c x d).

    The sums are over ``x / unit - centre``, with one unit and centre per feature, so that squares neither overflow nor
    cancel.
    """

    count: Dense
    total: Dense
    squares: Dense
    unit: Dense
    centre: Dense

    def select(self, columns: Sequence[int]) -> Moments:
        """Return the moments of some of the features."""
        count, total, squares = (part[:, columns] for part in (self.count, self.total, self.squares))
        return Moments(count, total, squares, self.unit[columns], self.centre[columns])

    def inside(self) -> Dense:
        """Mean of each feature in each cluster, in its own units."""
        return (_ratio(self.total, self.count) + self.centre) * self.unit

    def outside(self) -> Dense:
        """Mean of each feature over all other clusters, in its own units."""
        rest = self._rest()
        return (_ratio(rest.total, rest.count) + self.centre) * self.unit

    def spread(self) -> Dense:
        """Return the standard deviation of each feature over all samples, in its own units."""
        whole = self._whole()
        return np.sqrt(_ratio(whole.variation(), whole.count)) * self.unit

    def explained(self) -> Dense:
        """Share of each feature's variation that lies between the clusters (eta squared); NaN for constant features."""
        whole = self._whole().variation()
        varies = whole > 0
        return np.where(varies, 1 - self.variation().sum(axis=0) / or_one(whole), np.nan)

    def effects(self) -> Dense:
        """Cohen's d (c x d): mean inside minus mean outside, over the pooled standard deviation; 0 if unknown."""
        rest, whole = self._rest(), self._whole()
        variance = _ratio(self.variation() + rest.variation(), whole.count - 2)
        least = LEAST_SPREAD**2 * _ratio(whole.variation(), whole.count)
        difference = _ratio(self.total, self.count) - _ratio(rest.total, rest.count)
        known = (self.count > 0) & (rest.count > 0)
        return np.where(known, _ratio(difference, np.sqrt(np.maximum(variance, least))), 0)

    def variation(self) -> Dense:
        """Return the sum of squares about the mean; what could be rounding error counts as 0."""
        left = self.squares - _ratio(self.total**2, self.count)
        return np.where(left > 1e-12 * self.squares, left, 0)

    def _whole(self) -> Moments:
        count, total, squares = (part.sum(axis=0) for part in (self.count, self.total, self.squares))
        return Moments(count, total, squares, self.unit, self.centre)

    def _rest(self) -> Moments:
        count, total, squares = (part.sum(axis=0) - part for part in (self.count, self.total, self.squares))
        return Moments(count, total, squares, self.unit, self.centre)


def table_moments(X: Array, labels: Indices) -> Moments:
    """Compute the moments of the observed values; entries that a sparse table does not store are observed zeros."""
    return (_sparse_moments if sp.issparse(X) else _dense_moments)(X, indicator(labels))


def _dense_moments(X: Array, member: sp.csr_array) -> Moments:
    observed = ~np.isnan(X)
    Y = without_missing(X).astype(float)
    unit = or_one(np.abs(Y).max(axis=0))
    Y /= unit
    centre = _ratio(Y.sum(axis=0), observed.sum(axis=0))
    Y = np.where(observed, Y - centre, 0)
    return Moments(member @ observed.astype(float), member @ Y, member @ Y**2, unit, centre)


def _sparse_moments(X: sp.csr_array, member: sp.csr_array) -> Moments:
    here = present_rows(X)
    lacking = sp.csr_array((np.isnan(X.data).astype(float), X.indices, X.indptr), X.shape)
    count = (member @ here.astype(float))[:, None] - (member[:, here] @ lacking[here]).toarray()
    Y = without_missing(X).astype(float)
    unit = or_one(abs(Y).max(axis=0).toarray().ravel())
    Y = sp.csr_array(Y @ sp.diags_array(1 / unit))
    return Moments(count, (member @ Y).toarray(), (member @ Y.power(2)).toarray(), unit, np.zeros(X.shape[1]))


def indicator(labels: Indices) -> sp.csr_array:
    """Return the clusters x samples matrix of 0 and 1."""
    n = len(labels)
    return sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(int(labels.max()) + 1, n))


def _ratio(a: Dense, b: Dense) -> Dense:
    """Return a / b, or 0 if b is not positive."""
    return np.where(b > 0, a / or_one(b), 0)
