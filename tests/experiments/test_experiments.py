"""Experiments: specs, seeds, the store, runs in child processes, plug-ins, reports, and the paper's parts."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import LRRGL, OCBR, Dataset, InputError, clustering_accuracy, consensus_ratio, make_views
from manyview.experiments import Run, Store, provenance, read_spec, report, sources, worker
from manyview.experiments.measures import consensus_scores
from manyview.experiments.runner import Limits, check_sources, describe, pending, run_all
from manyview.experiments.spec import hashed_seed
from manyview.experiments.summary import rank_methods, summarize
from manyview.experiments.tables import Table, to_csv, to_latex, to_markdown
from manyview.reproduction import page as paper
from manyview.reproduction.gaussian import GaussianBaseline

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

ready_made = Halves(2)

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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a user's methods, data set and spec."""
    (tmp_path / "plugins.py").write_text(PLUGINS)
    (tmp_path / "spec.toml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_spec(folder, methods, repeats=1, extra=""):
    """Write a spec with these classes of the user's file on the user's data."""
    tables = [f'[[methods]]\nname = "{name.lower()}"\nsource = "plugins.py:{name}"\n' for name in methods]
    data = '[[datasets]]\nname = "lines"\nsource = "plugins.py:two_lines"\n'
    path = folder / "made.toml"
    path.write_text(f"repeats = {repeats}\n{data}{''.join(tables)}{extra}")
    return path


def do(run, folder, **changes):
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
    return worker.do(task | changes)


# Specs and seeds -----------------------------------------------------------------------------------


def test_runs_are_the_product_of_the_axes_and_seeds_leave_the_method_out(folder):
    experiment = read_spec(folder / "spec.toml")
    runs = list(experiment.runs())
    assert len(runs) == 1 * 2 * 2 * 2
    assert len({run.id for run in runs}) == 8
    seeds = {}
    for run in runs:
        seeds.setdefault((run.corruption.name, run.repeat), set()).add(run.seed)
    assert all(len(found) == 1 for found in seeds.values())  # the same for all methods
    assert len(set.union(*seeds.values())) == 4  # another for every draw


def test_seeds_never_change():
    assert hashed_seed({"dataset": ["digits", {}, {}], "corruption": ["none", {}], "repeat": 0}) == 288851407
    first = next(paper.read_part("table-acc").runs())
    assert first.seed == next(paper.read_part("table-nmi").runs()).seed


def test_tables_of_the_paper_share_their_runs():
    acc, nmi, ratio = (
        {run.id for run in paper.read_part(part).runs()} for part in ("table-acc", "table-nmi", "table-consensus")
    )
    assert acc == nmi
    assert ratio < acc


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("repeats = 2", "repeats = 0"), "repeats=0 is too small"),
        (("repeats = 2", "repeat = 2"), "unknown key 'repeat'"),
        (('kind = "entries"', 'kind = "salt"'), "Choose one of: 'none', 'entries'"),
        (('name = "mfmsc"', 'name = "halves"'), "'halves' is used twice"),
        (('name = "lines"', "name = 3"), "name is 3; give a text"),
        (("params = { n = 20 }", "params = 20"), "params is 20; give a table"),
        (("params = { n = 20 }", "subset = { rows = 3 }"), "unknown key 'rows'"),
        (("[[methods]]", "[[method]]"), "unknown key 'method'"),
        (("acc.lines = { halves = 99.0, mfmsc = 50 }", "acc = 3"), "printed is not metric -> data set"),
        (("mfmsc = 50", "mfmcs = 50"), "the method 'mfmcs', which the spec has not"),
        (("acc.lines", "acc.circles"), "the data set 'circles', which the spec has not"),
        (('mfmsc = "noisy"', 'mfmsc = "dirty"'), "the corruption 'dirty', which the spec has not"),
        (("repeats = 2", 'repeats = 2\nmetrics = ["accuracy"]'), "Choose one of: 'acc'"),
        (('title = "Tiny"', "title = "), "is not valid TOML"),
        (('name = "mfmsc"', 'name = "mfmsc"\nsweep = { n_neighbors = 3 }'), "give a list of values"),
        (('name = "mfmsc"', 'name = "mfmsc"\nkeep = ["graph"]'), "Choose one of: 'affinity'"),
    ],
)
def test_mistakes_in_a_spec_are_told(folder, change, says):
    (folder / "spec.toml").write_text(SPEC.replace(*change))
    with pytest.raises(InputError) as error:
        read_spec(folder / "spec.toml")
    assert says in str(error.value)
    assert "spec.toml" in str(error.value)


