"""Tables and text of results."""

from dataclasses import replace

import pytest

from manyview.experiments import Store, read_spec
from manyview.experiments.bench_report import markdown_report
from manyview.experiments.result_tables import COST_TEXT, long_table, score_table
from manyview.experiments.results import collect_results
from manyview.experiments.runner import Limits, start_row
from manyview.experiments.text_table import TextTable, to_csv, to_latex, to_markdown


@pytest.fixture
def results(spec_folder):
    """Rows written by hand: one method fails once, another ran out of time everywhere under noise."""
    experiment = replace(read_spec(spec_folder / "spec.toml"), metrics=("acc",))
    store = Store(spec_folder / "out")
    values = {("halves", "clean"): [0.9, 1.0], ("mfmsc", "clean"): [0.8, None], ("halves", "noisy"): [0.5, 0.5]}
    with store.writing():
        for run in experiment.runs():
            value = values.get((run.method.name, run.corruption.name), [None] * 2)[run.repeat]
            row = start_row(run, Limits()) | {"start_mb": 100.0, "peak_mb": 112.4}
            good = {"status": "converged", "error": None, "scores": {"acc": value}, "seconds": 0.25}
            bad = {"status": "timeout", "error": "killed after 9 s"}
            store.append(row | (bad if value is None else good))
    return collect_results(experiment, store)


def test_markdown_report(results):
    assert markdown_report(results) == GOLDEN_MARKDOWN


GOLDEN_MARKDOWN = f"""\
# Tiny

8 of 8 runs (5 converged, 3 timeout); mean ± standard deviation of 2 repeats.

## ACC

| method |          lines, clean | printed | difference |  lines, noisy | printed | difference |
| ------ | --------------------: | ------: | ---------: | ------------: | ------: | ---------: |
| halves |         0.950 ± 0.071 |   0.990 |     −0.040 | 0.500 ± 0.000 |         |            |
| mfmsc  | 0.800 (1 of 2 failed) |         |            |       timeout |   0.500 |            |

## Time and memory

{COST_TEXT}
| method | lines, clean: s | lines, clean: MB | lines, noisy: s | lines, noisy: MB |
| ------ | --------------: | ---------------: | --------------: | ---------------: |
| halves |            0.25 |               12 |            0.25 |               12 |
| mfmsc  |            0.25 |               12 |                 |                  |

## Runs without a result

- timeout (3 runs: mfmsc on lines, clean; mfmsc on lines, noisy): killed after 9 s
"""


def test_csv_report(results):
    lines = to_csv(long_table(results)).splitlines()
    assert lines[0] == "dataset,corruption,method,metric,mean,std,runs,failed,printed,difference"
    assert lines[1] == "lines,clean,halves,acc,0.95,0.07071067812,2,0,0.99,-0.04"
    assert lines[3] == "lines,clean,mfmsc,acc,0.8,,1,1,,"


def test_latex_report(results):
    text = to_latex(score_table(results, "acc"))
    assert r"halves & 0.950 $\pm$ 0.071 & 0.990 & $-$0.040 & 0.500 $\pm$ 0.000 &  &  \\" in text
    assert r"100\% of a\_b \& c" in to_latex(TextTable(["100% of a_b & c"], []))
    assert "a \\| b" in to_markdown(TextTable(["a | b"], []))
