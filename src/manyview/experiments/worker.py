"""One run in a separate process: reads a task from stdin, writes its row to a file.

The parent holds the other end of stdin. When that end closes, the parent has died, and this process exits as well.
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
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from manyview.checks import InputError
from manyview.datasets import Dataset, MissingDataError
from manyview.evaluation.metrics import score_labels
from manyview.experiments import provenance
from manyview.experiments.corruptions import corrupt
from manyview.experiments.similarity_scores import similarity_scores
from manyview.experiments.sources import load_dataset, make_method
from manyview.methods import MultiViewClusterer
from manyview.views.container import Views

MB = 2**20
MAX_WARNINGS = 5  # per row


def main() -> None:
    """Do the task, and leave the row in the file that the task names."""
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    limit_memory(task["memory_mb"])
    row = do_task(task)
    Path(task["result"]).write_text(json.dumps(row, default=float), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # without waiting for threads that a method may have left behind


def do_task(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return the measured part of the row; any error becomes a status and a message."""
    row: dict[str, Any] = {"status": "failed", "error": None}
    try:
        row |= _fit_and_score(task, row)
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


def _fit_and_score(task: Mapping[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Load, corrupt, fit, score. What is known before the fit goes into `row` at once, so that a failure keeps it."""
    folder, dataset, method, noise = Path(task["folder"]), task["dataset"], task["method"], task["corruption"]
    data = load_dataset(dataset["name"], dataset["source"], folder, dataset["params"])
    data = draw_subset(data, dataset["subset"], task["subset_seed"])
    views = corrupt(data.views, noise["name"], noise["kind"], noise["params"], task["seed"])
    row |= {
        "n_samples": views.n_samples,
        "features": [int(X.shape[1]) for X in views.arrays],
        "n_clusters": data.n_classes,
        "data_sha256": provenance.checksum([*data.views.arrays, _codes(data.labels)]),
        "input_sha256": provenance.checksum(views.arrays),
        "blas": provenance.blas(),
    }
    model = make_method(method["source"], folder, method["params"], data.n_classes, task["seed"])
    labels, measured = fit(model, views)
    scores = score_labels(data.labels, labels) | similarity_scores(model)
    _save_artifacts(task, model, data.labels)
    return {**measured, **fit_status(model), "scores": scores}


def fit(model: Any, views: Views) -> tuple[Any, dict[str, Any]]:
    """Fit, and measure only that: seconds, peak memory, and the warnings."""
    given = views if knows_views(model) else list(views.arrays)
    reset_peak()
    start_mb = resident_mb("VmRSS")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start, cpu_start = time.perf_counter(), time.process_time()
        labels = np.asarray(model.fit_predict(given))
        cpu_seconds, seconds = time.process_time() - cpu_start, time.perf_counter() - start
    if labels.shape != (views.n_samples,):
        raise InputError(f"fit_predict returned shape {labels.shape} for {views.n_samples} samples; return one each.")
    messages = list(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning)))
    return labels, {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "start_mb": start_mb,
        "peak_mb": resident_mb("VmHWM"),
        "warnings": messages[:MAX_WARNINGS],
    }


def knows_views(model: Any) -> bool:
    """Return whether a method accepts `Views`, with the names of views and samples; others get a list of arrays."""
    return isinstance(model, MultiViewClusterer)


def fit_status(model: Any) -> dict[str, Any]:
    """Return the status of a fit that returned. A model without `converged_` counts as converged."""
    history = getattr(model, "history_", None) or [{}]
    residual = history[-1].get("residual", 0.0) if isinstance(history[-1], Mapping) else 0.0
    n_iter = getattr(model, "n_iter_", None)
    ended = {"n_iter": None if n_iter is None else int(n_iter), "error": None}
    if not math.isfinite(residual):
        return ended | {"status": "failed", "error": f"diverged: residual {residual} after {n_iter} iterations"}
    return ended | {"status": "converged" if getattr(model, "converged_", True) else "max_iter"}


def draw_subset(data: Dataset, subset: Mapping[str, int], seed: int) -> Dataset:
    """Draw random classes and random samples of each, ordered by class."""
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


def _codes(labels: Any) -> Any:
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _save_artifacts(task: Mapping[str, Any], model: Any, labels: Any) -> None:
    """Save what the spec asks to keep, next to the store; the file appears complete or not at all."""
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


def resident_mb(field: str) -> float | None:
    """Return VmRSS (now), VmHWM (peak) or VmSize (mapped) of this process; None if /proc is missing."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024
    except (OSError, StopIteration):
        return None


def reset_peak() -> None:
    """Reset VmHWM to the present size (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def limit_memory(limit_mb: int | None) -> None:
    """Limit this process to `limit_mb` of memory; memory that is mapped but unused does not count."""
    if not limit_mb:
        return
    import resource  # not on Windows

    mapped, resident = resident_mb("VmSize") or 0, resident_mb("VmRSS") or 0
    limit = int((mapped - resident + limit_mb) * MB)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _exit_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
