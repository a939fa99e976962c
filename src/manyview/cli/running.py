"""What `bench` and `reproduce` share: options, running with a progress bar, and the last lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from manyview.checks import InputError, quoted
from manyview.cli.terminal import err, out
from manyview.experiments import report
from manyview.experiments.runner import Limits, check_sources, pending, run_all
from manyview.experiments.spec import Experiment
from manyview.experiments.store import BAD, Row, Store
from manyview.experiments.summary import Summary, summarize
from manyview.experiments.tables import to_markdown

OutDir = Annotated[Path, typer.Option("--out", "-o", help="Folder for rows and reports; the same again resumes.")]
Jobs = Annotated[int, typer.Option(min=1, help="Runs at the same time.")]
Timeout = Annotated[float | None, typer.Option(min=0.1, help="Seconds that a run may take, with loading.")]
Memory = Annotated[int | None, typer.Option(min=1, help="Memory (MB) that a run may take.")]
Threads = Annotated[int, typer.Option(min=1, help="BLAS and OpenMP threads of a run.")]
Data = Annotated[Path | None, typer.Option(help="Folder of data sets that are not embedded [env: MANYVIEW_DATA].")]
Retry = Annotated[bool, typer.Option("--retry", help="Run again what failed or ran out of time.")]
Stored = Annotated[bool, typer.Option("--stored", help="Report what is there, and run nothing.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List the runs, and do nothing.")]


@dataclass(frozen=True)
class How:
    """How to run: what both commands take."""

    folder: Path
    limits: Limits
    jobs: int
    retry: bool
    stored: bool


def carry_out(experiment: Experiment, how: How) -> Summary:
    """Do the pending runs of an experiment (unless `stored`), with a progress display, and collect all rows."""
    store = Store(how.folder)
    if how.folder.exists() and not how.folder.is_dir():
        raise InputError(f"{how.folder} is a file; give a folder for the results with --out.")
    if how.stored:
        if not store.path.exists():
            raise InputError(f"{store.path} is not there, so there is nothing to report; leave out --stored to run.")
        return summarize(experiment, store)
    todo = len(pending(experiment, store, retry=how.retry))
    try:
        with progress(experiment.title, todo) as step:
            run_all(experiment, store, how.limits, jobs=how.jobs, retry=how.retry, on_row=step)
    except KeyboardInterrupt:
        told = f"interrupted; finished runs are kept in {store.path}, the same command goes on from there"
        err.print(told, style="yellow", markup=False, highlight=False)
        raise typer.Exit(1) from None
    return summarize(experiment, store)


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[Row], None]]:
    """Show a bar with the time left, on a terminal only."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    left = (TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *left, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(title, total=total)

        def step(row: Row) -> None:
            told = f"{row['method']} on {row['dataset']}, {row['corruption']}: {row['status']}"
            if row["status"] in BAD and err.is_terminal:
                bar.console.print(f"{told}: {row['error']}", style="red", markup=False, highlight=False)
            bar.update(task, advance=1, description=f"{title}: {told}")

        yield step


def list_runs(experiments: Sequence[Experiment], how: How) -> None:
    """Print the runs there are, and which of them have a result."""
    store, lines, todo = Store(how.folder), {}, 0
    for experiment in experiments:
        check_sources(experiment)
        waiting = {run.id for run in pending(experiment, store, retry=how.retry)}
        for run in experiment.runs():
            state = "to run" if run.id in waiting else "done"
            axes = (run.dataset.name, run.corruption.name, run.method.name, f"repeat {run.repeat}", f"seed {run.seed}")
            lines[run.id] = f"{state:8}{'  '.join(axes)}"
    todo = sum(line.startswith("to run") for line in lines.values())
    tell([*lines.values(), f"{len(lines)} runs, {todo} to run, {how.jobs} at a time; rows go to {store.path}"])


def score_texts(summary: Summary) -> list[str]:
    """Return a heading and a table per metric."""
    texts = [f"{summary.experiment.title}\n{report.overview(summary)}"]
    for metric in summary.experiment.metrics:
        texts.append(f"{report.metric_name(metric)}\n{to_markdown(report.score_table(summary, metric))}")
    return texts


def tell(lines: Sequence[str]) -> None:
    """Print texts as they are."""
    for line in lines:
        if line:
            out.print(line, markup=False, highlight=False)


def told_files(paths: Sequence[Path]) -> None:
    """Say what was written."""
    out.print("wrote " + ", ".join(map(str, paths)), highlight=False, markup=False)


def finish(summaries: Sequence[Summary]) -> None:
    """Exit with 1 if any run failed; say what was skipped."""
    failed = {row["run"]: row for summary in summaries for row in summary.failures}
    skipped = {row["dataset"] for summary in summaries for row in summary.rows if row["status"] == "skipped"}
    if skipped:
        err.print(
            f"warning: skipped {quoted(sorted(skipped))}: data not found, see above", style="yellow", highlight=False
        )
    if failed:
        err.print(f"error: {report.plural(len(failed), 'run')} failed, see above", style="red", highlight=False)
        raise typer.Exit(1)
