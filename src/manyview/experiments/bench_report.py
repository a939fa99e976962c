"""The report of an experiment: its tables on one page, with ranks and failures in words."""

from __future__ import annotations

from pathlib import Path

from manyview.checks import plural
from manyview.experiments.ranks import Ranks, rank_methods
from manyview.experiments.result_tables import (
    COST_TEXT,
    LOWER_IS_BETTER,
    cost_table,
    long_table,
    method_label,
    metric_name,
    score_table,
)
from manyview.experiments.results import Results
from manyview.experiments.store import FAILED, Row
from manyview.experiments.text_table import to_csv, to_latex, to_markdown
from manyview.io import write_files

SIGNIFICANCE = 0.05  # level of the Friedman test


def write_report(results: Results, folder: Path) -> list[Path]:
    """Write report.md, results.csv (a line per cell and metric), and a LaTeX table per metric."""
    files = {"report.md": markdown_report(results), "results.csv": to_csv(long_table(results))}
    files |= {f"{metric}.tex": to_latex(score_table(results, metric)) for metric in results.experiment.metrics}
    return write_files(folder, files, force=True)


def markdown_report(results: Results) -> str:
    """Write everything about an experiment on one page."""
    experiment = results.experiment
    parts = [f"# {experiment.title}\n", experiment.description, overview(results)]
    for metric in experiment.metrics:
        parts += [f"## {metric_name(metric)}\n", to_markdown(score_table(results, metric))]
        if metric not in LOWER_IS_BETTER:
            parts.append(rank_text(results, rank_methods(results, metric)))
    parts += ["## Time and memory\n", COST_TEXT, to_markdown(cost_table(results)), failure_text(results)]
    return "\n".join(part for part in parts if part)


def overview(results: Results) -> str:
    """Say in one line how many runs there are, and how they ended."""
    rows = results.rows
    total = sum(1 for _ in results.experiment.runs())
    counts = {s: sum(row["status"] == s for row in rows) for s in ("converged", "max_iter", "skipped", *FAILED)}
    ended = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    repeats = plural(results.experiment.repeats, "repeat")
    return f"{len(rows)} of {total} runs ({ended or 'none yet'}); mean ± standard deviation of {repeats}.\n"


def rank_text(results: Results, ranks: Ranks | None) -> str:
    """Describe the average ranks, and what the test says about them."""
    if ranks is None:
        return ""
    labels = {method.name: method_label(method) for method in results.experiment.methods}
    ordered = sorted(ranks.average.items(), key=lambda item: item[1])
    listed = ", ".join(f"{labels[name]} {rank:.2f}" for name, rank in ordered)
    text = f"Average ranks over {plural(ranks.n_blocks, 'block')} (data set x corruption, repeats averaged): {listed}."
    if ranks.p_value is None or ranks.critical_difference is None:
        return f"{text} No test: it needs at least three methods, and two blocks that differ.\n"
    test = f"Friedman p = {ranks.p_value:.2g}; Nemenyi critical difference at 5 %: {ranks.critical_difference:.2f}."
    (first, best), *others = ordered
    worse = [labels[name] for name, rank in others if rank - best > ranks.critical_difference]
    if ranks.p_value < SIGNIFICANCE and worse:
        return f"{text} {test} {labels[first]} ranks significantly better than {', '.join(worse)}.\n"
    return f"{text} {test} No method ranks significantly better than another.\n"


def failure_text(*results: Results) -> str:
    """List what failed, timed out or was skipped, each reason once; experiments may share runs."""
    places: dict[tuple[str, str], list[str]] = {}
    for row in {row["run"]: row for one in results for row in one.rows}.values():
        if row["status"] in ("skipped", *FAILED):
            place = row["dataset"] if row["status"] == "skipped" else place_of(row)
            places.setdefault((row["status"], " ".join(str(row["error"]).split())), []).append(place)
    if not places:
        return ""
    lines = [
        f"- {status} ({plural(len(found), 'run')}: {'; '.join(dict.fromkeys(found))}): {error}"
        for (status, error), found in places.items()
    ]
    return "\n".join(["## Runs without a result\n", *lines, ""])


def place_of(row: Row) -> str:
    """Say which method ran on which data."""
    return f"{row['method']} on {row['dataset']}, {row['corruption']}"
