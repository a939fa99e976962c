"""One run, done in this process."""

from pathlib import Path

import numpy as np
import pytest

from helpers.tiny_experiment import do_task, first_run
from manyview import Dataset, make_views
from manyview.experiments import read_spec, worker


def test_a_run_is_scored_and_described(spec_folder):
    row = do_task(first_run(spec_folder), spec_folder)
    assert row["status"] == "converged"
    assert row["scores"]["acc"] == 1
    assert (row["n_samples"], row["features"], row["n_clusters"]) == (60, [1, 2], 2)
    assert row["seconds"] > 0
    assert len(row["data_sha256"]) == 16


def test_methods_of_the_package_get_the_names_of_the_views(spec_folder):
    """Otherwise no spec could scale single views, or name the informative one."""
    digits = '[[datasets]]\nname = "digits"\nsubset = { classes = 3, per_class = 20 }\n'
    scaled = '[[methods]]\nname = "mfmsc"\nparams = { scaling = { fourier = "standard" } }\n'
    informed = '[[methods]]\nname = "cotraining"\nparams = { informative_view = "fourier" }\n'
    (spec_folder / "digits.toml").write_text(f"{digits}{scaled}{informed}")
    rows = [do_task(run, spec_folder) for run in read_spec(spec_folder / "digits.toml").select(repeats=1).runs()]
    assert [(row["status"], row["error"]) for row in rows] == [("converged", None)] * 2


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("Fails", "RuntimeError: it broke (plugins.py, line "),
        ("Diverges", "diverged: residual inf after 3 iterations"),
        ("TooFew", "fit_predict returned shape (3,) for 60 samples"),
        ("Missing", "does not define 'Missing'"),
        ("two_lines", "without fit_predict"),
    ],
)
def test_errors_are_in_the_row(spec_folder, method, error):
    row = do_task(first_run(spec_folder, method), spec_folder)
    assert row["status"] == "failed"
    assert error in row["error"]


def test_every_method_sees_the_same_corrupted_data(spec_folder):
    runs = [run for run in read_spec(spec_folder / "spec.toml").runs() if run.corruption.name == "noisy"]
    rows = [do_task(run, spec_folder) for run in runs]
    assert len({row["data_sha256"] for row in rows}) == 1
    inputs = {run.repeat: set() for run in runs}
    for run, row in zip(runs, rows, strict=True):
        inputs[run.repeat].add(row["input_sha256"])
    assert [len(found) for found in inputs.values()] == [1, 1]
    assert inputs[0] != inputs[1]


def test_subsets_are_drawn_by_class_in_order():
    labels = np.tile(np.arange(5), 8)
    data = Dataset("d", make_views(40, 5, (3,)).views, labels)
    drawn = worker.draw_subset(data, {"classes": 3, "per_class": 4}, seed=1)
    assert np.unique(drawn.labels, return_counts=True)[1].tolist() == [4, 4, 4]
    assert (np.diff(drawn.labels) >= 0).all()
    again = worker.draw_subset(data, {"classes": 3, "per_class": 4}, seed=1)
    np.testing.assert_array_equal(drawn.views.arrays[0], again.views.arrays[0])


def test_the_example_in_the_docs_works(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()
    blocks = {kind: text.split(f"```{kind}\n")[1].split("```")[0] for kind in ("toml", "python")}
    (tmp_path / "mine.toml").write_text(blocks["toml"])
    (tmp_path / "mine.py").write_text(blocks["python"])
    assert len(blocks["python"].strip().splitlines()) <= 20
    experiment = read_spec(tmp_path / "mine.toml").select(["rings"], repeats=1)
    rows = {(run.method.name, run.corruption.name): do_task(run, tmp_path) for run in experiment.runs()}
    assert {row["status"] for row in rows.values()} == {"converged"}
    assert rows["mine", "clean"]["scores"]["acc"] > 0.9
