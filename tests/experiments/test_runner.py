"""Runs in child processes."""

import subprocess

from helpers.tiny_experiment import write_spec
from manyview.experiments import Store, read_spec
from manyview.experiments.runner import Limits, pending, run_all


def test_a_run_that_takes_too_long_is_killed(spec_folder):
    experiment = read_spec(write_spec(spec_folder, ["Sleeps"]))
    store = Store(spec_folder / "out")
    run_all(experiment, store, Limits(timeout=1.5))
    (row,) = store.rows().values()
    assert (row["status"], row["error"]) == ("timeout", "killed after 1.5 s")
    assert not pending(experiment, store)
    assert len(pending(experiment, store, retry=True)) == 1


NUS_SPEC = """
repeats = 3
[[datasets]]
name = "nus"
[[corruptions]]
name = "clean"
[[corruptions]]
name = "noisy"
kind = "entries"
[[methods]]
name = "mfmsc"
[[methods]]
name = "ocbr"
"""


def test_missing_data_are_looked_for_and_reported_once(spec_folder, monkeypatch):
    monkeypatch.setenv("MANYVIEW_DATA", str(spec_folder))
    (spec_folder / "nus.toml").write_text(NUS_SPEC)
    experiment = read_spec(spec_folder / "nus.toml")
    store, started = Store(spec_folder / "out"), []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **kwargs: started.append(args) or popen(*args, **kwargs))
    for _ in range(2):
        run_all(experiment, store, Limits())
        assert {row["status"] for row in store.rows().values()} == {"skipped"}
        assert len(store.path.read_text().splitlines()) == 12
    assert len([words for words in started if "manyview.experiments.worker" in words[0]]) == 2
