"""A tiny experiment: a user's methods, data set and spec, and ways to run them."""

import sys
from pathlib import Path

from manyview.experiments import read_spec, worker

COMMAND = Path(sys.executable).with_name("manyview")


PLUGINS = '''
import os, time
import numpy as np

class Halves:
    """Cuts the first feature of the first view into n_clusters equal parts."""
    def __init__(self, n_clusters, shift=0):
        self.n_clusters, self.shift = n_clusters, shift
    def fit_predict(self, views):
        assert isinstance(views, list) and all(isinstance(X, np.ndarray) for X in views)
        ranks = views[0][:, 0].argsort().argsort()
        return (ranks * self.n_clusters // len(ranks) + self.shift) % self.n_clusters

class Fails(Halves):
    def fit_predict(self, views):
        raise RuntimeError("it broke")

class Hungry(Halves):
    def fit_predict(self, views):
        return np.ones((20_000, 20_000)).sum(axis=1)

class Dies(Halves):
    def fit_predict(self, views):
        print("last words", file=__import__("sys").stderr, flush=True)
        os.kill(os.getpid(), 11)

class Sleeps(Halves):
    def fit_predict(self, views):
        time.sleep(60)

class Slow(Halves):
    def fit_predict(self, views):
        time.sleep(0.3)
        return super().fit_predict(views)

existing = Halves(2)

class Diverges(Halves):
    def fit_predict(self, views):
        self.history_, self.converged_, self.n_iter_ = [{"residual": float("inf")}], False, 3
        return super().fit_predict(views)

class TooFew(Halves):
    def fit_predict(self, views):
        return np.zeros(3)

def two_lines(n=30, gap=5.0):
    x = np.r_[np.linspace(0, 1, n), np.linspace(gap, gap + 1, n)]
    return [x[:, None], np.c_[x, -x]], np.repeat(["left", "right"], n)
'''


SPEC = """
name = "tiny"
title = "Tiny"
repeats = 2
[[datasets]]
name = "lines"
source = "plugins.py:two_lines"
params = { n = 20 }
[[corruptions]]
name = "clean"
[[corruptions]]
name = "noisy"
kind = "entries"
params = { fraction = 0.5 }
[[methods]]
name = "halves"
source = "plugins.py:Halves"
[[methods]]
name = "mfmsc"
[printed]
percent = true
corruption = { halves = "clean", mfmsc = "noisy" }
acc.lines = { halves = 99.0, mfmsc = 50 }
"""


def write_spec(folder, methods, repeats=1, extra=""):
    """Write a spec with these classes of the user's file on the user's data."""
    tables = [f'[[methods]]\nname = "{name.lower()}"\nsource = "plugins.py:{name}"\n' for name in methods]
    data = '[[datasets]]\nname = "lines"\nsource = "plugins.py:two_lines"\n'
    path = folder / "made.toml"
    path.write_text(f"repeats = {repeats}\n{data}{''.join(tables)}{extra}")
    return path


def do_task(run, folder, **changes):
    """Do a run in this process, as the worker does it."""
    task = {
        "dataset": vars(run.dataset),
        "corruption": vars(run.corruption),
        "method": vars(run.method),
        "seed": run.seed,
        "subset_seed": run.subset_seed,
        "folder": str(folder),
        "memory_mb": None,
        "artifact": str(folder / "kept.npz"),
    }
    return worker.do_task(task | changes)


def first_run(folder, method="Halves"):
    """Return the first run of a spec with this method."""
    return next(read_spec(write_spec(folder, [method])).runs())
