"""What the benchmarks share: the data, the sum-of-graphs baseline, running and printing."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from manyview import DIGITS_VIEWS, Dataset, Views, clustering_accuracy, load_digits, normalized_mutual_information
from manyview.graphs.affinity import knn_graph
from manyview.graphs.connection import connect
from manyview.partition.spectral import normalized_cut
from manyview.preprocessing.corruption import corrupt_entries
from manyview.preprocessing.scaling import scale_views

LARGE = ("awa_4000_5view", "hdigit")


class SumOfGraphs:
    """The plain late fusion: one kNN graph per standardised view, summed and cut."""

    def __init__(self, n_clusters: int, n_neighbors: int = 10, random_state: int = 0) -> None:
        self.n_clusters, self.n_neighbors, self.random_state = n_clusters, n_neighbors, random_state

    def fit(self, views: Views) -> SumOfGraphs:
        tables, _ = scale_views(views)
        W = sum(knn_graph(X, self.n_neighbors) for X in tables)
        if sp.csgraph.connected_components(W)[0] > self.n_clusters:
            W = connect(W, np.hstack([X.toarray() if sp.issparse(X) else X for X in tables]))
        self.labels_ = normalized_cut(W, self.n_clusters, random_state=self.random_state).labels
        return self


@dataclass(frozen=True)
class Score:
    """Result of one fit."""

    acc: float
    nmi: float


def digits(n_views: int) -> Dataset:
    """The UCI digits with the paper's two views, or all six."""
    return load_digits(list(DIGITS_VIEWS)[:n_views])


def research_data(*, large: bool = False, only: Sequence[str] = ()) -> Iterator[Dataset]:
    """Every npz file in the folder MANYVIEW_DATA, or only those named; the large ones last, and only if asked for."""
    folder = os.environ.get("MANYVIEW_DATA")
    if not folder:
        sys.exit("Set MANYVIEW_DATA to the folder of npz files (arrays view_0, view_1, ..., labels).")
    paths = sorted(Path(folder).glob("*.npz"), key=lambda path: (path.stem in LARGE, path.stem))
    for path in paths:
        wanted = path.stem in only if only else large or path.stem not in LARGE
        if wanted:
            yield read_npz(path)


def read_npz(path: Path) -> Dataset:
    """Read arrays view_0, view_1, ... and labels."""
    with np.load(path, allow_pickle=False) as archive:
        keys = sorted(key for key in archive.files if key.startswith("view_") and key[5:].isdigit())
        return Dataset(path.stem, Views({key: archive[key] for key in keys}), archive["labels"])


def noisy(data: Dataset, draw: int | None, fraction: float = 0.2) -> Views:
    """The views, corrupted as in the paper with this draw's noise; draw None is clean."""
    return data.views if draw is None else corrupt_entries(data.views, fraction, seed=draw)


def draw_absent(n_samples: int, n_views: int, share: float, seed: int) -> np.ndarray:
    """Draw which samples are absent from which view: this share of each view, and no sample from all of them.

    With two views no sample is absent twice, so at 50 % every sample is in one view only.
    """
    rng = np.random.default_rng(seed)
    absent = np.zeros((n_samples, n_views), dtype=bool)
    for v in range(n_views):
        free = ~absent[:, :v].all(axis=1) if v == n_views - 1 else np.ones(n_samples, dtype=bool)
        absent[rng.choice(np.flatnonzero(free), round(share * n_samples), replace=False), v] = True
    return absent


def without(views: Views, absent: np.ndarray) -> list[np.ndarray]:
    """The views with rows of NaN for the samples that they lack."""
    return [np.where(gone[:, None], np.nan, X) for gone, X in zip(absent.T, views.arrays, strict=True)]


def score(method: type, views: Views, data: Dataset, **params: object) -> Score:
    """Fit one method with its defaults (and `params`), and compare with the true classes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = method(data.n_classes, **params).fit(views).labels_
    return Score(clustering_accuracy(data.labels, labels), normalized_mutual_information(data.labels, labels))


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print Markdown, a line at a time, as the rows come."""
    columns = list(columns)
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(map(_cell, row))} |", flush=True)
    print(flush=True)


def _cell(value: object) -> str:
    if isinstance(value, float):  # numpy's as well
        return "" if np.isnan(value) else f"{value:.3f}"
    return str(value)


def spread(scores: Iterable[Score]) -> Mapping[str, float]:
    """Mean ACC and NMI, and worst ACC."""
    scores = list(scores)
    return {
        "acc": float(np.mean([s.acc for s in scores])),
        "nmi": float(np.mean([s.nmi for s in scores])),
        "worst": min(s.acc for s in scores),
    }