def test_a_sweep_varies_one_parameter_at_a_time(folder):
    sweep = '[[methods]]\nname = "a"\nsource = "ocbr"\nparams = {x = 0, y = 0}\nsweep = {x = [1, 2], y = [3]}\n'
    experiment = read_spec(write_spec(folder, ["Halves"], extra=sweep))
    assert [dict(m.params) for m in experiment.methods[1:]] == [{"x": 1, "y": 0}, {"x": 2, "y": 0}, {"x": 0, "y": 3}]
    assert len(experiment.select(methods=["a"]).methods) == 3
    with pytest.raises(InputError, match=r"Unknown method 'b'. Choose from: 'halves', 'a'"):
        experiment.select(methods=["b"])


# The store -----------------------------------------------------------------------------------------


def test_a_torn_last_line_is_dropped_and_the_rest_kept(tmp_path):
    store = Store(tmp_path)
    with store.writing():
        for i in range(3):
            store.append({"run": str(i), "status": "converged"})
    whole = store.path.read_bytes()
    for cut in range(len(whole)):  # killed at any moment
        store.path.write_bytes(whole[:cut])
        kept = whole[:cut].count(b"\n")
        assert len(store.rows()) == kept
        with store.writing():
            store.append({"run": "new", "status": "failed"})
        assert list(store.rows()) == [*map(str, range(kept)), "new"]


def test_a_damaged_line_in_the_middle_is_not_passed_over(tmp_path):
    store = Store(tmp_path)
    store.path.write_text('{"run": "a", "status": "converged"}\n{"run"\n{"run": "b", "status": "failed"}\n')
    with pytest.raises(InputError, match="line 2 is not a row"):
        store.rows()


def test_two_writers_are_kept_apart(tmp_path):
    with Store(tmp_path).writing(), pytest.raises(InputError, match="written by another"), Store(tmp_path).writing():
        pass


# One run, in this process ----------------------------------------------------------------------------


def first_run(folder, method="Halves", **changes):
    run = next(read_spec(write_spec(folder, [method])).runs())
    return replace(run, **changes)


def test_a_run_is_scored_and_described(folder):
    row = do(first_run(folder), folder)
    assert row["status"] == "converged"
    assert row["scores"]["acc"] == 1
    assert (row["n_samples"], row["features"], row["n_clusters"]) == (60, [1, 2], 2)
    assert row["seconds"] > 0
    assert len(row["data_sha256"]) == 16


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("Fails", "RuntimeError: it broke (plugins.py, line "),
        ("Diverges", "diverged: residual inf after 3 iterations"),
        ("TooFew", "fit_predict returned shape (3,) for 60 samples"),
        ("Missing", "defines no 'Missing'"),
        ("two_lines", "without fit_predict"),
    ],
)
def test_what_goes_wrong_is_in_the_row(folder, method, error):
    row = do(first_run(folder, method), folder)
    assert row["status"] == "failed"
    assert error in row["error"]


def test_a_ready_made_object_will_do_and_is_not_changed(folder):
    model = sources.make_method("plugins.py:ready_made", folder, {"shift": 1}, n_clusters=3, seed=0)
    assert (model.n_clusters, model.shift) == (3, 1)
    with pytest.raises(InputError, match="no attribute 'speed'"):
        sources.make_method("plugins.py:ready_made", folder, {"speed": 1}, n_clusters=3, seed=0)
    with pytest.raises(InputError, match=r"has no parameter 'speed'. Choose from: 'n_clusters', 'shift'"):
        sources.make_method("plugins.py:Halves", folder, {"speed": 1}, n_clusters=3, seed=0)


def test_sources_that_cannot_be_found(folder):
    for kind, source, says in (
        ("method", "nope", "Choose one of: 'mfmsc'"),
        ("method", "nope.py:X", "nope.py is not there"),
        ("method", "manyview.nope:X", "cannot be imported"),
        ("data set", "nope", "Choose one of: 'digits'"),
        ("data set", "nope.npz", "nope.npz is not there"),
    ):
        with pytest.raises(InputError, match=says):
            sources.check_source(kind, source, folder)


