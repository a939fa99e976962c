"""Features that separate the clusters, and entries that look corrupted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from manyview.evaluation.markers import MarkerStatistics, feature_name, marker_statistics
from manyview.evaluation.moments import Moments
from manyview.numerics.division import or_one
from manyview.typing import Array, Dense, Indices
from manyview.views.container import Views

TOP_FEATURES = 6  # per cluster
DOTTED_FEATURES = 36  # in the dot plot, shared among the clusters, at least one each
MAPPED_FEATURES = 30  # in the heat map, shared among the clusters, at least one each
MOST_MAPPED = 40  # limit if there are many clusters
LARGEST_ENTRIES = 20
MOST_COUNTED = 5  # features and samples with the most suspected entries, per view


# Features that separate the clusters -----------------------------------------------------------------


@dataclass(frozen=True)
class Marker:
    """A feature that marks a cluster, with the numbers from `find_markers`."""

    cluster: int
    view: str
    feature: str
    effect: float
    auc: float
    mean_inside: float
    mean_outside: float
    missing: float


@dataclass(frozen=True)
class Dots:
    """A column of the dot plot: the mean of a feature in each cluster, and the share of its values above the median.

    `cluster` is the first cluster for which the feature was chosen.
    """

    view: str
    feature: str
    cluster: int
    means: Dense
    above: Dense


@dataclass(frozen=True)
class MappedFeature:
    """A feature in the heat map: its effect in each cluster, and the share of its variation between clusters."""

    view: str
    feature: str
    explained: float
    effects: Dense


@dataclass(frozen=True)
class Features:
    """Features that separate the clusters: the strongest of each, and those in the dot plot and in the heat map."""

    markers: list[Marker]
    dots: list[Dots]
    mapped: list[MappedFeature]


def separating_features(tables: Sequence[Array], moments: Sequence[Moments], views: Views, labels: Indices) -> Features:
    """Find the features with the largest effects in each cluster; only these are ranked."""
    effects = np.hstack([view.effects() for view in moments])
    explained = np.concatenate([view.explained() for view in moments])
    widths = [len(view.unit) for view in moments]
    places = [(i, j) for i, width in enumerate(widths) for j in range(width)]
    order = np.argsort(-np.abs(effects), axis=1, kind="stable")

    def named(j: int) -> tuple[str, str]:
        return views.names[places[j][0]], feature_name(views, *places[j])

    top = [[int(j) for j in best[:TOP_FEATURES] if effects[k, j] != 0] for k, best in enumerate(order)]
    ranked = _rank([places[j] for j in _distinct(top)], tables, moments, labels)
    statistics = dict(zip(_distinct(top), ranked, strict=True))
    each = min(max(1, DOTTED_FEATURES // len(effects)), TOP_FEATURES)
    mapped = _distinct(order[:, : max(1, MAPPED_FEATURES // len(effects))])[:MOST_MAPPED]
    return Features(
        [_marker(k, *named(j), statistics[j]) for k, best in enumerate(top) for j in best],
        [
            Dots(*named(j), k, statistics[j].mean_inside[:, 0], statistics[j].above_median[:, 0])
            for j, k in _first_chosen([best[:each] for best in top]).items()
        ],
        [MappedFeature(*named(j), explained[j], effects[:, j]) for j in mapped],
    )


def _rank(
    places: list[tuple[int, int]], tables: Sequence[Array], moments: Sequence[Moments], labels: Indices
) -> list[MarkerStatistics]:
    return [marker_statistics(tables[i][:, [j]], labels, moments[i].select([j])) for i, j in places]


def _marker(k: int, view: str, feature: str, statistics: MarkerStatistics) -> Marker:
    names = ("effect", "auc", "mean_inside", "mean_outside", "missing")
    return Marker(k, view, feature, *(float(getattr(statistics, name)[k, 0]) for name in names))


def _distinct(rows: Iterable[Iterable[int]]) -> list[int]:
    return list(dict.fromkeys(int(j) for row in rows for j in row))


def _first_chosen(rows: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return each feature with the first cluster for which it was chosen, in the order of the clusters."""
    chosen: dict[int, int] = {}
    for k, row in enumerate(rows):
        for j in row:
            chosen.setdefault(j, k)
    return chosen


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
    """Number of entries in a view that look corrupted, their share of the observed ones, and where most of them are."""

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
