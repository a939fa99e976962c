"""The tables and figures of the paper: their specs, their runs, and the page that compares them with ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import numpy as np
import scipy.sparse as sp

from manyview.checks import InputError, check_choice, quoted
from manyview.experiments import provenance, report
from manyview.experiments.runner import artifact_path
from manyview.experiments.spec import DatasetSpec, Experiment, MethodSpec, read_spec
from manyview.experiments.store import Store
from manyview.experiments.summary import Summary, rank_methods
from manyview.experiments.tables import Table, to_csv, to_latex, to_markdown
from manyview.io import write_files
from manyview.methods import METHODS

PRINTED_TABLES = ("table-acc", "table-nmi", "table-consensus")
CHECKS = ("table-baselines", "table-ratio", "table-classes", "table-small")
TABLES = (*PRINTED_TABLES, *CHECKS)
FIGURES = ("figure-affinity", "figure-parameters")
PARTS = (*TABLES, *FIGURES)
DATASETS = ("digits", "awa", "nus")
PAGE, IMAGES = "reproduction.md", "images"


def read_part(part: str) -> Experiment:
    """Read the spec of a table or figure."""
    return read_spec(Path(str(files("manyview.reproduction") / "specs" / f"{part}.toml")))


def select_parts(
    what: str, datasets: Sequence[str], methods: Sequence[str], repeats: int | None
) -> dict[str, Experiment]:
    """Return the experiments of what was asked for; a part without any of the methods or data sets is left out.

    Without names, the methods are the registered ones (and all in a check); variants that only a spec knows run when
    they are named. Figures and checks take at most the repeats of their spec.
    """
    named = [check_choice("part of the paper", part, (*PARTS, "all")) for part in what.split(",")]
    chosen = {part: read_part(part) for part in (PARTS if "all" in named else named)}
    _check_known("data set", datasets, DATASETS, what)
    _check_known("method", methods, [name for part in chosen.values() for name in part.method_names], what)
    selected = {}
    for part, experiment in chosen.items():
        usual = experiment.method_names if part in CHECKS else METHODS
        wanted = [name for name in experiment.method_names if name in (methods or usual)]
        where = [d for d in DATASETS if d in experiment.dataset_names and (not datasets or d in datasets)]
        if wanted and where:
            n = repeats if repeats is None or part in PRINTED_TABLES else min(repeats, experiment.repeats)
            selected[part] = experiment.select(where, wanted, n)
    return selected


def _check_known(kind: str, names: Sequence[str], known: Sequence[str], what: str) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(
            f"Unknown {kind} {quoted(unknown)} in {what}. Choose from: {quoted(dict.fromkeys(known), 20)}."
        )


def write_parts(summaries: Mapping[str, Summary], store: Store) -> list[Path]:
    """Write each table (Markdown, CSV, LaTeX) and figure (PNG, PDF), and the page about all of them."""
    written, pictures = [], {}
    for part, summary in summaries.items():
        if part in TABLES:
            written += write_files(store.folder, _table_files(part, summary), force=True)
        else:
            drawn = draw(part, summary, store)
            pictures[part] = [name for name in drawn if name.endswith(".png")]
            written += write_files(store.folder / IMAGES, drawn, force=True) if drawn else []
    page = reproduction_page(summaries, pictures)
    return [*written, *write_files(store.folder, {PAGE: page}, force=True)]


def _table_files(part: str, summary: Summary) -> dict[str, str]:
    return {
        f"{part}.md": report.markdown_report(summary),
        f"{part}.csv": to_csv(report.long_table(summary)),
        f"{part}.tex": "\n".join(to_latex(report.score_table(summary, m)) for m in summary.experiment.metrics),
    }


# Figures -------------------------------------------------------------------------------------------


def draw(part: str, summary: Summary, store: Store) -> dict[str, bytes]:
    """Draw a figure from the rows and what the runs kept."""
    plots = plot_functions()
    if part == "figure-parameters":
        curves = parameter_curves(summary)
        return plots.render(part, plots.plot_parameters(curves)) if curves else {}
    drawn: dict[str, bytes] = {}
    for dataset in summary.experiment.datasets:
        kept = kept_affinities(summary, store, dataset)
        if kept:
            figure = plots.plot_affinities(kept, f"{dataset.label}: {_subset_text(dataset)}, 20 % of entries corrupted")
            drawn |= plots.render(f"{part}-{dataset.name}", figure)
    return drawn


def plot_functions() -> ModuleType:
    """Return the module that draws, or say what to install."""
    try:
        from manyview.reproduction import figures as plots  # matplotlib is an extra
    except ImportError as error:
        raise InputError(f'Figures need matplotlib: pip install "manyview[plot]" ({error}).') from error
    return plots


def kept_affinities(
    summary: Summary, store: Store, dataset: DatasetSpec
) -> dict[str, tuple[sp.csr_array, np.ndarray, float]]:
    """Return affinity, true classes and ACC by method, where a run has left them."""
    found = {}
    for run in summary.experiment.runs():
        path = artifact_path(store, run)
        acc = summary.cell(dataset.name, run.corruption.name, run.method.name).mean("acc")
        if run.dataset == dataset and acc is not None and path.exists():
            with np.load(path, allow_pickle=False) as kept:
                n = int(kept["n"])
                W = sp.csr_array((kept["weight"], (kept["row"], kept["column"])), shape=(n, n))
                found[run.method.label] = (W, kept["labels"], acc)
    return found


def parameter_curves(summary: Summary) -> dict[str, dict[str, list[tuple[float, float, float]]]]:
    """Map parameter to line (data set, and variant) to (value, mean ACC, std)."""
    curves: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
    for dataset in summary.experiment.datasets:
        for method in summary.experiment.methods:
            cell = summary.cell(dataset.name, summary.experiment.corruptions[0].name, method.name)
            mean = cell.mean("acc")
            if mean is not None and method.swept is not None:
                parameter, value = method.swept
                line = f"{method.label}, {dataset.label}"
                curves.setdefault(parameter, {}).setdefault(line, []).append((value, mean, cell.std("acc") or 0.0))
    return curves


def _subset_text(dataset: DatasetSpec) -> str:
    return f"{dataset.subset.get('classes', '?')} classes x {dataset.subset.get('per_class', '?')} samples"


# The page ------------------------------------------------------------------------------------------


def reproduction_page(summaries: Mapping[str, Summary], pictures: Mapping[str, Sequence[str]]) -> str:
    """Every cell of the paper beside ours, with what is known where they differ."""
    parts = [HEAD, made_with(summaries)]
    for part, summary in summaries.items():
        parts += [
            f"## {summary.experiment.title}\n",
            f"{one_line(summary.experiment.description)}\n",
            report.overview(summary),
        ]
        parts += table_parts(part, summary) if part in TABLES else _figure_parts(summary, pictures.get(part, ()))
    costs = next((summary for part, summary in summaries.items() if part in TABLES), None)
    if costs is not None:
        parts += ["## Time and memory\n", report.COST_TEXT, to_markdown(report.cost_table(costs))]
    parts.append(report.failure_text(*summaries.values()))
    return "\n".join(part for part in parts if part)


HEAD = """# What was reproduced