def test_data_sets_may_be_npz_files_and_must_be_whole(folder):
    data = make_views(20, 2, (3, 4))
    np.savez(folder / "mine.npz", **dict(data.views.items()), labels=data.labels)
    loaded = sources.load_dataset("mine", "mine.npz", folder, {})
    assert loaded.views.shape == (20, 7)
    (folder / "odd.py").write_text("def short(): return [[[1.0], [2.0]]], [0]\ndef odd(): return 3\n")
    with pytest.raises(InputError, match="2 samples but 1 labels"):
        sources.load_dataset("odd", "odd.py:short", folder, {})
    with pytest.raises(InputError, match="returned a int"):
        sources.load_dataset("odd", "odd.py:odd", folder, {})


def test_entry_points_add_methods_and_data_sets(folder, monkeypatch):
    package = folder / "site"
    info = package / "theirs-1.2.dist-info"
    info.mkdir(parents=True)
    (package / "theirs.py").write_text(PLUGINS)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(
        "[manyview.methods]\nhalves = theirs:Halves\n[manyview.datasets]\nlines = theirs:two_lines\n"
    )
    monkeypatch.syspath_prepend(package)
    spec = folder / "theirs.toml"
    spec.write_text('[[datasets]]\nname = "lines"\n[[methods]]\nname = "halves"\n')
    run = next(read_spec(spec).runs())
    assert do(run, folder)["scores"]["acc"] == 1
    assert describe(run, Limits())["versions"]["theirs"] == "1.2"


def test_every_method_sees_the_same_corrupted_data(folder):
    runs = [run for run in read_spec(folder / "spec.toml").runs() if run.corruption.name == "noisy"]
    rows = [do(run, folder) for run in runs]
    assert len({row["data_sha256"] for row in rows}) == 1
    inputs = {run.repeat: set() for run in runs}
    for run, row in zip(runs, rows, strict=True):
        inputs[run.repeat].add(row["input_sha256"])
    assert [len(found) for found in inputs.values()] == [1, 1]
    assert inputs[0] != inputs[1]


def test_missing_data_make_a_skipped_row(folder, monkeypatch):
    monkeypatch.setenv("MANYVIEW_DATA", str(folder))
    run = next(paper.read_part("table-acc").select(["nus"]).runs())
    row = do(run, folder)
    assert row["status"] == "skipped"
    assert "NUS-WIDE-OBJECT.zip" in row["error"]


def test_subsets_are_drawn_by_class_in_order():
    labels = np.tile(np.arange(5), 8)
    data = Dataset("d", make_views(40, 5, (3,)).views, labels)
    drawn = worker.draw_subset(data, {"classes": 3, "per_class": 4}, seed=1)
    assert np.unique(drawn.labels, return_counts=True)[1].tolist() == [4, 4, 4]
    assert (np.diff(drawn.labels) >= 0).all()
    again = worker.draw_subset(data, {"classes": 3, "per_class": 4}, seed=1)
    np.testing.assert_array_equal(drawn.views.arrays[0], again.views.arrays[0])


def test_checksums_tell_values_shapes_and_sparsity_apart():
    X = np.arange(6.0).reshape(2, 3)
    sums = [provenance.checksum([A]) for A in (X, X.reshape(3, 2), X.astype("f4"), X + 1, sp.csr_array(X))]
    assert len(set(sums)) == 5
    assert provenance.checksum([X[:, ::-1]]) == provenance.checksum([X[:, ::-1].copy()])


def test_consensus_scores_form_nothing_large_and_are_right(blobs):
    model = OCBR(3).fit(blobs.views)
    scores = consensus_scores(model)
    assert scores["consensus"] == pytest.approx(consensus_ratio(model.graphs_))
    assert scores["consensus_basis"] == pytest.approx(consensus_ratio([U @ U.T for U in model.bases_]))
    for nonnegative in (True, False):
        model = LRRGL(3, nonnegative=nonnegative, tol=0.05).fit(blobs.views)
        dense = [Z if nonnegative else Z.toarray() for Z in model.representation_]
        assert consensus_scores(model) == {"consensus": pytest.approx(consensus_ratio(dense), rel=1e-4)}
    assert consensus_scores(SimpleNamespace(graphs_=[sp.csr_array((3, 3))] * 2)) == {}


