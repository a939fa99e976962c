"""Carries out the runs: one child process each, several at a time, with limits; every run leaves a row."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from manyview.checks import InputError, check_real
from manyview.experiments import provenance
from manyview.experiments.sources import check_source, identify_data, plugin_version
from manyview.experiments.spec import Experiment, Run
from manyview.experiments.store import DONE, FAILED, Row, Store

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
ARTIFACT_FOLDER = "artifacts"
LONGEST = 1e9  # seconds that a run may be waited for; some systems cannot count to more


@dataclass(frozen=True)
class Limits:
    """Limits of a run, and the folder of its data."""

    timeout: float | None = None
    memory_mb: int | None = None
    threads: int = 1
    data_folder: Path | None = None

    def __post_init__(self) -> None:
        if self.timeout is not None:
            check_real("--timeout", self.timeout, minimum=0.1, maximum=LONGEST)
        if self.data_folder is not None and not self.data_folder.is_dir():
            raise InputError(f"--data {self.data_folder} is not a folder; give the folder of the data sets.")
        if self.memory_mb and find_spec("resource") is None:
            raise InputError(f"--memory {self.memory_mb} cannot be enforced on {sys.platform}; leave it out.")


def pending(experiment: Experiment, store: Store, *, retry: bool = False) -> list[Run]:
    """Return the runs without a result. Skipped runs always count; failures and timeouts only with `retry`."""
    finished = DONE if retry else (*DONE, *FAILED)
    rows = rows_of(experiment, store)
    return [
        run
        for run in experiment.runs()
        if rows.get(run.id, {}).get("status") not in finished or not _has_artifact(store, run, rows[run.id])
    ]


def rows_of(experiment: Experiment, store: Store) -> dict[str, Row]:
    """Return the rows of an experiment's runs by run id; rows from data of another source are left out."""
    rows, sources = store.rows(), {d.name: identify_data(d.source, experiment.folder) for d in experiment.datasets}
    own = {run.id: sources[run.dataset.name] for run in experiment.runs() if run.id in rows}
    return {run: rows[run] for run, source in own.items() if source in (None, rows[run].get("data_source", source))}


def run_all(
    experiment: Experiment,
    store: Store,
    limits: Limits,
    *,
    jobs: int = 1,
    retry: bool = False,
    on_row: Callable[[Row], object] = lambda _: None,
) -> None:
    """Do all pending runs, `jobs` at a time; each row is on disk before `on_row` is called with it."""
    check_sources(experiment)
    # children are killed before the pool waits for its threads, so an interruption takes effect at once
    with store.writing(), ThreadPoolExecutor(jobs) as pool, _Children() as children:
        known = store.rows()
        todo = iter(pending(experiment, store, retry=retry))
        missing: dict[str, str] = {}
        for row in _parallel(pool, lambda run: _do_run(run, experiment, store, limits, missing, children), todo, jobs):
            if row["status"] == "skipped":
                missing[row["dataset"]] = row["error"]
            if not _same_skip(row, known.get(row["run"])):
                store.append(row)
            on_row(row)


def check_sources(experiment: Experiment) -> None:
    """Check that every method and data set can be found, before anything runs."""
    for method in experiment.methods:
        check_source("method", method.source, experiment.folder)
    for dataset in experiment.datasets:
        check_source("data set", dataset.source, experiment.folder)


def artifact_path(store: Store, run: Run) -> Path:
    """Return the file in which a run saves what the spec asks to keep."""
    return store.folder / ARTIFACT_FOLDER / f"{run.id}.npz"


def _has_artifact(store: Store, run: Run, row: Row) -> bool:
    return row["status"] not in DONE or not run.method.keep or artifact_path(store, run).exists()


def _same_skip(row: Row, before: Row | None) -> bool:
    """Return whether the row only repeats that data are missing; one such row is enough."""
    return before is not None and row["status"] == before["status"] == "skipped" and row["error"] == before["error"]


def _parallel(pool: Executor, job: Callable[[Run], Row], todo: Iterator[Run], jobs: int) -> Iterator[Row]:
    """Yield rows as they arrive; a run is submitted only when a worker is free, so an interruption affects few."""
    active: set[Future[Row]] = set()
    while True:
        while len(active) < jobs and (run := next(todo, None)) is not None:
            active.add(pool.submit(job, run))
        if not active:
            return
        finished, active = wait(active, return_when=FIRST_COMPLETED)
        for future in finished:
            yield future.result()


# One run -------------------------------------------------------------------------------------------


