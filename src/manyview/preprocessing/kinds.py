"""What a view is: features, coordinates, counts, a composition, a graph, ... judged by its values, with the reason.

A view of no special kind is a table of features. The rules still work if a fifth of the entries are wrong or missing: a
property of all entries is only required of three quarters of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata, spearmanr

from manyview.checks import InputError, InputTypeError, a_type_of, check_choice, quoted, shown
from manyview.numerics.blocks import Table, largest_magnitudes, standard_deviations
from manyview.preprocessing.scaling import is_sparse_view, without_extremes, without_missing
from manyview.records import saved
from manyview.typing import Array, Dense, is_sparse
from manyview.views import Views

FEATURES, COORDINATES, COMPOSITION, AFFINITIES = "features", "coordinates", "composition", "affinities"
COUNTS, BINARY, SPARSE, GRAPH = "counts", "binary", "sparse", "graph"
SPARSE_KINDS = (COUNTS, BINARY, SPARSE, GRAPH)
KINDS = (FEATURES, COORDINATES, COMPOSITION, AFFINITIES, *SPARSE_KINDS)

MOSTLY = 0.75  # share of the entries that must have a property; errors in a fifth of them leave at least that
WHOLE_SHARE = 0.1  # share of non-zero entries that must be whole numbers; counts with heavy errors have no more
FEW_LARGER = 0.01  # larger whole numbers relative to ones; with fewer, a sparse view is binary
LOOSE_LINKS = 0.25  # share of the samples that each is linked to; with more, the table describes all pairs
LOOKED_AT = (5000, 300)  # rows and columns used to estimate correlations
UNCORRELATED = 0.12  # root mean square correlation of the columns of coordinates, without sampling noise
FALLING = 1.5  # variance of the first tenth of the coordinates over that of the last tenth
FEWEST_COORDINATES = 5  # columns; among fewer, falling variance is no evidence
TREND_P_VALUE = 0.1
SAME_SUM = 1e-4  # row sums that differ by less than this share are equal
FEWEST_SAME = 5  # rows


@saved
@dataclass(frozen=True)
class Kind:
    """What a view is, and a sentence for the user that says why."""

    name: str
    reason: str

    @property
    def is_sparse(self) -> bool:
        """Whether features are weighted by rarity and samples compared by direction."""
        return self.name in SPARSE_KINDS


@dataclass(frozen=True)
class _KindsRule:
    """None, or a mapping of views' names to kinds."""

    def check(self, name: str, value: object) -> object:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise InputTypeError(
                f"{name}={shown(value)} is {a_type_of(value)}; give a dict such as {{'rna': 'counts'}}."
            )
        return [check_choice(name, kind, KINDS) for kind in value.values()]


KINDS_RULE = _KindsRule()


def check_kind_names(views: Views, given: Mapping[str, str] | None) -> None:
    """Refuse kinds for views that do not exist."""
    unknown = [name for name in given or {} if name not in views.names]
    if unknown:
        raise InputError(f"kinds names an unknown view {quoted(unknown)}; the views are {quoted(views.names)}.")


def recognize_kinds(views: Views, given: Mapping[str, str] | None = None) -> dict[str, Kind]:
    """Return the kind of each view by name: as given, otherwise recognised."""
    given = given or {}
    return {name: Kind(given[name], "as given") if name in given else recognize_kind(X) for name, X in views.items()}


def recognize_kind(X: Array) -> Kind:
    """Recognise what a view is from its values alone. Rows of NaN must be left out."""
    n, d = X.shape
    X = without_extremes(X)
    if n == d > 2 and is_affinity(X):
        links = (X.nnz if is_sparse(X) else int(np.count_nonzero(X))) / n
        square = "square, symmetric, no negative entries"
        if links > LOOSE_LINKS * n:
            return Kind(AFFINITIES, f"affinities of all pairs: {square}; treated as features")
        return Kind(GRAPH, f"graph: {square}, {links:.0f} links per sample")
    if is_sparse_view(X):
        return recognize_sparse(X)
    known = max(X.size - np.count_nonzero(np.isnan(X)), 1)
    ones = np.count_nonzero(X == 1) / known
    if np.count_nonzero(X == 0) / known + ones >= MOSTLY:
        return Kind(BINARY, f"binary: {ones:.0%} of the entries are 1, the others 0")
    total = common_row_sum(X)
    if total is not None:
        return Kind(COMPOSITION, f"composition: {d} non-negative parts that add up to {total:.4g} in each sample")
    return recognize_columns(X)


