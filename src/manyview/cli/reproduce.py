"""`manyview reproduce`: the tables and figures of the paper."""

from __future__ import annotations

from typing import Annotated

import typer

from manyview.cli.running import (
    Data,
    DryRun,
    How,
    Jobs,
    Memory,
    OutDir,
    Retry,
    Stored,
    Threads,
    Timeout,
    carry_out,
    finish,
    list_runs,
    tell,
    told_files,
)
from manyview.experiments import report
from manyview.experiments.runner import Limits
from manyview.experiments.store import Store
from manyview.reproduction import page as paper


def reproduce(
    what: Annotated[str, typer.Argument(help=f"One or more, apart by commas: {', '.join((*paper.PARTS, 'all'))}.")],
    out_dir: OutDir,
    datasets: Annotated[str, typer.Option(help="Data sets, apart by commas.")] = "digits,awa,nus",
    methods: Annotated[str, typer.Option(help="Methods, apart by commas; all seven systems by default.")] = "",
    repeats: Annotated[int | None, typer.Option(min=1, help="Repeats; 10 by default, 3 in figures.")] = None,
    jobs: Jobs = 1,
    timeout: Timeout = None,
    memory: Memory = None,
    threads: Threads = 1,
    data: Data = None,
    retry: Retry = False,
    stored: Stored = False,
    dry_run: DryRun = False,
) -> None:
    """Make a table or figure of the paper again, with the printed numbers beside ours."""
    experiments = paper.select_parts(what, words(datasets), words(methods), repeats)
    how = How(out_dir, Limits(timeout, memory, threads, data), jobs, retry, stored)
    if dry_run:
        return list_runs(list(experiments.values()), how)
    if set(experiments) & set(paper.FIGURES):
        paper.plot_functions()  # told now if there are none, not after hours of runs
    summaries = {part: carry_out(experiment, how) for part, experiment in experiments.items()}
    for part, summary in summaries.items():
        tell([f"{summary.experiment.title}\n{report.overview(summary)}"])
        tell(paper.table_parts(part, summary) if part in paper.TABLES else [])
    tell([report.failure_text(*summaries.values())])
    told_files(paper.write_parts(summaries, Store(out_dir)))
    return finish(list(summaries.values()))


def words(text: str) -> list[str]:
    """Split at commas."""
    return [word.strip() for word in text.split(",") if word.strip()]
