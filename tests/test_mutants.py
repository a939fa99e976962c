"""The sample of mutants, and its score."""

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def mutants():
    spec = importlib.util.spec_from_file_location("mutants", Path(__file__).parents[1] / "tools" / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_sample_is_of_one_folder_and_the_same_for_the_same_seed(mutants):
    names = [f"manyview.{folder}.a.x_f__mutmut_{i}" for folder in ("graphs", "views") for i in range(30)]
    drawn = mutants.sample(names, "graphs", 10, seed=0)
    assert len(set(drawn)) == 10
    assert all(name.startswith("manyview.graphs.") for name in drawn)
    assert drawn == mutants.sample(names[::-1], "graphs", 10, seed=0)
    assert drawn != mutants.sample(names, "graphs", 10, seed=1)
    assert len(mutants.sample(names, "graphs", 0, seed=0)) == len(mutants.sample(names, "graphs", 99, seed=0)) == 30


def test_the_score_is_the_share_that_a_test_noticed(mutants):
    found = {"a": "killed", "b": "timeout", "c": "survived", "d": "no tests", "e": "killed", "f": "guard"}
    lines, score = mutants.table({"views": ["a", "b", "c", "d"], "graphs": ["e", "f"]}, found)
    assert score == 0.6
    assert lines[2:] == [
        "| views | 4 | 2 | 0 | 1 | 1 | 50% |",
        "| graphs | 2 | 1 | 1 | 0 | 0 | 100% |",
        "| all | 6 | 3 | 1 | 1 | 1 | 60% |",
    ]


@pytest.mark.parametrize(
    ("new", "guard"),
    [
        ("for a, b in zip(x, y, strict=None):", True),
        ("for a, b in zip(x, y, strict=False):", True),
        ("for a, b in zip(x, y, ):", True),
        ("for a, b in zip(x, strict=True):", False),
        ("for a, b in zip(x, None, strict=True):", False),
        ("for a, b in None:", False),
    ],
)
def test_what_only_takes_out_a_guard(mutants, new, guard):
    lines = ["--- a.py", "+++ a.py", "@@ -1,2 +1,2 @@", " x = 1", "-for a, b in zip(x, y, strict=True):", f"+{new}"]
    assert mutants.is_guard("\n".join(lines)) == guard
