"""Benchmarks that hold the code to a rule: every parameter of every method is measured, and fits leave nothing."""

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from manyview import METHODS

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def parameters(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    yield load(BENCHMARKS / "parameters.py")
    sys.modules.pop("common", None)


@pytest.fixture(scope="module")
def soak():
    return load(BENCHMARKS / "soak.py")


@pytest.mark.parametrize("key", METHODS)
def test_a_benchmark_shows_what_moving_each_parameter_does(key, parameters):
    named = set(METHODS[key]().get_params())
    assert named == set(parameters.VALUES[key]) | (named & set(parameters.NO_EFFECT))
    assert all(METHODS[key](**{name: value}) for name, values in parameters.VALUES[key].items() for value in values)


def test_random_fits_are_fitted_or_refused(soak, tmp_path):
    rng = np.random.default_rng(1)
    assert {soak.outcome(rng, tmp_path) for _ in range(15)} == {"fitted", "refused"}


@pytest.mark.parametrize(
    ("counts", "resident", "left", "sound"),
    [
        ({"fitted": 8, "refused": 2}, [100, 100, 105, 104, 105], [(1, 2), (1, 2)], True),
        ({"fitted": 9, "OCBR(): ValueError: bad": 1}, [100, 100], [(1, 2), (1, 2)], False),
        ({"fitted": 10}, [100, 100, 105, 110, 115], [(1, 2), (1, 2)], False),
        ({"fitted": 10}, [100, 100], [(1, 2), (3, 2)], False),
        ({"fitted": 10}, [100, 100], [(1, 2), (1, 4)], False),
    ],
)
def test_what_a_soak_finds_wrong(counts, resident, left, sound, soak):
    assert soak.is_sound(Counter(counts), resident, left) == sound
