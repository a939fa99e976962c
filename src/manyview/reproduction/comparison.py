"""The paper's numbers next to ours: tables, the page that shows them all, and the files that contain them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from manyview.experiments import provenance
from manyview.experiments.bench_report import failure_text, markdown_report, overview, rank_text
from manyview.experiments.ranks import rank_methods
from manyview.experiments.result_tables import (
    COST_TEXT,
    LOWER_IS_BETTER,
    cost_table,
    flat_table,
    long_table,
    metric_name,
    printed_texts,
    score_table,
    score_text,
)
from manyview.experiments.results import Results
from manyview.experiments.spec import DatasetSpec, Experiment, MethodSpec
from manyview.experiments.store import Store
from manyview.experiments.text_table import TextTable, to_csv, to_latex, to_markdown
from manyview.io import write_files
from manyview.reproduction.figure_files import draw_figure
from manyview.reproduction.parts import CHECKS, TABLES

PAGE, IMAGES = "reproduction.md", "images"


def write_parts(by_part: Mapping[str, Results], store: Store) -> list[Path]:
    """Write every table (Markdown, CSV, LaTeX) and figure (PNG, PDF), and the page about all of them."""
    written, pictures = [], {}
    for part, results in by_part.items():
        if part in TABLES:
            written += write_files(store.folder, _table_files(part, results), force=True)
        else:
            drawn = draw_figure(part, results, store)
            pictures[part] = [name for name in drawn if name.endswith(".png")]
            written += write_files(store.folder / IMAGES, drawn, force=True) if drawn else []
    page = reproduction_page(by_part, pictures)
    return [*written, *write_files(store.folder, {PAGE: page}, force=True)]


def _table_files(part: str, results: Results) -> dict[str, str]:
    return {
        f"{part}.md": markdown_report(results),
        f"{part}.csv": to_csv(long_table(results)),
        f"{part}.tex": "\n".join(to_latex(score_table(results, m)) for m in results.experiment.metrics),
    }


def reproduction_page(by_part: Mapping[str, Results], pictures: Mapping[str, Sequence[str]]) -> str:
    """Write every cell of the paper next to ours, with a note on each difference if there is one."""
    parts = [HEAD, made_with(by_part)]
    for part, results in by_part.items():
        parts += [
            f"## {results.experiment.title}\n",
            f"{one_line(results.experiment.description)}\n",
            overview(results),
        ]
        parts += table_parts(part, results) if part in TABLES else _figure_parts(results, pictures.get(part, ()))
    first_table = next((results for part, results in by_part.items() if part in TABLES), None)
    if first_table is not None:
        parts += ["## Time and memory\n", COST_TEXT, to_markdown(cost_table(first_table))]
    parts.append(failure_text(*by_part.values()))
    return "\n".join(part for part in parts if part)


HEAD = """# What was reproduced

`manyview reproduce all --out DIR` writes this page (`DIR/reproduction.md`); nothing in it is edited by hand. *paper* is
the number printed by Wang and Wu (arXiv:1708.02288), *ours* is the mean of our repeats under the same corruption, and
*difference* is ours minus theirs. The paper corrupts the features (20 % of the entries get + Uniform[-5, 5],
here in standard deviations of the feature) for RLRR, LRRGL and its own method only; here every method runs on clean and
on corrupted features, and every method sees the same corrupted data. Methods run with the package's defaults, the same
for all data sets, while the paper tunes every method. A cell matches if the difference is at most 0.02 (ratios: 0.05);
where it does not, the number in brackets refers to a note on why.
"""


def made_with(by_part: Mapping[str, Results]) -> str:
    """List the versions and revisions that produced the rows."""
    rows = [row for results in by_part.values() for row in results.rows]
    versions = sorted({", ".join(f"{k} {v}" for k, v in sorted(row["versions"].items())) for row in rows})
    revisions = sorted({str(row["git"]) for row in rows})
    threads = sorted({str(row["threads"]) for row in rows})
    if not rows:
        return f"No runs yet (manyview {provenance.versions()['manyview']}).\n"
    return (
        f"Made with {'; '.join(versions)}; source revision {', '.join(revisions)}; "
        f"{', '.join(threads)} BLAS thread(s) per run.\n"
    )


def table_parts(part: str, results: Results) -> list[str]:
    """Return the tables of the paper's numbers next to ours, with their notes and the ranks."""
    parts = []
    for metric in results.experiment.metrics:
        if part in CHECKS or metric not in results.experiment.printed.values:
            parts += [f"### {metric_name(metric)}\n", to_markdown(flat_table(results, metric))]
            continue
        for dataset in results.experiment.datasets:
            table, notes = comparison_table(results, metric, dataset)
            parts += [f"### {metric_name(metric)}, {dataset.label}\n", to_markdown(table), notes]
        if metric not in LOWER_IS_BETTER:
            parts.append(rank_text(results, rank_methods(results, metric)))
    return parts


def comparison_table(results: Results, metric: str, dataset: DatasetSpec) -> tuple[TextTable, str]:
    """Return the paper's numbers next to ours, one line per method, and the notes that the lines refer to."""
    experiment = results.experiment
    notes: list[str] = []
    rows = [_comparison_row(results, metric, dataset, method, notes) for method in experiment.methods]
    ours = [f"ours, {corruption.label}" for corruption in experiment.corruptions]
    table = TextTable(["method", "paper's features", "paper", "ours", "difference", "matches", *ours], rows)
    listed = "".join(f"{i}. {note}\n" for i, note in enumerate(notes, 1))
    return table, listed


def _comparison_row(
    results: Results, metric: str, dataset: DatasetSpec, method: MethodSpec, notes: list[str]
) -> list[str]:
    experiment = results.experiment
    under = next((c for c in experiment.corruptions if c.name == experiment.printed.corruption.get(method.name)), None)
    everywhere = [score_text(results.cell(dataset.name, c.name, method.name), metric) for c in experiment.corruptions]
    value = None if under is None else experiment.printed.value(metric, dataset.name, under.name, method.name)
    if under is None or value is None:
        return [method.label, "", "", "", "", "", *everywhere]
    ours = results.cell(dataset.name, under.name, method.name).mean(metric)
    printed, difference = printed_texts(results, metric, dataset, under, method)
    score = score_text(results.cell(dataset.name, under.name, method.name), metric)
    verdict = "" if ours is None else _verdict(experiment, dataset, method, abs(ours - value), notes)
    return [method.label, under.label, printed, score, difference, verdict, *everywhere]


def _verdict(experiment: Experiment, dataset: DatasetSpec, method: MethodSpec, gap: float, notes: list[str]) -> str:
    """Say whether a cell matches. If not, add the notes about it to `notes`, and refer to them by number."""
    if gap <= experiment.printed.tolerance:
        return "yes"
    texts = [one_line(note.text) for note in experiment.notes if note.applies_to(dataset.name, method.name)]
    notes += [text for text in texts if text not in notes]
    return f"no [{', '.join(str(notes.index(text) + 1) for text in texts)}]" if texts else "no, not explained"


def one_line(text: str) -> str:
    """Join the lines of a text from a spec."""
    return " ".join(text.split())


def _figure_parts(results: Results, pictures: Sequence[str]) -> list[str]:
    parts = [f"![{results.experiment.title}]({IMAGES}/{name})\n" for name in pictures]
    notes = [f"- {one_line(note.text)}" for note in results.experiment.notes]
    tables = [to_markdown(score_table(results, "acc"))] if results.rows else []
    return [*parts, *tables, "\n".join(notes) + "\n" if notes else ""]