This page is written by `manyview reproduce all --out DIR` (`DIR/reproduction.md`); nothing in it is edited by hand.
*paper* is the number that Wang and Wu print (arXiv:1708.02288), *ours* the mean of our repeats under the same
corruption, *difference* ours less theirs. The paper corrupts the features (20 % of the entries get + Uniform[-5, 5],
here in standard deviations of the feature) for RLRR, LRRGL and its own method only; here every method runs on both, and
every method sees the same corrupted data. Methods run with the package's defaults, the same for all data sets, while
the paper tunes each method to its best. A cell matches if the difference is at most 0.02 (ratios: 0.05); where it does
not, a number points to what is known about why.
"""


def made_with(summaries: Mapping[str, Summary]) -> str:
    """Versions and revisions behind the rows, each once."""
    rows = [row for summary in summaries.values() for row in summary.rows]
    versions = sorted({report.listed(f"{k} {v}" for k, v in sorted(row["versions"].items())) for row in rows})
    revisions = sorted({str(row["git"]) for row in rows})
    threads = sorted({str(row["threads"]) for row in rows})
    if not rows:
        return f"No run has been made yet (manyview {provenance.versions()['manyview']}).\n"
    return (
        f"Made with {'; '.join(versions)}; source revision {report.listed(revisions)}; "
        f"{report.listed(threads)} BLAS thread(s) per run.\n"
    )


def table_parts(part: str, summary: Summary) -> list[str]:
    """Return the tables of paper against ours, with their notes, and the ranks."""
    parts = []
    for metric in summary.experiment.metrics:
        if part in CHECKS or metric not in summary.experiment.printed.values:
            parts += [f"### {report.metric_name(metric)}\n", to_markdown(report.flat_table(summary, metric))]
            continue
        for dataset in summary.experiment.datasets:
            table, notes = comparison(summary, metric, dataset)
            parts += [f"### {report.metric_name(metric)}, {dataset.label}\n", to_markdown(table), notes]
        if metric not in report.LOWER_IS_BETTER:
            parts.append(report.rank_text(summary, rank_methods(summary, metric)))
    return parts


def comparison(summary: Summary, metric: str, dataset: DatasetSpec) -> tuple[Table, str]:
    """Paper against ours, a line per method, and the notes that the lines point to."""
    experiment = summary.experiment
    notes: list[str] = []
    rows = [_comparison_row(summary, metric, dataset, method, notes) for method in experiment.methods]
    ours = [f"ours, {corruption.label}" for corruption in experiment.corruptions]
    table = Table(["method", "paper's features", "paper", "ours", "difference", "matches", *ours], rows)
    listed = "".join(f"{i}. {note}\n" for i, note in enumerate(notes, 1))
    return table, listed


def _comparison_row(
    summary: Summary, metric: str, dataset: DatasetSpec, method: MethodSpec, notes: list[str]
) -> list[str]:
    experiment = summary.experiment
    under = next((c for c in experiment.corruptions if c.name == experiment.printed.corruption.get(method.name)), None)
    everywhere = [
        report.score_text(summary.cell(dataset.name, c.name, method.name), metric) for c in experiment.corruptions
    ]
    value = None if under is None else experiment.printed.value(metric, dataset.name, under.name, method.name)
    if under is None or value is None:
        return [method.label, "", "", "", "", "", *everywhere]
    ours = summary.cell(dataset.name, under.name, method.name).mean(metric)
    printed, difference = report.printed_texts(summary, metric, dataset, under, method)
    told = report.score_text(summary.cell(dataset.name, under.name, method.name), metric)
    verdict = "" if ours is None else _verdict(experiment, dataset, method, abs(ours - value), notes)
    return [method.label, under.label, printed, told, difference, verdict, *everywhere]


def _verdict(experiment: Experiment, dataset: DatasetSpec, method: MethodSpec, gap: float, notes: list[str]) -> str:
    """Say whether a cell matches; if not, with the numbers of the notes about it, which are added to `notes`."""
    if gap <= experiment.printed.tolerance:
        return "yes"
    texts = [one_line(note.text) for note in experiment.notes if note.is_about(dataset.name, method.name)]
    notes += [text for text in texts if text not in notes]
    return f"no [{report.listed(notes.index(text) + 1 for text in texts)}]" if texts else "no, not explained"


def one_line(text: str) -> str:
    """Undo the line breaks of a text in a spec."""
    return " ".join(text.split())


def _figure_parts(summary: Summary, pictures: Sequence[str]) -> list[str]:
    parts = [f"![{summary.experiment.title}]({IMAGES}/{name})\n" for name in pictures]
    notes = [f"- {one_line(note.text)}" for note in summary.experiment.notes]
    tables = [to_markdown(report.score_table(summary, "acc"))] if summary.rows else []
    return [*parts, *tables, "\n".join(notes) + "\n" if notes else ""]
