"""`manyview bench`: experiments of the user's own."""

from __future__ import annotations

from pathlib import Path
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
    score_texts,
    tell,
    told_files,
)
from manyview.experiments import report
from manyview.experiments.runner import Limits
from manyview.experiments.spec import read_spec


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
    how = How(out_dir, Limits(timeout, memory, threads, data), jobs, retry, stored)
    if dry_run:
        return list_runs([experiment], how)
    summary = carry_out(experiment, how)
    tell([*score_texts(summary), report.failure_text(summary)])
    told_files(report.write_report(summary, out_dir))
    return finish([summary])
