"""Columns of the metadata that were clustered themselves: testing them means nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from manyview.evaluation.columns import numbers_of
from manyview.numerics.division import or_one
from manyview.typing import Array, Dense, is_sparse
from manyview.views.container import Views

if TYPE_CHECKING:
    import pandas as pd

SAME = 0.99  # correlation from which a column counts as a copy of a feature
LEAST_SHARED = 10  # samples with both values; fewer may correlate by chance
BLOCK = 512  # features compared at a time


def clustered_columns(metadata: pd.DataFrame | None, views: Views) -> dict[str, list[str]]:
    """Return the columns that are also features, judged by name or values, with the views that have these features.

    Values are compared only for numeric columns and dense views.

    Examples
    --------
    >>> import pandas as pd
    >>> views = Views({"rna": pd.DataFrame({"TP53": [1.0, 2], "EGFR": [3.0, 1]})})
    >>> clustered_columns(pd.DataFrame({"tp53": [1, 2], "age": [50, 60]}), views)
    {'tp53': ['rna']}
    """
    if metadata is None:
        return {}
    numbers = {str(name): numbers_of(values) for name, values in metadata.items()}
    numeric = {name: values for name, values in numbers.items() if values is not None}
    found: dict[str, list[str]] = {name: [] for name in numbers}
    for view, X, features in zip(views.names, views.arrays, views.feature_names, strict=True):
        known = set() if features is None else {str(name).casefold() for name in features}
        copied = dict(zip(numeric, _are_copies(list(numeric.values()), X), strict=True))
        for name, where in found.items():
            if name.casefold() in known or copied.get(name, False):
                where.append(view)
    return {name: where for name, where in found.items() if where}


def _are_copies(columns: list[Dense], X: Array) -> list[bool]:
    """Return whether each column has the values of some feature, up to scale."""
    if is_sparse(X) or not columns:
        return [False] * len(columns)
    Y = np.column_stack(columns)
    largest = np.zeros(len(columns))
    for start in range(0, X.shape[1], BLOCK):
        largest = np.maximum(largest, _correlations(Y, X[:, start : start + BLOCK].astype(float)).max(axis=1))
    return (largest >= SAME).tolist()


def _correlations(Y: Dense, X: Dense) -> Dense:
    """Return the absolute correlations of columns of Y (rows) and of X (columns) over the samples with both values."""
    (Y, my), (X, mx) = _centred(Y), _centred(X)
    n = my.T @ mx
    sy, sx = Y.T @ mx / or_one(n), my.T @ X / or_one(n)
    covariance = Y.T @ X / or_one(n) - sy * sx
    variance = ((Y**2).T @ mx / or_one(n) - sy**2) * (my.T @ X**2 / or_one(n) - sx**2)
    return np.where((n >= LEAST_SHARED) & (variance > 0), np.abs(covariance) / np.sqrt(or_one(variance)), 0)


def _centred(Z: Dense) -> tuple[Dense, Dense]:
    """Return values minus their mean, divided by the largest, with 0 for missing ones; and 1 for each known value."""
    known = ~np.isnan(Z)
    filled = np.where(known, Z, 0)
    filled = filled / or_one(np.abs(filled).max(axis=0))
    return np.where(known, filled - filled.sum(axis=0) / or_one(known.sum(axis=0)), 0), known.astype(float)
