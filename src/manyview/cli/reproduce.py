"""`manyview reproduce`: the tables and figures of the paper."""

from __future__ import annotations

from typing import Annotated

import typer

from manyview.cli.options import completing
from manyview.cli.running import (
    Data,
    DryRun,
    Jobs,
    Memory,
    OutDir,
    Retry,
    RunOptions,
    Stored,
    Threads,
    Timeout,
    exit_if_failed,
    heading,
    list_runs,
    print_texts,
    run_experiment,
)
from manyview.cli.terminal import print_written
from manyview.experiments.bench_report import failure_text
from manyview.experiments.runner import Limits
from manyview.experiments.store import Store
from manyview.reproduction.comparison import table_parts, write_parts
from manyview.reproduction.figure_files import plot_functions
from manyview.reproduction.parts import FIGURES, PARTS, TABLES, select_parts


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help=f"One or more parts, comma-separated: {', '.join((*PARTS, 'all'))}.",
            autocompletion=completing((*PARTS, "all")),
        ),
    ],
    out_dir: OutDir,
    datasets: Annotated[str, typer.Option(help="Data sets, comma-separated.")] = "digits,awa,nus",
    methods: Annotated[str, typer.Option(help="Methods, comma-separated; by default all systems.")] = "",
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Number of repeats; by default 10 for tables and 3 for figures.")
    ] = None,
    jobs: Jobs = 1,
    timeout: Timeout = None,
    memory: Memory = None,
    threads: Threads = 1,
    data: Data = None,
    retry: Retry = False,
    stored: Stored = False,
    dry_run: DryRun = False,
) -> None:
    """Reproduce the tables and figures of the paper, with the published numbers next to ours."""
    experiments = select_parts(what, split_names(datasets), split_names(methods), repeats)
    options = RunOptions(out_dir, Limits(timeout, memory, threads, data), jobs, retry, stored)
    if dry_run:
        return list_runs(list(experiments.values()), options)
    if set(experiments) & set(FIGURES):
        plot_functions()  # fails now, not after hours of runs, if matplotlib is missing
    by_part = {part: run_experiment(experiment, options) for part, experiment in experiments.items()}
    for part, results in by_part.items():
        print_texts([heading(results), *(table_parts(part, results) if part in TABLES else ())])
    print_texts([failure_text(*by_part.values())])
    print_written(write_parts(by_part, Store(out_dir)))
    return exit_if_failed(list(by_part.values()))


def split_names(text: str) -> list[str]:
    """Split a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]
