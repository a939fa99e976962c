"""Warnings about fits: what the data cannot decide, even though labels were found."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from manyview.checks import plural, quoted
from manyview.typing import Array, Dense, Indices, Labels, is_sparse
from manyview.views.codes import find_codes
from manyview.views.container import Views

if TYPE_CHECKING:
    import pandas as pd


def warn_of_separate_views(views: Views) -> None:
    """Warn if the views fall into groups that share no sample: nothing relates their clusters to each other."""
    if not any(views.n_missing.values()):
        return
    shared = views.present.astype(np.int64)
    n_groups, group = connected_components(shared.T @ shared, directed=False)
    if n_groups > 1:
        names = np.asarray(views.names)
        told = " and ".join(f"({quoted(names[group == i])})" for i in range(n_groups))
        warnings.warn(
            f"The views {told} share no sample, so nothing shows which of their clusters belong together. "
            "Add samples that are in both, or cluster these views one by one.",
            stacklevel=3,
        )


def warn_of_split_samples(views: Views, labels: Labels) -> None:
    """Warn if samples that are equal in every value were put into different clusters."""
    repeated = _may_repeat(views)
    codes = _distinct(views[repeated]) if len(repeated) else []
    clusters = Counter(code for code, _ in set(zip(codes, labels[repeated].tolist(), strict=True)))
    n_split = sum(clusters[code] > 1 for code in codes)
    if n_split:
        n_distinct = views.n_samples - len(codes) + len(clusters)
        told = f"{'is' if n_distinct == 1 else 'are'} {plural(n_distinct, 'distinct sample')}"
        warnings.warn(
            f"{n_split} of {views.n_samples} samples have exactly the same values as samples in another cluster, so "
            f"their labels are arbitrary. There {told}: "
            "choose fewer clusters, or remove duplicates.",
            stacklevel=3,
        )


def warn_of_codes(views: Views) -> None:
    """Warn if numbers such as -999 look like codes for missing values: they were used as numbers."""
    for (view, X), names in zip(views.items(), views.feature_names, strict=True):
        if not is_sparse(X):
            _warn_of_codes_in(X, names, f"View {view!r}")


def warn_of_codes_in_frame(frame: pd.DataFrame, where: str) -> None:
    """Warn of such numbers in the numeric columns of a table about the samples."""
    numeric = frame.iloc[:, [i for i, dtype in enumerate(frame.dtypes) if getattr(dtype, "kind", "O") in "iuf"]]
    if numeric.shape[1]:
        _warn_of_codes_in(numeric.to_numpy(dtype=float, na_value=np.nan), numeric.columns, where)


def _warn_of_codes_in(X: Dense, names: Any, where: str) -> None:
    for code, columns in find_codes(X).items():
        known = quoted(columns + 1 if names is None else [names[j] for j in columns], 3)
        columns_named = f"column {known}" if len(columns) == 1 else f"{len(columns)} columns ({known})"
        warnings.warn(
            f"{where} has the value {code:.0f} in {columns_named}, far from all others there. It was used as a number; "
            f"if it means a missing value, add --missing {code:.0f} (in Python, replace it by NaN).",
            stacklevel=4,
        )


def _may_repeat(views: Views) -> Indices:
    """Return the samples that may equal another: the sum of their values occurs more than once in the first view."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.asarray(views.arrays[0].sum(axis=1)).ravel()
    _, code, count = np.unique(sums, return_inverse=True, return_counts=True)
    return np.flatnonzero(count[code] > 1)


def _distinct(views: Views) -> list[int]:
    """Return a number from 0 for each sample; equal samples have equal numbers."""
    known: dict[tuple[int, ...], int] = {}
    keys = zip(*(_row_hashes(X) for X in views.arrays), strict=True)
    return [known.setdefault(key, len(known)) for key in keys]


def _row_hashes(X: Array) -> Iterator[int]:
    if not is_sparse(X):
        return (hash((row + 0).tobytes()) for row in X)  # -0.0 becomes 0.0
    parts = (slice(*ends) for ends in zip(X.indptr[:-1], X.indptr[1:], strict=True))
    return (hash((X.indices[part].tobytes(), X.data[part].tobytes())) for part in parts)
