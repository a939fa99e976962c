"""What the benchmarks share: the data, the sum-of-graphs baseline, scoring and printing.

Running in child processes, keeping rows, scoring and writing tables belong to `manyview.experiments` and
`manyview.evaluation`; this module has only what benchmarks need in addition.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from manyview import CCAMSC, DIGITS_VIEWS, MAASC, MFMSC, OCBR, CoTraining, Dataset, Views, load_digits
from manyview.evaluation.metrics import score_labels
from manyview.experiments.runner import THREAD_VARIABLES
from manyview.experiments.text_table import TextTable, to_markdown
from manyview.graphs.affinity import knn_graph
from manyview.graphs.connection import connect
from manyview.io import read_labels, read_views
from manyview.partition.spectral import normalized_cut
from manyview.preprocessing.corruption import corrupt_entries
from manyview.preprocessing.scaling import scale_views

LARGE = ("awa_4000_5view", "hdigit")
SLOW_METHODS = ("rlrr", "rmsc", "lrrgl", "paper-ocbr")


class SumOfGraphs:
    """Plain late fusion: one kNN graph per standardised view, summed and cut."""

    def __init__(self, n_clusters: int, n_neighbors: int = 10, random_state: int = 0) -> None:
        self.n_clusters, self.n_neighbors, self.random_state = n_clusters, n_neighbors, random_state

    def fit_predict(self, views: Views | Sequence[Any]) -> np.ndarray:
        tables, _ = scale_views(Views(views))
        W = sum(knn_graph(X, self.n_neighbors) for X in tables)
        if sp.csgraph.connected_components(W)[0] > self.n_clusters:
            W = connect(W, np.hstack([X.toarray() if sp.issparse(X) else X for X in tables]))
        return normalized_cut(W, self.n_clusters, random_state=self.random_state).labels


QUICK_METHODS: dict[str, type] = {
    "mfmsc": MFMSC,
    "maasc": MAASC,
    "ccamsc": CCAMSC,
    "cotraining": CoTraining,
    "sum": SumOfGraphs,
    "ocbr": OCBR,
}


# Data ----------------------------------------------------------------------------------------------


def digits(n_views: int) -> Dataset:
    """The UCI digits with the paper's two views, or all six."""
    return load_digits(list(DIGITS_VIEWS)[:n_views])


def data_folder() -> Path:
    """The folder MANYVIEW_DATA."""
    folder = os.environ.get("MANYVIEW_DATA")
    if not folder:
        sys.exit("Set MANYVIEW_DATA to the folder of npz files (arrays view_0, view_1, ..., labels).")
    return Path(folder)


def research_data(*, large: bool = False, only: Sequence[str] = ()) -> Iterator[Dataset]:
    """Every npz file in the folder MANYVIEW_DATA, or only those named; large ones come last, and only on request."""
    paths = sorted(data_folder().glob("*.npz"), key=lambda path: (path.stem in LARGE, path.stem))
    for path in paths:
        wanted = path.stem in only if only else large or path.stem not in LARGE
        if wanted:
            yield read_npz(path)


def research_file(name: str) -> Dataset:
    """One file of the folder MANYVIEW_DATA, such as "omics/nci60_4arrays"; specs name data sets this way."""
    return read_npz(data_folder() / f"{name}.npz")


def read_npz(path: Path) -> Dataset:
    """Read arrays view_0, view_1, ... and labels; other arrays in the file are ignored.

    A sparse view is stored in four arrays view_k_data, view_k_indices, view_k_indptr and view_k_shape (CSR).
    """
    with np.load(path, allow_pickle=False) as archive:
        names = sorted({match[0] for key in archive.files if (match := re.match(r"view_\d+", key))})
        if f"{names[0]}_data" in archive:
            views = Views({name: _read_csr(archive, name) for name in names})
        else:
            views = read_views(f"{path}::{name}" for name in names).views
    return Dataset(path.stem, views, read_labels(path, views.sample_ids, views.n_samples))


def _read_csr(archive: Any, name: str) -> sp.csr_array:
    data, indices, indptr, shape = (archive[f"{name}_{part}"] for part in ("data", "indices", "indptr", "shape"))
    return sp.csr_array((data, indices, indptr), shape=tuple(shape))


def noisy(data: Dataset, draw: int | None, fraction: float = 0.2) -> Views:
    """The views, corrupted as in the paper with `draw` as the seed; draw None is clean."""
    return data.views if draw is None else corrupt_entries(data.views, fraction, seed=draw)


def draw_absent(n_samples: int, n_views: int, share: float, seed: int) -> np.ndarray:
    """Draw which samples are absent from which view: this share of each view, and no sample from all views.

    With two views no sample is absent from both, so at 50 % every sample is in exactly one view.
    """
    rng = np.random.default_rng(seed)
    absent = np.zeros((n_samples, n_views), dtype=bool)
    for v in range(n_views):
        free = ~absent[:, :v].all(axis=1) if v == n_views - 1 else np.ones(n_samples, dtype=bool)
        absent[rng.choice(np.flatnonzero(free), round(share * n_samples), replace=False), v] = True
    return absent


def without(views: Views, absent: np.ndarray) -> list[np.ndarray]:
    """The views, with a row of NaN for every sample that is absent."""
    return [np.where(gone[:, None], np.nan, X) for gone, X in zip(absent.T, views.arrays, strict=True)]


# Scores --------------------------------------------------------------------------------------------


def score(method: type, views: Views, data: Dataset, **params: object) -> dict[str, float]:
    """Fit a method with its defaults (and `params`), and compare with the true classes by all metrics."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = method(data.n_classes, **params).fit_predict(views)
    return score_labels(data.labels, labels)


def mean_scores(scores: Iterable[dict[str, float]]) -> dict[str, float]:
    """Mean of every metric, and the lowest ACC as "worst"."""
    scores = list(scores)
    means = {metric: float(np.mean([one[metric] for one in scores])) for metric in scores[0]}
    return means | {"worst": min(one["acc"] for one in scores)}


def in_child(function: Callable[..., Any], *args: object) -> Any:
    """Call a function in a new process with one thread, so that its peak memory is its own."""
    os.environ |= dict.fromkeys(THREAD_VARIABLES, "1")  # read by libraries when they load
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


# Printing ------------------------------------------------------------------------------------------


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a Markdown table; every row goes to stderr as soon as it is known, because some take minutes."""
    columns, texts = list(columns), []
    for row in rows:
        texts.append([_cell(value) for value in row])
        print(" | ".join(texts[-1]), file=sys.stderr, flush=True)
    print(to_markdown(TextTable(columns, texts)), flush=True)


def _cell(value: object) -> str:
    if isinstance(value, float):  # includes numpy's
        return "" if np.isnan(value) else f"{value:.3f}"
    return "" if value is None else str(value)
