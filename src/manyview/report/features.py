"""Features that separate the clusters, and entries that look corrupted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from manyview.evaluation.markers import feature_name
from manyview.evaluation.moments import Moments
from manyview.numerics.division import or_one
from manyview.typing import Dense, Indices
from manyview.views.container import Views

TOP_FEATURES = 6  # per cluster
MAPPED_FEATURES = 30  # in the heat map, divided among the clusters, at least one each
MOST_MAPPED = 40  # limit if there are many clusters
LARGEST_ENTRIES = 20
MOST_COUNTED = 5  # features and samples with the most suspected entries, per view


# Features that separate the clusters -----------------------------------------------------------------


@dataclass(frozen=True)
class Effect:
    """How a feature separates a cluster from the others: Cohen's d, and its means inside and outside the cluster."""

    view: str
    feature: str
    effect: float
    inside: float
    outside: float


@dataclass(frozen=True)
class MappedFeature:
    """A feature in the heat map: its effect in each cluster, and the share of its variation between clusters."""

    view: str
    feature: str
    explained: float
    effects: Dense


@dataclass(frozen=True)
class Features:
    """Features that separate the clusters: the strongest of each cluster (`top`), and those in the heat map."""

    top: list[list[Effect]]
    mapped: list[MappedFeature]


def separating_features(moments: Sequence[Moments], views: Views) -> Features:
    """Find the features that separate each cluster from the others."""
    effects = np.hstack([view.effects() for view in moments])
    inside, outside = (np.hstack([getattr(view, side)() for view in moments]) for side in ("inside", "outside"))
    explained = np.concatenate([view.explained() for view in moments])
    owner = np.repeat(np.arange(len(moments)), [len(view.unit) for view in moments])
    first = np.searchsorted(owner, owner)
    order = np.argsort(-np.abs(effects), axis=1, kind="stable")

    def named(j: int) -> tuple[str, str]:
        view = int(owner[j])
        return views.names[view], feature_name(views, view, j - int(first[j]))

    top = [
        [Effect(*named(j), effects[k, j], inside[k, j], outside[k, j]) for j in best if effects[k, j] != 0]
        for k, best in enumerate(order[:, :TOP_FEATURES])
    ]
    each = max(1, MAPPED_FEATURES // len(effects))
    chosen = list(dict.fromkeys(j for best in order[:, :each] for j in best))[:MOST_MAPPED]
    mapped = [MappedFeature(*named(j), explained[j], effects[:, j]) for j in chosen]
    return Features(top, mapped)


# Entries that look corrupted -------------------------------------------------------------------------


@dataclass(frozen=True)
class SuspectEntry:
    """An entry that looks corrupted; `size` is the error in standard deviations, infinite for a constant feature."""

    row: int
    view: str
    feature: str
    observed: float
    expected: float
    size: float


@dataclass(frozen=True)
class SuspectView:
    """Number of entries of a view that look corrupted, their share of the observed ones, and where most of them are."""

    name: str
    count: int
    share: float
    features: list[tuple[str, int]]
    samples: list[tuple[int, int]]


@dataclass(frozen=True)
class Suspects:
    """Entries that look corrupted: counts by view, and the largest errors overall."""

    views: list[SuspectView]
    entries: list[SuspectEntry]


def find_suspects(errors: Sequence[sp.csr_array], views: Views, moments: Sequence[Moments]) -> Suspects:
    """Count the entries that look corrupted (`errors`: observed minus expected), and list the largest."""
    counts = [_count_suspects(E, views, i, int(moments[i].count.sum())) for i, E in enumerate(errors)]
    largest = [entry for i, E in enumerate(errors) for entry in _largest_entries(E, views, i, moments[i].spread())]
    return Suspects(counts, sorted(largest, key=lambda entry: -entry.size)[:LARGEST_ENTRIES])


def _count_suspects(E: sp.csr_array, views: Views, view: int, observed: int) -> SuspectView:
    flagged = E.indices[E.data != 0]
    rows = np.repeat(np.arange(E.shape[0]), np.diff(E.indptr))[E.data != 0]
    return SuspectView(
        views.names[view],
        count=len(flagged),
        share=len(flagged) / max(observed, 1),
        features=[(feature_name(views, view, j), times) for j, times in _most_frequent(flagged)],
        samples=_most_frequent(rows),
    )


def _most_frequent(values: Indices) -> list[tuple[int, int]]:
    counts = np.bincount(values)
    return [(int(i), int(counts[i])) for i in np.argsort(-counts, kind="stable")[:MOST_COUNTED] if counts[i]]


def _largest_entries(E: sp.csr_array, views: Views, view: int, spread: Dense) -> list[SuspectEntry]:
    links = E.tocoo()
    scale = spread[links.coords[1]]
    size = np.where(scale > 0, np.abs(links.data) / or_one(scale), np.inf)
    size[links.data == 0] = 0
    found = []
    for at in np.argsort(-size, kind="stable")[:LARGEST_ENTRIES]:
        i, j = int(links.coords[0][at]), int(links.coords[1][at])
        observed, error = float(views.arrays[view][i, j]), float(links.data[at])
        if error:
            name = feature_name(views, view, j)
            found.append(SuspectEntry(i, views.names[view], name, observed, observed - error, float(size[at])))
    return found
