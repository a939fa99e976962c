"""Warnings about fits: what the data cannot decide, even though labels were found."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator

import numpy as np
from scipy.sparse.csgraph import connected_components

from manyview.checks import quoted
from manyview.typing import Array, Indices, Labels, is_sparse
from manyview.views.container import Views


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
        warnings.warn(
            f"{n_split} of {views.n_samples} samples have exactly the same values as samples in another cluster, so "
            f"their labels are arbitrary. There are {n_distinct} distinct samples: choose fewer clusters, or "
            "remove duplicates.",
            stacklevel=3,
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
