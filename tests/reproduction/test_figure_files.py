"""The paper's figures, drawn from results."""

from dataclasses import replace

import pytest

from helpers.tiny_experiment import do_task
from manyview.experiments import Run, Store
from manyview.experiments.results import collect_results
from manyview.experiments.runner import Limits, start_row
from manyview.reproduction.figure_files import draw_figure, parameter_curves
from manyview.reproduction.parts import read_part


def test_figures_are_drawn_from_saved_affinities(spec_folder):
    pytest.importorskip("matplotlib")
    experiment = read_part("figure-affinity").select(["digits"], ["ocbr"])
    run = next(experiment.runs())
    store = Store(spec_folder / "out")
    small = replace(run.dataset, subset={"classes": 3, "per_class": 20})
    row = do_task(
        Run(small, run.corruption, run.method, 0),
        spec_folder,
        artifact=str(spec_folder / "out" / "artifacts" / f"{run.id}.npz"),
    )
    assert row["status"] == "converged"
    with store.writing():
        store.append(start_row(run, Limits()) | row)
    drawn = draw_figure("figure-affinity", collect_results(experiment, store), store)
    assert set(drawn) == {"figure-affinity-digits.png", "figure-affinity-digits.pdf"}
    assert drawn["figure-affinity-digits.png"].startswith(b"\x89PNG")
    assert drawn["figure-affinity-digits.pdf"].startswith(b"%PDF")


def test_parameter_curves_are_drawn_by_parameter_and_data_set(spec_folder):
    pytest.importorskip("matplotlib")
    experiment = read_part("figure-parameters").select(["digits"], ["paper-ocbr"], 1)
    store = Store(spec_folder / "out")
    with store.writing():
        for run in experiment.runs():
            store.append(start_row(run, Limits()) | {"status": "converged", "error": None, "scores": {"acc": 0.5}})
    results = collect_results(experiment, store)
    curves = parameter_curves(results)
    assert list(curves) == ["graph_weight", "consensus_weight"]
    assert curves["graph_weight"]["PaperOCBR, UCI digits"][0] == (0.0, 0.5, 0.0)
    assert set(draw_figure("figure-parameters", results, store)) == {"figure-parameters.png", "figure-parameters.pdf"}