# Runs in child processes -----------------------------------------------------------------------------


def test_bench_leaves_a_row_for_every_run_and_fails_if_one_failed(folder, manyview):
    spec = write_spec(folder, ["Halves", "Fails", "Hungry", "Dies"])
    listed = manyview("bench", spec, "--out", "out", "--dry-run")
    assert listed.returncode == 0, listed.stderr
    assert "4 runs, 4 to run" in listed.stdout
    assert not (folder / "out").exists()
    done = manyview("bench", spec, "--out", "out", "--jobs", 2, "--memory", 900)
    assert done.returncode == 1
    assert "3 runs failed" in done.stderr
    rows = {row["method"]: row for row in Store(folder / "out").rows().values()}
    assert {name: row["status"] for name, row in rows.items()} == {
        "halves": "converged",
        "fails": "failed",
        "hungry": "failed",
        "dies": "failed",
    }
    assert "it broke" in rows["fails"]["error"]
    assert "over the limit of 900 MB" in rows["hungry"]["error"]
    assert "SIGSEGV" in rows["dies"]["error"]
    assert "last words" in rows["dies"]["error"]
    good = rows["halves"]
    assert good["scores"]["acc"] == 1
    assert good["peak_mb"] >= good["start_mb"] > 0
    assert {pool["num_threads"] for pool in good["blas"]} == {1}
    assert {"python", "manyview", "numpy", "scipy", "scikit-learn"} <= set(good["versions"])
    assert {"git", "seed", "data_sha256", "input_sha256", "threads", "finished"} <= set(good)
    page = (folder / "out" / "report.md").read_text()
    assert "it broke" in page
    assert page.count(" failed |") == 3 * 2  # in both metrics
    again = manyview("bench", spec, "--out", "out")  # resumes: nothing is left to do, and it still has failed
    assert again.returncode == 1
    assert len((folder / "out" / "runs.jsonl").read_text().splitlines()) == 4
    assert manyview("bench", spec, "--out", "out", "--retry", "--dry-run").stdout.count("to run  ") == 3


def test_stored_reports_what_is_there_and_runs_nothing(folder, manyview):
    spec = write_spec(folder, ["Halves"])
    nothing = manyview("bench", spec, "--out", "out", "--stored")
    assert nothing.returncode == 2
    assert "nothing to report" in nothing.stderr
    assert not (folder / "out").exists()
    assert manyview("bench", spec, "--out", "out").returncode == 0
    rows = (folder / "out" / "runs.jsonl").read_text()
    write_spec(folder, ["Halves"], repeats=3)
    told = manyview("bench", spec, "--out", "out", "--stored")
    assert told.returncode == 0, told.stderr
    assert "1 of 3 runs" in told.stdout
    assert "1.000 (1 repeat)" in told.stdout
    assert (folder / "out" / "runs.jsonl").read_text() == rows


def test_a_run_that_takes_too_long_is_killed(folder):
    experiment = read_spec(write_spec(folder, ["Sleeps"]))
    store = Store(folder / "out")
    run_all(experiment, store, Limits(timeout=1.5))
    (row,) = store.rows().values()
    assert (row["status"], row["error"]) == ("timeout", "killed after 1.5 s")
    assert not pending(experiment, store)
    assert len(pending(experiment, store, retry=True)) == 1


