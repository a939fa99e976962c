"""The main job on embedded data: corrupted digits, single views beside the multi-view methods."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from manyview.corruption import corrupt_entries
from manyview.datasets import load_digits
from manyview.io.results import write_files
from manyview.methods import METHODS, MultiViewClusterer
from manyview.metrics import clustering_accuracy, normalized_mutual_information
from manyview.views import Views

SHOWN = ("mfmsc", "ocbr")
NOISE, SEED = 0.2, 0
FILES = ("labels.csv", "demo.png")


@dataclass(frozen=True)
class Row:
    """One line of the table: what was clustered, the fitted model, and how it did."""

    name: str
    model: MultiViewClusterer
    acc: float
    nmi: float
    seconds: float


def run_demo(on_row: Callable[[Row], object]) -> list[Row]:
    """Cluster the corrupted digits: each view alone, then all views with each multi-view method.

    `on_row` is told each row as soon as it is there.
    """
    digits = load_digits()
    noisy = corrupt_entries(digits.views, NOISE, seed=SEED)
    jobs = [(f"{name} alone", "mfmsc", noisy.select([name])) for name in noisy.names]
    jobs += [(f"both views, {METHODS[key].__name__}", key, noisy) for key in SHOWN]
    rows = []
    for name, key, views in jobs:
        rows.append(_fit(name, METHODS[key](digits.n_classes), views, digits.labels))
        on_row(rows[-1])
    return rows


def _fit(name: str, model: MultiViewClusterer, views: Views, labels: object) -> Row:
    start = time.perf_counter()
    model.fit(views)
    seconds = time.perf_counter() - start
    acc = clustering_accuracy(labels, model.labels_)  # type: ignore[arg-type]
    nmi = normalized_mutual_information(labels, model.labels_)  # type: ignore[arg-type]
    return Row(name, model, acc, nmi, seconds)


def write_demo(rows: list[Row], folder: Path) -> list[Path]:
    """Write the last row's labels, and a picture of all rows."""
    from manyview.report.plots import plot_comparison, png_bytes  # matplotlib is an extra

    labels = load_digits().labels
    accuracies = {row.name: row.acc for row in rows}
    affinities = {row.name: row.model.affinity_ for row in rows[-2:]}
    title = f"UCI digits, two views, {NOISE:.0%} of the entries corrupted; samples ordered by digit"
    picture = png_bytes(plot_comparison(accuracies, affinities, labels, title))
    table = rows[-1].model.to_frame().to_csv(index_label="sample")
    return write_files(folder, {FILES[0]: table, FILES[1]: picture}, force=True)