def _do_run(
    run: Run, experiment: Experiment, store: Store, limits: Limits, missing: dict[str, str], children: _Children
) -> Row:
    source = {"data_source": identify_data(run.dataset.source, experiment.folder)}
    if run.dataset.name in missing:  # an earlier run found that out, so no other process is needed
        return start_row(run, limits) | source | {"status": "skipped", "error": missing[run.dataset.name]}
    with tempfile.TemporaryDirectory(prefix="manyview-") as scratch:
        result = Path(scratch) / "row.json"
        task = _task(run, experiment, store, limits, result)
        ending = children.run(task, limits, Path(scratch))
        row = start_row(run, limits) | source
        if ending is not None:
            return row | ending
        return row | json.loads(result.read_text(encoding="utf-8"), parse_constant=lambda _: None)


def start_row(run: Run, limits: Limits) -> Row:
    """Return the part of the row that is known before the run."""
    return {
        "run": run.id,
        "dataset": run.dataset.name,
        "corruption": run.corruption.name,
        "method": run.method.name,
        "repeat": run.repeat,
        "seed": run.seed,
        "params": dict(run.method.params),
        "source": run.method.source,
        "data_axes": run.data_axes,
        "scores": {},
        "seconds": None,
        "versions": provenance.versions() | plugin_version(run.method.source),
        "git": provenance.git_revision(),
        "threads": limits.threads,
        "timeout": limits.timeout,
        "memory_limit_mb": limits.memory_mb,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _task(run: Run, experiment: Experiment, store: Store, limits: Limits, result: Path) -> dict[str, Any]:
    return {
        "dataset": asdict(run.dataset),
        "corruption": asdict(run.corruption),
        "method": asdict(run.method),
        "seed": run.seed,
        "subset_seed": run.subset_seed,
        "folder": str(experiment.folder),
        "memory_mb": limits.memory_mb,
        "artifact": str(artifact_path(store, run).resolve()),
        "result": str(result),
    }


class _Children:
    """The child processes; leaving the context kills those still running."""

    def __init__(self) -> None:
        self._alive: set[subprocess.Popen[str]] = set()
        self._closed = False

    def __enter__(self) -> _Children:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        for child in list(self._alive):
            _kill(child)

    def run(self, task: dict[str, Any], limits: Limits, scratch: Path) -> Row | None:
        """Run a child until it exits; return how it ended if it left no row."""
        if self._closed:
            return {"status": "failed", "error": "interrupted"}
        with (scratch / "stderr").open("wb") as errors, (scratch / "stdout").open("wb") as sink:
            child = subprocess.Popen(
                [sys.executable, "-m", "manyview.experiments.worker"],
                stdin=subprocess.PIPE,
                stdout=sink,
                stderr=errors,
                text=True,
                env=_environment(limits),
                start_new_session=True,
            )
            self._alive.add(child)
            try:
                return _wait(child, task, limits.timeout, Path(errors.name))
            finally:
                _kill(child)
                self._alive.discard(child)


def _wait(child: subprocess.Popen[str], task: dict[str, Any], timeout: float | None, errors: Path) -> Row | None:
    assert child.stdin is not None
    try:
        child.stdin.write(json.dumps(task) + "\n")
        child.stdin.flush()  # it stays open: closing it would tell the child that its parent has died
        code = child.wait(timeout)
    except subprocess.TimeoutExpired:
        return {"status": "timeout", "error": f"killed after {timeout:g} s"}
    except BrokenPipeError:
        code = child.wait()
    if code == 0 and Path(task["result"]).exists():
        return None
    return {"status": "failed", "error": _death_message(code, errors, task["memory_mb"])}


def _death_message(code: int, errors: Path, memory_mb: int | None) -> str:
    how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    lines = [line for line in errors.read_text(errors="replace").splitlines() if line.strip()]
    limit = f" (memory limit {memory_mb} MB)" if memory_mb else ""
    return f"process {how}{limit}: {lines[-1].strip()[:500] if lines else 'no message'}"


def _environment(limits: Limits) -> dict[str, str]:
    """Return the environment of a child: thread limits, set before any library loads, and data folder."""
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(limits.threads))
    if limits.data_folder is not None:
        environment["MANYVIEW_DATA"] = str(limits.data_folder.resolve())
    return environment


def _kill(child: subprocess.Popen[str]) -> None:
    """Kill a child and everything it started, if it still runs, and wait for it."""
    if child.poll() is None:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except (AttributeError, ProcessLookupError, PermissionError):
            child.kill()
    child.wait()
    if child.stdin is not None:
        with suppress(OSError):
            child.stdin.close()
