"""Tables of an experiment: scores beside the printed numbers, ranks, time and memory, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from pathlib import Path

from manyview.experiments.measures import NAMES
from manyview.experiments.spec import CorruptionSpec, DatasetSpec, Experiment, MethodSpec
from manyview.experiments.store import BAD
from manyview.experiments.summary import Cell, Ranks, Summary, rank_methods
from manyview.experiments.tables import Table, to_csv, to_latex, to_markdown
from manyview.io import write_files

NONE = ""
LOWER_IS_BETTER = tuple(NAMES)


def write_report(summary: Summary, folder: Path) -> list[Path]:
    """Write report.md, results.csv (a line per cell and metric), and a table per metric for LaTeX."""
    files = {"report.md": markdown_report(summary), "results.csv": to_csv(long_table(summary))}
    files |= {f"{metric}.tex": to_latex(score_table(summary, metric)) for metric in summary.experiment.metrics}
    return write_files(folder, files, force=True)


def markdown_report(summary: Summary) -> str:
    """Everything about an experiment on one page."""
    experiment = summary.experiment
    parts = [f"# {experiment.title}\n", experiment.description, overview(summary)]
    for metric in experiment.metrics:
        parts += [f"## {metric_name(metric)}\n", to_markdown(score_table(summary, metric))]
        if metric not in LOWER_IS_BETTER:
            parts.append(rank_text(summary, rank_methods(summary, metric)))
    parts += ["## Time and memory\n", COST_TEXT, to_markdown(cost_table(summary)), failure_text(summary)]
    return "\n".join(part for part in parts if part)


def overview(summary: Summary) -> str:
    """Say in a line how many runs there are, and how they ended."""
    rows = summary.rows
    total = sum(1 for _ in summary.experiment.runs())
    counts = {s: sum(row["status"] == s for row in rows) for s in ("converged", "max_iter", "skipped", *BAD)}
    ended = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    repeats = plural(summary.experiment.repeats, "repeat")
    return f"{len(rows)} of {total} runs ({ended or 'none yet'}); mean ± standard deviation of {repeats}.\n"


# Scores --------------------------------------------------------------------------------------------


def score_table(summary: Summary, metric: str) -> Table:
    """Methods by data sets and corruptions; with printed numbers, these and the difference stand beside ours."""
    experiment = summary.experiment
    blocks = [(d, c) for d in experiment.datasets for c in experiment.corruptions]
    printed = [has_printed(experiment, metric, d, c) for d, c in blocks]
    ran = {row["method"] for row in summary.rows}
    columns = ["method"]
    for (dataset, corruption), also_printed in zip(blocks, printed, strict=True):
        columns.append(f"{dataset.label}, {corruption.label}")
        columns += ["printed", "difference"] if also_printed else []
    rows = []
    for method in experiment.methods:
        row = [method_label(method)]
        for (dataset, corruption), also_printed in zip(blocks, printed, strict=True):
            row.append(score_text(summary.cell(dataset.name, corruption.name, method.name), metric))
            row += list(printed_texts(summary, metric, dataset, corruption, method)) if also_printed else []
        if any(row[1:]) or method.name not in ran:
            rows.append(row)  # a method that ran, but does not have such a score, has no line
    return Table(columns, rows, f"{experiment.title}: {metric_name(metric)}, mean ± standard deviation")


def flat_table(summary: Summary, metric: str) -> Table:
    """One line per data set, corruption and method that has a score: for few methods on many data sets."""
    experiment = summary.experiment
    rows = []
    for dataset, corruption, method in product(experiment.datasets, experiment.corruptions, experiment.methods):
        score = score_text(summary.cell(dataset.name, corruption.name, method.name), metric)
        printed = printed_texts(summary, metric, dataset, corruption, method)
        if score:
            rows.append([method_label(method), f"{dataset.label}, {corruption.label}", score, *printed])
    return Table(["method", "data", "ours", "printed", "difference"], rows)


def has_printed(experiment: Experiment, metric: str, dataset: DatasetSpec, corruption: CorruptionSpec) -> bool:
    """Whether some method has a printed number here."""
    value = experiment.printed.value
    return any(value(metric, dataset.name, corruption.name, m.name) is not None for m in experiment.methods)


def printed_texts(
    summary: Summary, metric: str, dataset: DatasetSpec, corruption: CorruptionSpec, method: MethodSpec
) -> tuple[str, str]:
    """Return the printed number, and ours less the printed one."""
    value = summary.experiment.printed.value(metric, dataset.name, corruption.name, method.name)
    ours = summary.cell(dataset.name, corruption.name, method.name).mean(metric)
    digits = digits_of(metric)
    return (
        NONE if value is None else f"{value:.{digits}f}",
        NONE if value is None or ours is None else signed(ours - value, digits),
    )


def score_text(cell: Cell, metric: str) -> str:
    """Mean ± std, the number of runs that failed or are not there yet, or why there is no number."""
    mean, std, digits = cell.mean(metric), cell.std(metric), digits_of(metric)
    bad = cell.count(*BAD)
    if mean is None:
        return next((s for s in ("skipped", *reversed(BAD)) if cell.count(s)), NONE)
    text = f"{mean:.{digits}f}" if std is None else f"{mean:.{digits}f} ± {std:.{digits}f}"
    if bad:
        return f"{text} ({bad} of {len(cell.rows)} failed)"
    return f"{text} ({plural(len(cell.done), 'repeat')})" if len(cell.done) < cell.planned else text


def long_table(summary: Summary) -> Table:
    """One line per data set, corruption, method and metric, with full precision: for other programs."""
    columns = ("dataset", "corruption", "method", "metric", "mean", "std", "runs", "failed", "printed", "difference")
    rows = []
    for (dataset, corruption, method), cell in summary.cells.items():
        for metric in (*summary.experiment.metrics, "seconds"):
            mean, std = cell.mean(metric), cell.std(metric)
            value = summary.experiment.printed.value(metric, dataset, corruption, method)
            difference = None if value is None or mean is None else mean - value
            counts = (len(cell.values(metric)), cell.count(*BAD))
            numbers = [mean, std, *counts, value, difference]
            rows.append([dataset, corruption, method, metric, *(_plain(number) for number in numbers)])
    return Table(columns, rows)


# Ranks, cost, failures -----------------------------------------------------------------------------


def rank_text(summary: Summary, ranks: Ranks | None) -> str:
    """Average ranks in words, and what the test says about them."""
    if ranks is None:
        return ""
    labels = {method.name: method_label(method) for method in summary.experiment.methods}
    ordered = sorted(ranks.average.items(), key=lambda item: item[1])
    text = ", ".join(f"{labels[name]} {rank:.2f}" for name, rank in ordered)
    text = f"Average ranks over {plural(ranks.n_blocks, 'block')} (data set x corruption, repeats averaged): {text}."
    if ranks.p_value is None:
        return f"{text} No test: it needs three methods and two blocks that differ.\n"
    verdict = f"Friedman p = {ranks.p_value:.2g}; Nemenyi critical difference at 5 %: {ranks.critical_difference:.2f}."
    (_, first), *others = ordered
    worse = [labels[name] for name, rank in others if rank - first > (ranks.critical_difference or 0)]
    clear = ranks.p_value < 0.05 and worse
    told = (
        f"{labels[ordered[0][0]]} ranks clearly before {', '.join(worse)}."
        if clear
        else ("No method ranks clearly before another: that would take more data sets, or larger differences.")
    )
    return f"{text} {verdict} {told}\n"


COST_TEXT = (
    "Seconds of the fit alone (mean), and the most memory it took beyond the loaded package and data (MB, largest of "
    "the repeats).\n"
)


def cost_table(summary: Summary) -> Table:
    """Time and memory of every method."""
    experiment = summary.experiment
    blocks = [(d, c) for d in experiment.datasets for c in experiment.corruptions]
    blocks = [(d, c) for d, c in blocks if any(summary.cell(d.name, c.name, m.name).done for m in experiment.methods)]
    columns = ["method", *(f"{d.label}, {c.label}: {unit}" for d, c in blocks for unit in ("s", "MB"))]
    rows = []
    for method in experiment.methods:
        cells = [summary.cell(d.name, c.name, method.name) for d, c in blocks]
        costs = [text for cell in cells for text in (_rounded(cell.mean("seconds"), 2), _rounded(cell.memory_mb, 0))]
        rows.append([method_label(method), *costs])
    return Table(columns, rows, f"{experiment.title}: seconds and memory of the fit")


def failure_text(*summaries: Summary) -> str:
    """List what failed, ran out of time or was skipped, each with its reason once; experiments may share runs."""
    told: dict[tuple[str, str], list[str]] = {}
    for row in {row["run"]: row for summary in summaries for row in summary.rows}.values():
        if row["status"] in ("skipped", *BAD):
            place = row["dataset"] if row["status"] == "skipped" else _place(row)
            told.setdefault((row["status"], " ".join(str(row["error"]).split())), []).append(place)
    if not told:
        return ""
    lines = [
        f"- {status} ({plural(len(places), 'run')}: {'; '.join(dict.fromkeys(places))}): {error}"
        for (status, error), places in told.items()
    ]
    return "\n".join(["## Runs without a result\n", *lines, ""])


def _place(row: dict[str, object]) -> str:
    return f"{row['method']} on {row['dataset']}, {row['corruption']}"


# Words and numbers -----------------------------------------------------------------------------------


def metric_name(metric: str) -> str:
    """Return a metric's name for headings."""
    return NAMES.get(metric, metric.upper() if len(metric) == 3 else metric)


def method_label(method: MethodSpec) -> str:
    """Return the label; of a swept method with the parameter's value."""
    return method.label if method.swept is None else f"{method.label}, {method.swept[0]} = {method.swept[1]}"


def digits_of(metric: str) -> int:
    """Return the decimals to print."""
    return 2 if metric in LOWER_IS_BETTER else 3


def signed(value: float, digits: int) -> str:
    """Write a difference with its sign."""
    return f"{value:+.{digits}f}".replace("-", "−")


def _plain(value: float | None) -> str:
    return NONE if value is None else f"{value:.10g}"


def _rounded(value: float | None, digits: int) -> str:
    return NONE if value is None else f"{value:.{digits}f}"


def plural(n: int, what: str) -> str:
    """Write a count with its noun."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def listed(items: Iterable[object]) -> str:
    """Write a list apart by commas."""
    return ", ".join(map(str, items))