def is_affinity(X: Array) -> bool:
    """Whether a square table is symmetric and has no negative entry."""
    W = sp.csr_array(without_missing(X))
    if W.nnz == 0 or W.data.min() < 0:
        return False
    return float(abs(W - W.T).max()) <= 1e-5 * float(W.data.max())


def recognize_sparse(X: Array) -> Kind:
    """Distinguish binary tables, counts and other sparse data; all are treated alike."""
    values = X.data if is_sparse(X) else X[X != 0]
    values = values[np.isfinite(values) & (values != 0)]
    zeros = 1 - values.size / (X.shape[0] * X.shape[1])
    ones = int(np.sum(values == 1))
    larger = int(np.sum((values > 1) & (values == np.round(values))))
    if ones + larger < WHOLE_SHARE * values.size:
        return Kind(SPARSE, f"sparse measurements: {zeros:.1%} of the entries are 0")
    if larger < FEW_LARGER * ones:
        return Kind(BINARY, f"binary: {zeros:.1%} of the entries are 0, the others 1")
    return Kind(COUNTS, f"counts: {zeros:.1%} of the entries are 0, the others whole numbers")


def common_row_sum(X: Dense) -> float | None:
    """Return the sum of the rows of a non-negative table if most rows share it; otherwise None.

    Repeated rows have equal sums anyway, so only distinct rows count.
    """
    complete = ~np.isnan(X).any(axis=1)
    rows = X if complete.all() else X[complete]
    if len(rows) < FEWEST_SAME or float(np.mean(rows >= 0)) < MOSTLY:
        return None
    sums = rows.sum(axis=1, dtype=np.float64)
    total = float(np.median(sums))
    same = np.abs(sums - total) <= SAME_SUM * abs(total)
    distinct = len(np.unique(rows[same][:, : min(rows.shape[1], 2)], axis=0))
    return total if total > 0 and min(int(same.sum()), 4 * distinct) >= max(FEWEST_SAME, MOSTLY * len(rows)) else None


def recognize_columns(X: Table) -> Kind:
    """Distinguish coordinates (uncorrelated columns of falling variance) from features."""
    sd, largest = standard_deviations(X), largest_magnitudes(X)
    varies = sd > 1e-6 * np.nan_to_num(largest)
    sd, d = sd[varies], int(varies.sum())
    if d >= FEWEST_COORDINATES:
        tenth = max(1, d // 10)
        fall = float(np.mean(sd[:tenth] ** 2) / np.mean(sd[-tenth:] ** 2))
        trend = spearmanr(np.arange(d), sd)
        if fall > FALLING and trend.statistic < 0 and trend.pvalue < TREND_P_VALUE:
            level = correlation_level(X[: LOOKED_AT[0], varies])
            if level < UNCORRELATED:
                return Kind(COORDINATES, f"coordinates: {d} uncorrelated columns, variance falls {fall:.1f}-fold")
    return Kind(FEATURES, f"features: {d} columns that vary" + ("" if d == X.shape[1] else f" of {X.shape[1]}"))


def correlation_level(X: Dense) -> float:
    """Return the root mean square correlation of the columns beyond chance; the smaller of Pearson's and Spearman's.

    Pearson's is 0 for principal components of any shape; Spearman's is robust to heavy tails.
    """
    most_rows, most_columns = LOOKED_AT
    columns = np.linspace(0, X.shape[1] - 1, min(X.shape[1], most_columns)).astype(int)
    Y = X[:most_rows][:, columns].astype(np.float64)
    Y = np.where(np.isnan(Y), np.nanmean(Y, axis=0), Y)
    return min(_excess_correlation(Y), _excess_correlation(rankdata(Y, axis=0)))


def _excess_correlation(Y: Dense) -> float:
    n, d = Y.shape
    Y = Y - Y.mean(axis=0)
    Y /= np.maximum(np.linalg.norm(Y, axis=0), np.finfo(float).tiny)
    mean_square = (float(np.sum((Y.T @ Y) ** 2)) - d) / (d * (d - 1))
    return float(np.sqrt(max(mean_square - 1 / (n - 1), 0)))
