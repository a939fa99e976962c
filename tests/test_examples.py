"""The scripts of the gallery run without a warning, and their pictures can be drawn."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "examples").rglob("plot_*.py"))
NEEDS = {"plot_1_tumours": "lifelines", "plot_2_cells": "anndata"}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_of_the_gallery(script, monkeypatch, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot", reason="needs the extra manyview[plot]")
    if script.stem in NEEDS:
        pytest.importorskip(NEEDS[script.stem], reason="needs the extra manyview[all]")

    def draw_all():
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
        plt.close("all")

    monkeypatch.setattr(plt, "show", draw_all)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))


def test_there_are_scripts():
    assert len(SCRIPTS) >= 12
