"""`manyview bench`: run an experiment specified by the user."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    list_runs,
    print_texts,
    run_experiment,
    score_texts,
)
from manyview.cli.terminal import print_written
from manyview.experiments.bench_report import failure_text, write_report
from manyview.experiments.runner import Limits
from manyview.experiments.spec_file import read_spec


def bench(
    spec: Annotated[Path, typer.Argument(help="TOML file: data sets, corruptions, methods, repeats.")],
    out_dir: OutDir,
    jobs: Jobs = 1,
    timeout: Timeout = None,
    memory: Memory = None,
    threads: Threads = 1,
    data: Data = None,
    retry: Retry = False,
    stored: Stored = False,
    dry_run: DryRun = False,
) -> None:
    """Run an experiment of your own: every method on every data set under every corruption."""
    experiment = read_spec(spec)
    options = RunOptions(out_dir, Limits(timeout, memory, threads, data), jobs, retry, stored)
    if dry_run:
        return list_runs([experiment], options)
    results = run_experiment(experiment, options)
    print_texts([*score_texts(results), failure_text(results)])
    print_written(write_report(results, out_dir))
    return exit_if_failed([results])
