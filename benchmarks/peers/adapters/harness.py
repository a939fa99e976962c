"""Runs the methods of one peer in the peer's own environment: reads tasks, measures fits, writes results.

Each line on stdin is a task in JSON; each is answered by a line on stdout when it has ended. A task runs in a separate
process, forked after the imports, so that limits and measurements apply to the fit alone. Needs Linux, and only the
standard library and numpy. The file with the views contains no labels.
"""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

View = np.ndarray
Method = Callable[[list[View], int, int], Sequence[int]]

PATIENCE = 10  # wall seconds per CPU second, as the machine may be busy


class Unsupported(Exception):
    """Raised for what the package does not support; the table shows its text."""


def serve(methods: Mapping[str, Method], packages: Sequence[str], form: str = "scaled") -> None:
    """Do the tasks on stdin one after the other, on the "scaled" or the "raw" views."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # so that output of the packages is not taken for an answer
    for line in sys.stdin:
        task = json.loads(line)
        child = os.fork()
        if child == 0:
            result = do(task, methods, form) | {"versions": {name: version(name) for name in packages}}
            Path(task["result"]).write_text(json.dumps(result), encoding="utf-8")
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps(ending(code)), file=answers, flush=True)


def ending(code: int) -> dict[str, object]:
    """Return how a task ended if it left no result."""
    if code in (-signal.SIGXCPU, -signal.SIGALRM):
        return {"status": "timeout"}
    return {"status": "error", "error": f"the process ended with code {code}"}


def do(task: Mapping[str, Any], methods: Mapping[str, Method], form: str) -> dict[str, object]:
    """Return labels and measurements; any exception becomes a status and an error message."""
    with np.load(task["views"], allow_pickle=False) as archive:
        views = [archive[f"{form}_{i}"] for i in range(sum(name.startswith(form) for name in archive.files))]
    limit_process(task["memory_mb"], task["cpu_seconds"])
    try:
        return measure(methods[task["method"]], views, task["n_clusters"], task["seed"])
    except Unsupported as reason:
        return {"status": str(reason)}
    except MemoryError:
        return {"status": "memory"}
    except Exception as error:
        return {"status": "error", "error": f"{type(error).__name__}: {error}"[:500]}


def measure(method: Method, views: list[View], k: int, seed: int) -> dict[str, object]:
    """Fit once, and measure CPU seconds and the growth of the process's own memory."""
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM to the present size
    memory, start = memory_mb("RssAnon"), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = np.asarray(method(views, k, seed)).ravel()
    seconds = time.process_time() - start
    growth = memory_mb("VmHWM") - memory_mb("RssFile") - memory
    if labels.shape != (len(views[0]),):
        return {"status": "error", "error": f"{len(labels)} labels for {len(views[0])} samples"}
    codes = np.unique(labels, return_inverse=True)[1]
    return {"status": "done", "labels": codes.tolist(), "cpu_seconds": seconds, "memory_mb": growth}


def memory_mb(field: str) -> float:
    """VmHWM (peak), RssAnon (own memory), RssFile (code), VmRSS (both) or VmSize (mapped) of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def limit_process(memory: float, seconds: float) -> None:
    """Limit memory and CPU time of the fit. Memory that the imports mapped but do not use does not count."""
    size = int((memory_mb("VmSize") - memory_mb("VmRSS") + memory) * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    end = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 60))  # the first limit sends SIGXCPU, which ends the process
    signal.alarm(math.ceil(PATIENCE * seconds))
