"""`manyview demo`: cluster embedded data, and compare single views with multi-view methods."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from manyview.cli.terminal import out, print_line, print_table, progress
from manyview.datasets import load_digits
from manyview.evaluation.metrics import clustering_accuracy, normalized_mutual_information
from manyview.io.writing import check_output, csv_text, write_files
from manyview.methods import METHODS, MultiViewClusterer
from manyview.preprocessing.corruption import corrupt_entries
from manyview.views.container import Views

SHOWN = ("mfmsc", "ocbr")
NOISE, SEED = 0.2, 0
FILES = ("labels.csv", "demo.png")


def demo(
    out_dir: Annotated[Path, typer.Option("--out", "-o", help="Folder for the labels and the picture.")] = Path(
        "manyview-demo"
    ),
) -> None:
    """Cluster embedded data: the UCI digits with a fifth of the entries corrupted."""
    check_output(out_dir, FILES, force=(out_dir / FILES[-1]).exists())  # an earlier demo may be replaced
    with progress() as show_status:
        rows = run_demo(on_row=lambda row: show_status(f"{row.name}: ACC {row.acc:.3f}"))
        written = write_demo(rows, out_dir)
    out.print(f"UCI digits, views Fourier + profile correlations, {NOISE:.0%} of the entries corrupted")
    print_table(
        ("clustered", "ACC", "NMI", "seconds"),
        [(row.name, f"{row.acc:.3f}", f"{row.nmi:.3f}", f"{row.seconds:.2f}") for row in rows],
    )
    print_line(f"labels: {written[0]}\npicture: {written[1]}")


@dataclass(frozen=True)
class DemoRow:
    """A row of the table: what was clustered, the fitted model, and its scores."""

    name: str
    model: MultiViewClusterer
    acc: float
    nmi: float
    seconds: float


def run_demo(on_row: Callable[[DemoRow], object]) -> list[DemoRow]:
    """Cluster the corrupted digits: each view alone, then all views with each multi-view method.

    `on_row` is called with each row as soon as it is computed.
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


def _fit(name: str, model: MultiViewClusterer, views: Views, labels: object) -> DemoRow:
    start = time.perf_counter()
    model.fit(views)
    seconds = time.perf_counter() - start
    acc = clustering_accuracy(labels, model.labels_)  # type: ignore[arg-type]
    nmi = normalized_mutual_information(labels, model.labels_)  # type: ignore[arg-type]
    return DemoRow(name, model, acc, nmi, seconds)


def write_demo(rows: list[DemoRow], folder: Path) -> list[Path]:
    """Write the labels of the last row, and a picture of all rows."""
    from manyview.report.plots import plot_comparison  # matplotlib is an extra
    from manyview.report.plots.style import png_bytes

    labels = load_digits().labels
    accuracies = {row.name: row.acc for row in rows}
    affinities = {row.name: row.model.affinity_ for row in rows[-2:]}
    title = f"UCI digits, two views, {NOISE:.0%} of the entries corrupted; samples ordered by digit"
    picture = png_bytes(plot_comparison(accuracies, affinities, labels, title))
    table = csv_text(rows[-1].model.to_frame(), index_label="sample")
    return write_files(folder, {FILES[0]: table, FILES[1]: picture}, force=True)
