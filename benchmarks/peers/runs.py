"""One run is one method on one input, in a separate process; every run leaves a row, and none is repeated.

The rows, their store and their scores are those of `manyview.experiments`. Only the worker differs: peers run in
environments without manyview, behind adapters/harness.py.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from cases import Case
from environments import HERE, Peer

from manyview.evaluation.metrics import score_labels
from manyview.experiments.provenance import git_revision
from manyview.experiments.runner import THREAD_VARIABLES
from manyview.experiments.store import Row, Store

SEED = 0
OVER_LIMIT = ("timeout", "memory")


@dataclass(frozen=True)
class FitLimits:
    """Limits of a fit."""

    cpu_seconds: float
    memory_mb: float


def run_all(
    command: str,
    cases: Iterable[Case],
    peers: Sequence[Peer],
    limits: FitLimits,
    *,
    envs: Path,
    store: Store,
    redo: Sequence[str] = (),
    stored: bool = False,
) -> Iterator[Row]:
    """Yield a row for every method on every input: the stored one, or (unless `stored`) a new one.

    What `redo` names is always run.
    """
    with store.writing(), Adapters(envs) as adapters:
        known = {run: row for run, row in store.rows().items() if not is_named(row, redo)}
        over_limit: list[Row] = []
        for case, peer, method in ((c, p, m) for c in cases for p in peers for m in getattr(p, command)):
            row = start_row(command, case, peer, method)
            if row["run"] in known:
                row = known[row["run"]]
            elif any(is_larger(row, earlier) for earlier in over_limit):
                row |= {"status": "not tried"}
            elif stored and not is_named(row, redo):
                row |= {"status": "-"}
            elif not peer.is_ready(envs):
                row |= {"status": "not installed"}
            else:
                row |= measure(case, adapters.of(peer), method, limits)
                store.append(row)
            if row["status"] in OVER_LIMIT:
                over_limit.append(row)
            yield row


def start_row(command: str, case: Case, peer: Peer, method: str) -> Row:
    """The part of a row that is known before the run."""
    return {
        "run": f"{command}/{case.data}/{case.kind}/{case.draw}/{peer.name}/{method}",
        "dataset": case.data,
        "corruption": case.kind,
        "repeat": case.draw,
        "n_samples": case.views.n_samples,
        "n_views": case.views.n_views,
        "n_features": sum(X.shape[1] for X in case.views.arrays),
        "peer": peer.name,
        "method": method,
        "scores": {},
    }


def is_named(row: Row, names: Sequence[str]) -> bool:
    """Whether the row's peer or method is among the names."""
    return row["peer"] in names or row["method"] in names


def is_larger(row: Row, earlier: Row) -> bool:
    """Whether the same method already exceeded its limits on an input that was not larger."""
    same = all(row[key] == earlier[key] for key in ("peer", "method"))
    return same and all(row[key] >= earlier[key] for key in ("n_samples", "n_views", "n_features"))


def measure(case: Case, adapter: Adapter, method: str, limits: FitLimits) -> Row:
    """Fit, and compare the labels with the true ones, which the method does not see."""
    row = fit(case, adapter, method, limits)
    if "labels" in row:
        row |= {"status": "converged", "scores": score_labels(case.labels, row.pop("labels"))}
    return row | {"limits": asdict(limits), "git": git_revision()}


def fit(case: Case, adapter: Adapter, method: str, limits: FitLimits) -> Row:
    """Fit; return the labels and what was measured, or how it ended without labels."""
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        views, result = Path(folder) / "views.npz", Path(folder) / "result.json"
        case.write(views)
        task = {"method": method, "views": str(views), "result": str(result), "n_clusters": case.n_clusters}
        ended = adapter.ask(task | {"seed": SEED} | asdict(limits))
        return json.loads(result.read_text(encoding="utf-8")) if result.exists() else ended


class Adapters:
    """The running adapters: one process per peer, started on first use."""

    def __init__(self, envs: Path) -> None:
        self.envs = envs
        self._running: dict[str, Adapter] = {}

    def __enter__(self) -> Adapters:
        return self

    def __exit__(self, *_: object) -> None:
        for adapter in self._running.values():
            adapter.close()

    def of(self, peer: Peer) -> Adapter:
        """The adapter of a peer."""
        if peer.name not in self._running:
            self._running[peer.name] = Adapter(peer, self.envs)
        return self._running[peer.name]


class Adapter:
    """A process that runs the methods of a peer with one thread, see adapters/harness.py."""

    def __init__(self, peer: Peer, envs: Path) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="peers-")  # some packages write files where they run
        self._messages = Path(self._folder.name) / "stderr.txt"
        self._process = subprocess.Popen(
            [peer.python(envs), HERE / "adapters" / peer.adapter],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._messages.open("w"),
            text=True,
            env=os.environ | dict.fromkeys((*THREAD_VARIABLES, "NUMBA_NUM_THREADS"), "1"),
            cwd=self._folder.name,
            start_new_session=True,
        )

    def ask(self, task: Mapping[str, object]) -> Row:
        """Do a task; return how it ended, in case it left no result."""
        with suppress(BrokenPipeError):
            print(json.dumps(task), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if answer:
            return json.loads(answer)
        lines = self._messages.read_text(errors="replace").strip().splitlines()
        return {"status": "error", "error": lines[-1][:500] if lines else "the adapter exited without a message"}

    def close(self) -> None:
        """End the process and its child, if it has forked one."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait()
        self._folder.cleanup()
