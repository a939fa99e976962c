"""What `bench` and `reproduce` share: options, running with a progress bar, and printing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from manyview.checks import InputError, plural, quoted
from manyview.cli import INTERRUPTED
from manyview.cli.terminal import display, err, print_line, print_note
from manyview.experiments.bench_report import overview, place_of
from manyview.experiments.result_tables import metric_name, score_table
from manyview.experiments.results import Results, changed_data, collect_results
from manyview.experiments.runner import Limits, check_sources, pending, run_all
from manyview.experiments.spec import Experiment
from manyview.experiments.store import FAILED, Row, Store
from manyview.experiments.text_table import to_markdown
from manyview.io import check_output

OutDir = Annotated[Path, typer.Option("--out", "-o", help="Folder for results; give the same one again to resume.")]
Jobs = Annotated[int, typer.Option(min=1, help="Number of runs at a time.")]
Timeout = Annotated[float | None, typer.Option(min=0.1, help="Time limit per run in seconds, including loading.")]
Memory = Annotated[int | None, typer.Option(min=1, help="Memory limit per run in MB.")]
Threads = Annotated[int, typer.Option(min=1, help="BLAS and OpenMP threads per run.")]
Data = Annotated[Path | None, typer.Option(help="Folder of data sets that are not embedded [env: MANYVIEW_DATA].")]
Retry = Annotated[bool, typer.Option("--retry", help="Repeat runs that failed or timed out.")]
Stored = Annotated[bool, typer.Option("--stored", help="Report stored results only; run nothing.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List the runs and exit.")]


@dataclass(frozen=True)
class RunOptions:
    """The options of both commands."""

    folder: Path
    limits: Limits
    jobs: int
    retry: bool
    stored: bool


def run_experiment(experiment: Experiment, options: RunOptions) -> Results:
    """Do the pending runs of an experiment (unless `stored`) with a progress bar, and collect all results."""
    store = Store(options.folder)
    check_output(options.folder, (), force=True)
    if options.stored:
        if not store.path.exists():
            raise InputError(f"{store.path} not found, so there is nothing to report; run without --stored first.")
        return collect_results(experiment, store)
    n_pending = len(pending(experiment, store, retry=options.retry))
    try:
        with progress_bar(experiment.title, n_pending) as advance:
            run_all(experiment, store, options.limits, jobs=options.jobs, retry=options.retry, on_row=advance)
    except KeyboardInterrupt:
        print_note(f"interrupted; finished runs are kept in {store.path}, run the same command again to resume")
        raise typer.Exit(INTERRUPTED) from None
    return collect_results(experiment, store)


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[Row], None]]:
    """Show a bar with the remaining time, on a terminal only."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    remaining = (TextColumn("remaining"), TimeRemainingColumn())
    with display(*columns, *remaining) as bar:
        task = bar.add_task(title, total=total)

        def advance(row: Row) -> None:
            text = f"{place_of(row)}: {row['status']}"
            if row["status"] in FAILED and err.is_terminal:
                bar.console.print(f"{text}: {row['error']}", style="red", markup=False, highlight=False)
            bar.update(task, advance=1, description=f"{title}: {text}")

        yield advance


def list_runs(experiments: Sequence[Experiment], options: RunOptions) -> None:
    """Print all runs, and which of them have a result."""
    store, lines = Store(options.folder), {}
    for experiment in experiments:
        check_sources(experiment)
        waiting = {run.id for run in pending(experiment, store, retry=options.retry)}
        for run in experiment.runs():
            state = "to run" if run.id in waiting else "done"
            axes = (run.dataset.name, run.corruption.name, run.method.name, f"repeat {run.repeat}", f"seed {run.seed}")
            lines[run.id] = f"{state:8}{'  '.join(axes)}"
    n_waiting = sum(line.startswith("to run") for line in lines.values())
    total = f"{len(lines)} runs, {n_waiting} to run, {options.jobs} at a time; rows are stored in {store.path}"
    print_texts([*lines.values(), total])


def score_texts(results: Results) -> list[str]:
    """Return a heading, and a table per metric."""
    texts = [heading(results)]
    for metric in results.experiment.metrics:
        texts.append(f"{metric_name(metric)}\n{to_markdown(score_table(results, metric))}")
    return texts


def heading(results: Results) -> str:
    """Return the title of an experiment, and how its runs ended."""
    return f"{results.experiment.title}\n{overview(results)}"


def print_texts(texts: Iterable[str]) -> None:
    """Print the texts that are not empty."""
    for text in filter(None, texts):
        print_line(text)


def exit_if_failed(results: Sequence[Results]) -> None:
    """Warn about skipped and changed data sets, and exit with 1 if any run failed."""
    changed = sorted({name for one in results for name in changed_data(one)})
    if changed:
        print_note(
            f"warning: rows of {quoted(changed)} come from different data; choose another --out to run everything again"
        )
    failed = {row["run"] for one in results for row in one.failures}
    skipped = {row["dataset"] for one in results for row in one.rows if row["status"] == "skipped"}
    if skipped:
        print_note(f"warning: skipped {quoted(sorted(skipped))}: data not found, see above")
    if failed:
        err.print(f"error: {plural(len(failed), 'run')} failed, see above", style="red", highlight=False)
        raise typer.Exit(1)
