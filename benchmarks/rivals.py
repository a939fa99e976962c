"""OCBR and the other methods on files of MANYVIEW_DATA: ACC, ARI, means, ranks, and how far OCBR is behind.

Called by accuracy.py. Every fit is a run of `manyview.experiments`: a child process with limits and a stored row. A fit
that fails or exceeds its limits is an empty cell.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from common import QUICK_METHODS, SLOW_METHODS, data_folder, print_table
from manyview import METHODS
from manyview.experiments.bench_report import failure_text, place_of
from manyview.experiments.ranks import average_ranks
from manyview.experiments.results import Results, collect_results
from manyview.experiments.runner import Limits, run_all
from manyview.experiments.spec import CorruptionSpec, DatasetSpec, Experiment, MethodSpec
from manyview.experiments.store import Row, Store

HERE = Path(__file__).parent
QUICK = tuple(
    MethodSpec(key, key if key in METHODS else f"common.py:{method.__name__}", method.__name__)
    for key, method in QUICK_METHODS.items()
)
SLOW = tuple(MethodSpec(key, key, METHODS[key].__name__) for key in SLOW_METHODS)
OURS = "OCBR"
MAX_SAMPLES_SLOW = 2000
CLEAN = CorruptionSpec("clean", "none", "clean")
CORRUPTED = CorruptionSpec("corrupted", "entries", "20 % corrupted", {"fraction": 0.2})


@dataclass(frozen=True)
class DataFiles:
    """A group of files: their folder inside MANYVIEW_DATA, and their names."""

    title: str
    folder: str
    names: tuple[str, ...]


OMICS = DataFiles(
    "Omics",
    "omics",
    (
        "nci60_4arrays",
        "tcga_lgg267",
        "tcga_brca398",
        "bmmc_multiome500",
        "tcga_kidney737",
        "pbmc1k_cite_inhouse",
        "teaseq1262",
        "scicar_a549",
        "cbmc_cite",
    ),
)
LARGE_TEXT = DataFiles("Large text", "large", ("reuters1200", "facebook_pages"))


def compare(
    files: DataFiles, only: Sequence[str], methods: Sequence[str], draws: int, *, slow: bool, limits: Limits, out: Path
) -> None:
    """Do the runs, and print the tables: clean, and with draws also corrupted."""
    names = [name for name in files.names if name in only or not only]
    if not names:
        return
    store = Store(out)
    for corruption, repeats in ((CLEAN, 1), (CORRUPTED, draws)):
        if repeats:
            experiment = make_experiment(files, corruption, repeats, slow=slow).select(names, methods)
            for part in parts_to_run(experiment):
                run_all(part, store, limits, on_row=report_progress)
            print_results(files.title, corruption, collect_results(experiment, store))


def make_experiment(files: DataFiles, corruption: CorruptionSpec, repeats: int, *, slow: bool) -> Experiment:
    """All methods on all files."""
    source = "common.py:research_file"
    datasets = tuple(DatasetSpec(name, source, name, {"name": f"{files.folder}/{name}"}) for name in files.names)
    return Experiment(
        name=files.folder,
        title=files.title,
        repeats=repeats,
        metrics=("acc", "ari"),
        datasets=datasets,
        corruptions=(corruption,),
        methods=(*QUICK, *SLOW) if slow else QUICK,
        folder=HERE,
    )


def parts_to_run(experiment: Experiment) -> Iterator[Experiment]:
    """Data set by data set, without the slow methods on large ones."""
    for dataset in experiment.datasets:
        with np.load(data_folder() / f"{dataset.params['name']}.npz", allow_pickle=False) as archive:
            large = len(archive["labels"]) > MAX_SAMPLES_SLOW
        names = [m.name for m in experiment.methods if not (large and m.name in SLOW_METHODS)]
        yield experiment.select([dataset.name], names)


def report_progress(row: Row) -> None:
    """Report a run on stderr; the tables go to stdout."""
    print(f"{place_of(row)}: {row['status']} {row['seconds'] or 0:.1f} s", file=sys.stderr, flush=True)


def print_results(title: str, corruption: CorruptionSpec, results: Results) -> None:
    """Print a table per metric, and what failed."""
    experiment = results.experiment
    labels = [method.label for method in experiment.methods]
    names = [dataset.name for dataset in experiment.datasets]
    for metric in experiment.metrics:
        table = score_matrix(results, corruption, metric)
        repeats = f", mean of {experiment.repeats} draws" if experiment.repeats > 1 else ""
        print(f"## {title}, {corruption.label}{repeats}: {metric.upper()}\n")
        print_table(["data", *labels, f"{OURS} behind the best other (points)"], table_rows(names, table, labels))
    failures = failure_text(results)
    if failures:
        print(failures)


def score_matrix(results: Results, corruption: CorruptionSpec, metric: str) -> np.ndarray:
    """Mean scores, data sets x methods; NaN where there is none."""
    experiment = results.experiment
    cells = [[results.cell(d.name, corruption.name, m.name) for m in experiment.methods] for d in experiment.datasets]
    return np.array([[cell.mean(metric) for cell in row] for row in cells], dtype=float)


def table_rows(names: Sequence[str], table: np.ndarray, labels: Sequence[str]) -> Iterator[list[object]]:
    """A row per data set, then means and ranks; methods that lack a cell have no mean, and rank last in it."""
    for name, scores in zip(names, table, strict=True):
        yield [name, *scores, points_behind(scores, labels.index(OURS)) if OURS in labels else ""]
    yield ["**mean**", *table.mean(axis=0), ""]
    yield ["**average rank**", *(f"{rank:.2f}" for rank in average_ranks(table)), ""]


def points_behind(scores: np.ndarray, ours: int) -> str:
    """By how many points (hundredths) the best other method beats `ours`; negative if `ours` is ahead."""
    others = np.delete(scores, ours)
    if np.isnan(scores[ours]) or np.isnan(others).all():
        return ""
    return f"{100 * (np.nanmax(others) - scores[ours]):+.1f}"
