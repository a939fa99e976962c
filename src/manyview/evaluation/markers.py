"""The features that mark each cluster: how their values in the cluster differ from those in all other samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from manyview.checks import InputError, check_int
from manyview.evaluation.moments import Moments, indicator, table_moments
from manyview.evaluation.p_values import adjust_p_values
from manyview.evaluation.ranks import compare_ranks
from manyview.numerics.division import or_one
from manyview.typing import Array, Dense, Indices, is_sparse
from manyview.views.container import Views
from manyview.views.gate import check_views
from manyview.views.presence import present_rows

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 256  # features of a sparse table to make dense at a time


def find_markers(labels: ArrayLike, views: object, *, top: int | None = None) -> pd.DataFrame:
    """Compare every feature in every cluster with its values in all other samples.

    Parameters
    ----------
    labels : array (n_samples,)
        The clusters.
    views : as for `fit`
        Views of these samples; not necessarily the ones that were clustered.
    top : int, optional
        Keep only this many features per cluster, those with the largest effects. p-values are corrected for all
        features.

    Returns
    -------
    DataFrame
        One row per cluster and feature, sorted by cluster and effect size: `cluster`, `view`, `feature`; `effect`,
        Cohen's d; `auc`, the probability that a value in the cluster is larger than one outside; `mean_inside` and
        `mean_outside`; `above_median`, the share of the cluster's values above the median of all samples; `missing`,
        the share of its samples without a value; `p_value` of the Mann-Whitney test, and `p_corrected` for all clusters
        and features (Benjamini-Hochberg).

    Notes
    -----
    If the clusters were found from these features, the p-values are too small, because the same data define and test
    the clusters. Use them to rank features; they do not show that clusters exist.

    Examples
    --------
    >>> from manyview import make_views
    >>> data = make_views(60, 3, (4, 5), seed=0)
    >>> find_markers(data.labels, data.views, top=1)[["cluster", "view", "feature"]].shape
    (3, 3)
    """
    if top is not None:
        check_int("top", top, minimum=1)
    views = check_views(views)
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    if codes.shape != (views.n_samples,):
        raise InputError(f"Got {codes.size} labels for {views.n_samples} samples; give one label per sample.")
    parts = [marker_statistics(X, codes) for X in views.arrays]
    frame = _marker_frame(names, views, parts)
    return frame if top is None else frame.groupby("cluster", sort=False).head(top).reset_index(drop=True)


def feature_name(views: Views, view: int, column: int) -> str:
    """Return the name of a feature, or the number of its column."""
    names = views.feature_names[view]
    return f"column {column}" if names is None else str(names[column])


@dataclass(frozen=True)
class MarkerStatistics:
    """Statistics of each feature in each cluster (c x d); see `find_markers`."""

    effect: Dense
    auc: Dense
    mean_inside: Dense
    mean_outside: Dense
    above_median: Dense
    missing: Dense
    p_value: Dense


def marker_statistics(X: Array, labels: Indices, moments: Moments | None = None) -> MarkerStatistics:
    """Compute the statistics of all features of a table; `moments` if already known."""
    moments = table_moments(X, labels) if moments is None else moments
    tests = [(compare_ranks(block, labels), _above_median(block, labels)) for block in _dense_blocks(X)]
    inside, outside = (_known(part, where) for part, where in _means(moments))
    return MarkerStatistics(
        effect=moments.effects(),
        auc=np.hstack([test.auc for test, _ in tests]),
        mean_inside=inside,
        mean_outside=outside,
        above_median=np.hstack([above for _, above in tests]),
        missing=1 - moments.count / np.bincount(labels)[:, None],
        p_value=np.hstack([test.p_value for test, _ in tests]),
    )


def _means(moments: Moments) -> Iterator[tuple[Dense, Any]]:
    yield moments.inside(), moments.count > 0
    yield moments.outside(), moments.count.sum(axis=0) > moments.count


def _known(values: Dense, where: Any) -> Dense:
    return np.where(where, values, np.nan)


def _dense_blocks(X: Array) -> Iterator[Dense]:
    """Yield the columns of a table in blocks; a sample absent from a sparse table has only missing values."""
    absent = ~present_rows(X)
    columns: Any = X.tocsc() if is_sparse(X) else X
    for start in range(0, X.shape[1], BLOCK):
        block = columns[:, start : start + BLOCK]
        yield np.where(absent[:, None], np.nan, block.toarray()) if is_sparse(X) else block


def _above_median(X: Dense, labels: Indices) -> Dense:
    """Return the share of each cluster's values above the overall median of the feature (c x d)."""
    observed = ~np.isnan(X)
    median = np.zeros(X.shape[1])
    some = observed.any(axis=0)
    median[some] = np.nanmedian(X[:, some], axis=0)
    member = indicator(labels)
    count = member @ observed.astype(float)
    above = member @ (np.where(observed, X, -np.inf) > median).astype(float)
    return np.where(count > 0, above / or_one(count), np.nan)


def _marker_frame(clusters: Any, views: Views, parts: list[MarkerStatistics]) -> pd.DataFrame:
    import pandas as pd

    widths = [part.effect.shape[1] for part in parts]
    features = [feature_name(views, i, j) for i, width in enumerate(widths) for j in range(width)]
    columns: dict[str, Any] = {
        "cluster": np.repeat(clusters, sum(widths)),
        "view": np.tile(np.repeat(np.array(views.names, dtype=object), widths), len(clusters)),
        "feature": np.tile(np.array(features, dtype=object), len(clusters)),
    }
    for name in MarkerStatistics.__dataclass_fields__:
        columns[name] = np.hstack([getattr(part, name) for part in parts]).ravel()
    columns["p_corrected"] = adjust_p_values(columns["p_value"])
    frame = pd.DataFrame(columns)
    order = np.lexsort((-frame["effect"].abs(), np.repeat(np.arange(len(clusters)), sum(widths))))
    return frame.iloc[order].reset_index(drop=True)