def test_missing_data_are_looked_for_once_and_told_once(folder, monkeypatch):
    monkeypatch.setenv("MANYVIEW_DATA", str(folder))
    experiment = paper.read_part("table-acc").select(["nus"], ["mfmsc", "ocbr"], 3)
    store, started = Store(folder / "out"), []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **kwargs: started.append(args) or popen(*args, **kwargs))
    for _ in range(2):
        run_all(experiment, store, Limits())
        assert {row["status"] for row in store.rows().values()} == {"skipped"}
        assert len(store.path.read_text().splitlines()) == 12
    assert len([words for words in started if "manyview.experiments.worker" in words[0]]) == 2


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_a_killed_bench_resumes_with_nothing_lost_or_repeated(folder, manyview):
    spec = write_spec(folder, ["Slow"], repeats=3)
    rows_file = folder / "out" / "runs.jsonl"
    words = [COMMAND, "bench", spec, "--out", "out"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as bench:
        _wait_for(lambda: rows_file.exists() and rows_file.read_bytes().count(b"\n") >= 1)
        (child,) = _wait_for(lambda: _children_of(bench.pid))  # in the middle of the next run
        bench.send_signal(signal.SIGKILL)
    assert bench.returncode == -signal.SIGKILL
    assert _wait_for(lambda: _is_gone(child))  # it does not work on without its parent
    before = rows_file.read_bytes()
    with rows_file.open("ab") as file:
        file.write(b'{"run": "0123", "stat')  # as if the kill had come while a row was being written
    done = manyview("bench", spec, "--out", "out", "--jobs", 2)
    assert done.returncode == 0, done.stderr
    after = rows_file.read_bytes()
    assert after.startswith(before)
    ids = [json.loads(line)["run"] for line in after.splitlines()]
    assert sorted(ids) == sorted(run.id for run in read_spec(spec).runs())


def _children_of(pid):
    path = Path(f"/proc/{pid}/task/{pid}/children")
    threads = Path(f"/proc/{pid}/task").iterdir() if path.exists() else []
    found = [int(word) for thread in threads for word in (thread / "children").read_text().split()]
    return [pid for pid in found if b"manyview.experiments.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def _is_gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def _wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


# Reports -------------------------------------------------------------------------------------------


@pytest.fixture
def summary(folder):
    """Rows written by hand: one method fails once, another ran out of time everywhere under noise."""
    experiment = replace(read_spec(folder / "spec.toml"), metrics=("acc",))
    store = Store(folder / "out")
    values = {("halves", "clean"): [0.9, 1.0], ("mfmsc", "clean"): [0.8, None], ("halves", "noisy"): [0.5, 0.5]}
    with store.writing():
        for run in experiment.runs():
            value = values.get((run.method.name, run.corruption.name), [None] * 2)[run.repeat]
            row = describe(run, Limits()) | {"start_mb": 100.0, "peak_mb": 112.4}
            good = {"status": "converged", "error": None, "scores": {"acc": value}, "seconds": 0.25}
            bad = {"status": "timeout", "error": "killed after 9 s"}
            store.append(row | (bad if value is None else good))
    return summarize(experiment, store)


def test_markdown_report(summary):
    assert report.markdown_report(summary) == GOLDEN_MARKDOWN


GOLDEN_MARKDOWN = f"""\
# Tiny

8 of 8 runs (5 converged, 3 timeout); mean ± standard deviation of 2 repeats.

## ACC

| method |          lines, clean | printed | difference |  lines, noisy | printed | difference |
| ------ | --------------------: | ------: | ---------: | ------------: | ------: | ---------: |
| halves |         0.950 ± 0.071 |   0.990 |     −0.040 | 0.500 ± 0.000 |         |            |
| mfmsc  | 0.800 (1 of 2 failed) |         |            |       timeout |   0.500 |            |

## Time and memory

{report.COST_TEXT}
| method | lines, clean: s | lines, clean: MB | lines, noisy: s | lines, noisy: MB |
| ------ | --------------: | ---------------: | --------------: | ---------------: |
| halves |            0.25 |               12 |            0.25 |               12 |
| mfmsc  |            0.25 |               12 |                 |                  |

## Runs without a result

- timeout (3 runs: mfmsc on lines, clean; mfmsc on lines, noisy): killed after 9 s
"""


def test_csv_report(summary):
    lines = to_csv(report.long_table(summary)).splitlines()
    assert lines[0] == "dataset,corruption,method,metric,mean,std,runs,failed,printed,difference"
    assert lines[1] == "lines,clean,halves,acc,0.95,0.07071067812,2,0,0.99,-0.04"
    assert lines[3] == "lines,clean,mfmsc,acc,0.8,,1,1,,"


def test_latex_report(summary):
    text = to_latex(report.score_table(summary, "acc"))
    assert r"halves & 0.950 $\pm$ 0.071 & 0.990 & $-$0.040 & 0.500 $\pm$ 0.000 &  &  \\" in text
    assert r"100\% of a\_b \& c" in to_latex(Table(["100% of a_b & c"], []))
    assert "a \\| b" in to_markdown(Table(["a | b"], []))


def test_ranks_and_their_test():
    methods = [SimpleNamespace(name=name, label=name, swept=None) for name in "abcd"]
    datasets = [SimpleNamespace(name=str(i)) for i in range(6)]
    experiment = SimpleNamespace(methods=methods, datasets=datasets, corruptions=[SimpleNamespace(name="clean")])
    scores = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6}

    def cell(dataset, corruption, method):
        return SimpleNamespace(done=[1], mean=lambda metric: scores[method] + int(dataset) / 100)

    fake = SimpleNamespace(experiment=experiment, cell=cell)
    ranks = rank_methods(fake, "acc")
    assert ranks.average == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert ranks.p_value == pytest.approx(0.00044, abs=1e-5)  # chi-square 18 with 3 degrees of freedom
    assert ranks.critical_difference == pytest.approx(2.569 * np.sqrt(20 / 36), abs=1e-3)  # Demšar 2006, table 5
    assert "a ranks clearly before c, d" in report.rank_text(fake, ranks)
    two = SimpleNamespace(experiment=SimpleNamespace(**vars(experiment) | {"methods": methods[:2]}), cell=cell)
    assert "No test" in report.rank_text(two, rank_methods(two, "acc"))


# The paper -----------------------------------------------------------------------------------------


def test_every_part_of_the_paper_can_be_read():
    for part in paper.PARTS:
        experiment = paper.read_part(part)
        check_sources(experiment)
        if part in paper.CHECKS:
            continue
        assert [dataset.name for dataset in experiment.datasets] == ["digits", "awa", "nus"]
    printed = paper.read_part("table-acc").printed
    assert printed.value("acc", "awa", "corrupted", "ocbr") == pytest.approx(0.4455)
    assert printed.value("acc", "awa", "clean", "ocbr") is None
    assert printed.value("acc", "digits", "clean", "mfmsc") == pytest.approx(0.4381)


def test_the_seven_systems_and_the_papers_own_run_unless_others_are_named():
    names = paper.select_parts("table-acc", [], [], None)["table-acc"].method_names
    assert set(names) == {"mfmsc", "maasc", "ccamsc", "cotraining", "rlrr", "lrrgl", "paper-ocbr", "ocbr"}
    named = paper.select_parts("all", ["digits"], ["paper-ocbr-printed"], 2)
    assert list(named) == ["table-acc", "table-nmi"]
    with pytest.raises(InputError, match="Unknown method 'ocbrr' in all"):
        paper.select_parts("all", [], ["ocbrr"], None)
    with pytest.raises(InputError, match="Unknown data set 'mnist' in all"):
        paper.select_parts("all", ["mnist"], [], None)


def test_the_check_of_the_baselines_runs_with_all_its_variants_on_digits_only():
    (check,) = paper.select_parts("table-baselines", ["digits", "awa"], [], 10).values()
    assert len(check.methods) == 7
    assert check.repeats == 3
    awa = paper.select_parts("all", ["awa"], [], None)
    assert "table-baselines" not in awa
    assert [d.subset["classes"] for d in awa["table-classes"].datasets] == [10, 15, 20, 30, 50]


def test_gaussian_baselines_find_plain_clusters(blobs):
    views = list(blobs.views.arrays)
    for params in ({}, {"method": "maasc"}, {"method": "cotraining"}, {"views": [1], "scaling": "none"}):
        assert clustering_accuracy(blobs.labels, GaussianBaseline(3, **params).fit_predict(views)) == 1


def test_reproduce_writes_the_table_and_the_page_and_resumes(manyview, tmp_path):
    words = ["--datasets", "digits", "--methods", "mfmsc", "--repeats", 1, "--out", tmp_path / "r"]
    done = manyview("reproduce", "table-acc", *words, "--jobs", 2)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # quiet in a pipe
    rows = (tmp_path / "r" / "runs.jsonl").read_bytes()
    again = manyview("reproduce", "table-nmi", *words)  # the same runs
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "r" / "runs.jsonl").read_bytes() == rows
    assert {path.name for path in (tmp_path / "r").iterdir()} == {
        *(f"table-{metric}.{ending}" for metric in ("acc", "nmi") for ending in ("md", "csv", "tex")),
        "runs.jsonl",
        "reproduction.md",
    }
    page = (tmp_path / "r" / "reproduction.md").read_text()
    line = next(line for line in page.splitlines() if line.startswith("| MFMSC") and "0.416" in line)
    assert "no [1]" in line
    assert "\n1. " in page


