"""One run in a process of its own: reads a task from stdin, writes its row to a file.

The parent holds the other end of stdin; when that closes, the parent is gone, and so is this process.
"""

from __future__ import annotations

import json
import math
import os
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from manyview.checks import InputError
from manyview.datasets import Dataset, MissingDataError
from manyview.evaluation.metrics import score_labels
from manyview.experiments import provenance
from manyview.experiments.measures import consensus_scores
from manyview.experiments.sources import load_dataset, make_method
from manyview.preprocessing import corruption
from manyview.views.container import Views

NOISE: dict[str, Callable[..., Views]] = {
    "entries": corruption.corrupt_entries,
    "replace": corruption.replace_entries,
    "gaussian": corruption.add_gaussian,
    "missing": corruption.drop_entries,
    "views": corruption.replace_views,
}
MB = 2**20


def main() -> None:
    """Do the task, and leave the row in the file that the task names."""
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_die_with_parent, daemon=True).start()
    limit_memory(task["memory_mb"])
    row = do(task)
    out = Path(task["result"])
    out.write_text(json.dumps(row, default=float), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # not held up by threads that a method may have left


def do(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return the measured part of the row; whatever goes wrong becomes a status and an error text."""
    row: dict[str, Any] = {"status": "failed", "error": None}
    try:
        row |= _run(task, row)
    except MissingDataError as error:
        row |= {"status": "skipped", "error": str(error)}
    except MemoryError as error:
        limit = f" over the limit of {task['memory_mb']} MB" if task["memory_mb"] else ""
        row |= {"error": f"MemoryError: out of memory{limit}. {error}".strip()}
    except InputError as error:
        row |= {"error": f"{type(error).__name__}: {error}"}
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}, line {where.lineno}"
        row |= {"error": f"{type(error).__name__}: {error} ({place})"}
    return row


def _run(task: Mapping[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Load, corrupt, fit, score; what is known before the fit goes to `row` at once, so a failure keeps it."""
    folder = Path(task["folder"])
    data = load_dataset(task["dataset"]["name"], task["dataset"]["source"], folder, task["dataset"]["params"])
    data = draw_subset(data, task["dataset"]["subset"], task["subset_seed"])
    views = corrupt(data.views, task["corruption"], task["seed"])
    row |= {
        "n_samples": views.n_samples,
        "features": [int(X.shape[1]) for X in views.arrays],
        "n_clusters": data.n_classes,
        "data_sha256": provenance.checksum([*data.views.arrays, _codes(data.labels)]),
        "input_sha256": provenance.checksum(views.arrays),
        "blas": provenance.blas(),
    }
    method = task["method"]
    model = make_method(method["source"], folder, method["params"], data.n_classes, task["seed"])
    labels, measured = fit(model, views)
    scores = score_labels(data.labels, labels) | consensus_scores(model)
    _keep(task, model, data.labels)
    return {**measured, **how_it_ended(model), "scores": scores}


def fit(model: Any, views: Views) -> tuple[Any, dict[str, Any]]:
    """Fit, and measure nothing but that: seconds, peak memory, and what was warned of."""
    reset_peak()
    start_mb = resident_mb("VmRSS")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        labels = np.asarray(model.fit_predict(list(views.arrays)))
        seconds = time.perf_counter() - start
    if labels.shape != (views.n_samples,):
        raise InputError(f"fit_predict returned shape {labels.shape} for {views.n_samples} samples; give one each.")
    told = list(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning)))
    peak_mb = resident_mb("VmHWM")
    return labels, {"seconds": seconds, "start_mb": start_mb, "peak_mb": peak_mb, "warnings": told[:5]}


def how_it_ended(model: Any) -> dict[str, Any]:
    """Status of a fit that returned. An object that does not tell whether it converged counts as converged."""
    history = getattr(model, "history_", None) or [{}]
    residual = history[-1].get("residual", 0.0) if isinstance(history[-1], Mapping) else 0.0
    n_iter = getattr(model, "n_iter_", None)
    ended = {"n_iter": None if n_iter is None else int(n_iter), "error": None}
    if not math.isfinite(residual):
        return ended | {"status": "failed", "error": f"diverged: residual {residual} after {n_iter} iterations"}
    return ended | {"status": "converged" if getattr(model, "converged_", True) else "max_iter"}


def draw_subset(data: Dataset, subset: Mapping[str, int], seed: int) -> Dataset:
    """Draw some classes, and some samples of each, at random; they come ordered by class."""
    if not subset:
        return data
    rng = np.random.default_rng(seed)
    codes = _codes(data.labels)
    classes = np.unique(codes)
    if subset.get("classes", len(classes)) < len(classes):
        classes = np.sort(rng.choice(classes, subset["classes"], replace=False))
    rows = []
    for one in classes:
        members = np.flatnonzero(codes == one)
        size = min(subset.get("per_class", len(members)), len(members))
        rows.append(np.sort(rng.choice(members, size, replace=False)))
    chosen = np.concatenate(rows)
    return Dataset(data.name, data.views[chosen], data.labels[chosen], data.description)


def corrupt(views: Views, noise: Mapping[str, Any], seed: int) -> Views:
    """Return the views under this kind of noise."""
    if noise["kind"] == "none":
        return views
    try:
        return NOISE[noise["kind"]](views, **noise["params"], seed=seed)
    except TypeError as error:
        raise InputError(f"corruption {noise['name']!r}: {error}.") from error


def _codes(labels: Any) -> Any:
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _keep(task: Mapping[str, Any], model: Any, labels: Any) -> None:
    """Leave what the spec asks to keep beside the store, whole or not at all."""
    if "affinity" not in task["method"]["keep"]:
        return
    W = sp.coo_array(model.affinity_)
    path = Path(task["artifact"])
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_suffix(".part.npz")
    row, column = (np.asarray(place, dtype=np.int32) for place in W.coords)
    np.savez_compressed(staged, row=row, column=column, weight=W.data, n=W.shape[0], labels=_codes(labels))
    staged.replace(path)


# The process ---------------------------------------------------------------------------------------


def resident_mb(name: str) -> float | None:
    """VmRSS (now), VmHWM (highest so far) or VmSize of this process, where the system tells."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024
    except (OSError, StopIteration):
        return None


def reset_peak() -> None:
    """Make VmHWM start again from the present size (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def limit_memory(limit_mb: int | None) -> None:
    """Let this process grow to `limit_mb` of memory; what is mapped already but not used does not count."""
    if not limit_mb:
        return
    import resource  # not on Windows

    mapped, resident = resident_mb("VmSize") or 0, resident_mb("VmRSS") or 0
    limit = int((mapped - resident + limit_mb) * MB)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _die_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
