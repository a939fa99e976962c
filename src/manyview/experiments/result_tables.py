"""Tables of results: scores next to published numbers, time and memory, and all numbers for other programs."""

from __future__ import annotations

from itertools import product

from manyview.checks import plural
from manyview.experiments.results import Cell, Results
from manyview.experiments.similarity_scores import SIMILARITY_SCORES
from manyview.experiments.spec import CorruptionSpec, DatasetSpec, Experiment, MethodSpec
from manyview.experiments.store import FAILED
from manyview.experiments.text_table import TextTable

EMPTY = ""
LOWER_IS_BETTER = tuple(SIMILARITY_SCORES)


def score_table(results: Results, metric: str) -> TextTable:
    """Methods by data sets and corruptions; published numbers and the differences from them have separate columns."""
    experiment = results.experiment
    blocks = list(product(experiment.datasets, experiment.corruptions))
    printed = [has_printed(experiment, metric, d, c) for d, c in blocks]
    ran = {row["method"] for row in results.rows}
    columns = ["method"]
    for (dataset, corruption), also_printed in zip(blocks, printed, strict=True):
        columns.append(f"{dataset.label}, {corruption.label}")
        columns += ["printed", "difference"] if also_printed else []
    rows = []
    for method in experiment.methods:
        row = [method_label(method)]
        for (dataset, corruption), also_printed in zip(blocks, printed, strict=True):
            row.append(score_text(results.cell(dataset.name, corruption.name, method.name), metric))
            row += list(printed_texts(results, metric, dataset, corruption, method)) if also_printed else []
        if any(row[1:]) or method.name not in ran:
            rows.append(row)  # methods that ran but lack this score are left out
    return TextTable(columns, rows, f"{experiment.title}: {metric_name(metric)}, mean ± standard deviation")


def flat_table(results: Results, metric: str) -> TextTable:
    """One line per data set, corruption and method with a score: for few methods on many data sets."""
    experiment = results.experiment
    rows = []
    for dataset, corruption, method in product(experiment.datasets, experiment.corruptions, experiment.methods):
        score = score_text(results.cell(dataset.name, corruption.name, method.name), metric)
        printed = printed_texts(results, metric, dataset, corruption, method)
        if score:
            rows.append([method_label(method), f"{dataset.label}, {corruption.label}", score, *printed])
    return TextTable(["method", "data", "ours", "printed", "difference"], rows)


def long_table(results: Results) -> TextTable:
    """One line per data set, corruption, method and metric, with full precision: for other programs."""
    columns = ("dataset", "corruption", "method", "metric", "mean", "std", "runs", "failed", "printed", "difference")
    rows = []
    for (dataset, corruption, method), cell in results.cells.items():
        for metric in (*results.experiment.metrics, "seconds"):
            mean, std = cell.mean(metric), cell.std(metric)
            value = results.experiment.printed.value(metric, dataset, corruption, method)
            difference = None if value is None or mean is None else mean - value
            counts = (len(cell.values(metric)), cell.count(*FAILED))
            numbers = [mean, std, *counts, value, difference]
            rows.append([dataset, corruption, method, metric, *(_full_precision(number) for number in numbers)])
    return TextTable(columns, rows)


COST_TEXT = (
    "Mean seconds of the fit alone, and the memory it needed beyond the loaded package and data (MB, largest of the "
    "repeats).\n"
)


def cost_table(results: Results) -> TextTable:
    """Time and memory of every method."""
    experiment = results.experiment
    blocks = [
        (d, c)
        for d, c in product(experiment.datasets, experiment.corruptions)
        if any(results.cell(d.name, c.name, m.name).done for m in experiment.methods)
    ]
    columns = ["method", *(f"{d.label}, {c.label}: {unit}" for d, c in blocks for unit in ("s", "MB"))]
    rows = []
    for method in experiment.methods:
        cells = [results.cell(d.name, c.name, method.name) for d, c in blocks]
        costs = [text for cell in cells for text in (_rounded(cell.mean("seconds"), 2), _rounded(cell.memory_mb, 0))]
        rows.append([method_label(method), *costs])
    return TextTable(columns, rows, f"{experiment.title}: seconds and memory of the fit")


# Cells ---------------------------------------------------------------------------------------------


def has_printed(experiment: Experiment, metric: str, dataset: DatasetSpec, corruption: CorruptionSpec) -> bool:
    """Return whether any method has a published number here."""
    value = experiment.printed.value
    return any(value(metric, dataset.name, corruption.name, m.name) is not None for m in experiment.methods)


def printed_texts(
    results: Results, metric: str, dataset: DatasetSpec, corruption: CorruptionSpec, method: MethodSpec
) -> tuple[str, str]:
    """Return the published number, and our number minus it."""
    value = results.experiment.printed.value(metric, dataset.name, corruption.name, method.name)
    ours = results.cell(dataset.name, corruption.name, method.name).mean(metric)
    digits = decimals(metric)
    return (
        EMPTY if value is None else f"{value:.{digits}f}",
        EMPTY if value is None or ours is None else signed(ours - value, digits),
    )


def score_text(cell: Cell, metric: str) -> str:
    """Mean ± std and how many runs failed or are missing; without any number, the reason."""
    mean, std, digits = cell.mean(metric), cell.std(metric), decimals(metric)
    n_failed = cell.count(*FAILED)
    if mean is None:
        return next((status for status in ("skipped", *reversed(FAILED)) if cell.count(status)), EMPTY)
    text = f"{mean:.{digits}f}" if std is None else f"{mean:.{digits}f} ± {std:.{digits}f}"
    if n_failed:
        return f"{text} ({n_failed} of {len(cell.rows)} failed)"
    return f"{text} ({plural(len(cell.done), 'repeat')})" if len(cell.done) < cell.planned else text


# Words and numbers -----------------------------------------------------------------------------------


def metric_name(metric: str) -> str:
    """Return the name of a metric for headings."""
    return SIMILARITY_SCORES.get(metric, metric.upper() if len(metric) == 3 else metric)


def method_label(method: MethodSpec) -> str:
    """Return the label of a method, with the parameter's value if it is swept."""
    return method.label if method.swept is None else f"{method.label}, {method.swept[0]} = {method.swept[1]}"


def decimals(metric: str) -> int:
    """Return the number of decimals to print."""
    return 2 if metric in LOWER_IS_BETTER else 3


def signed(value: float, digits: int) -> str:
    """Write a difference with its sign."""
    return f"{value:+.{digits}f}".replace("-", "−")


def _full_precision(value: float | None) -> str:
    return EMPTY if value is None else f"{value:.10g}"


def _rounded(value: float | None, digits: int) -> str:
    return EMPTY if value is None else f"{value:.{digits}f}"