def test_the_page_tells_once_what_was_skipped(manyview, tmp_path):
    """Parts share runs: two tables, and a third with runs of its own, lack the same data."""
    parts, words = "table-acc,table-nmi,figure-affinity", ["--datasets", "nus", "--data", tmp_path]
    done = manyview("reproduce", parts, *words, "--repeats", 1, "--out", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "r" / "reproduction.md").read_text()
    for text in (done.stdout, page):
        assert text.count("## Runs without a result") == text.count("NUS-WIDE-Object was not found") == 1
    assert "skipped (18 runs: nus)" in page  # 8 methods on 2 corruptions, and 2 affinities


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["reproduce", "table-x", "--out", "o"], "Choose one of: 'table-acc'"),
        (["reproduce", "all", "--methods", "x", "--out", "o"], "Unknown method 'x'"),
        (["bench", "nope.toml", "--out", "o"], "nope.toml is not there"),
        (["bench", "spec.toml", "--out", "spec.toml"], "spec.toml is a file"),
        (["bench", "spec.toml", "--out", "o", "--jobs", 0], "--jobs"),
    ],
)
def test_bad_input_gives_a_message_and_exit_code_2(manyview, folder, words, says):
    done = manyview(*words)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "o").exists()


def test_figures_are_drawn_from_what_the_runs_left(folder):
    pytest.importorskip("matplotlib")
    experiment = paper.read_part("figure-affinity").select(["digits"], ["ocbr"])
    run = next(experiment.runs())
    store = Store(folder / "out")
    small = replace(run.dataset, subset={"classes": 3, "per_class": 20})
    row = do(
        Run(small, run.corruption, run.method, 0), folder, artifact=str(folder / "out" / "artifacts" / f"{run.id}.npz")
    )
    assert row["status"] == "converged"
    with store.writing():
        store.append(describe(run, Limits()) | row)
    drawn = paper.draw("figure-affinity", summarize(experiment, store), store)
    assert set(drawn) == {"figure-affinity-digits.png", "figure-affinity-digits.pdf"}
    assert drawn["figure-affinity-digits.png"].startswith(b"\x89PNG")
    assert drawn["figure-affinity-digits.pdf"].startswith(b"%PDF")


