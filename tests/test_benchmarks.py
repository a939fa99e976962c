"""Benchmarks that hold the code to a rule: every parameter of every method is measured."""

import importlib.util
import sys
from pathlib import Path

import pytest

from manyview import METHODS

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def parameters(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    spec = importlib.util.spec_from_file_location("parameters", BENCHMARKS / "parameters.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("common", None)


@pytest.mark.parametrize("key", METHODS)
def test_a_benchmark_shows_what_moving_each_parameter_does(key, parameters):
    named = set(METHODS[key]().get_params())
    assert named == set(parameters.VALUES[key]) | (named & set(parameters.NO_EFFECT))
    assert all(METHODS[key](**{name: value}) for name, values in parameters.VALUES[key].items() for value in values)