def test_parameter_curves_are_drawn_by_parameter_and_data_set(folder):
    pytest.importorskip("matplotlib")
    experiment = paper.read_part("figure-parameters").select(["digits"], ["paper-ocbr"], 1)
    store = Store(folder / "out")
    with store.writing():
        for run in experiment.runs():
            store.append(describe(run, Limits()) | {"status": "converged", "error": None, "scores": {"acc": 0.5}})
    summary = summarize(experiment, store)
    curves = paper.parameter_curves(summary)
    assert list(curves) == ["graph_weight", "consensus_weight"]
    assert curves["graph_weight"]["OCBR, the paper's, errata corrected, UCI digits"][0] == (0.0, 0.5, 0.0)
    assert set(paper.draw("figure-parameters", summary, store)) == {"figure-parameters.png", "figure-parameters.pdf"}


def test_the_example_in_the_docs_works(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()
    blocks = {kind: text.split(f"```{kind}\n")[1].split("```")[0] for kind in ("toml", "python")}
    (tmp_path / "mine.toml").write_text(blocks["toml"])
    (tmp_path / "mine.py").write_text(blocks["python"])
    assert len(blocks["python"].strip().splitlines()) <= 20
    experiment = read_spec(tmp_path / "mine.toml").select(["rings"], repeats=1)
    rows = {(run.method.name, run.corruption.name): do(run, tmp_path) for run in experiment.runs()}
    assert {row["status"] for row in rows.values()} == {"converged"}
    assert rows["mine", "clean"]["scores"]["acc"] > 0.9
