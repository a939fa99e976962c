"""Every number that a rule allows gives labels, in single precision too: also the smallest and the largest."""

import warnings

import numpy as np
import pytest

from manyview import METHODS
from manyview.checks import Number, OrNone, OrWord, Whole

LIMITED = ("n_clusters", "max_memory")  # by the data: not every value that a rule allows is enough
HUGE = 10**30  # of a whole number, which has no largest value


def number_rule(rule):
    """Return the rule about numbers that another one wraps."""
    while isinstance(rule, OrNone | OrWord):
        rule = rule.rule
    return rule


def extremes(method):
    """Return every parameter that is a number, with its smallest and its largest value."""
    for name in method._rules.keys() - LIMITED:
        rule = number_rule(method._rules[name])
        if isinstance(rule, Number):
            yield from ((name, rule.minimum), (name, rule.maximum))
        elif isinstance(rule, Whole):
            yield from ((name, rule.minimum), (name, HUGE))


CASES = [(key, name, value) for key, method in METHODS.items() for name, value in sorted(extremes(method))]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("key", "name", "value"), CASES)
def test_the_smallest_and_the_largest_value_give_labels(key, name, value, dtype, blobs):
    views = [X.astype(dtype)[::3] for X in blobs.views.arrays]
    limits = {"max_iter": 5} if "max_iter" in METHODS[key]._rules else {}
    with warnings.catch_warnings():  # of methods that did not converge
        warnings.simplefilter("ignore")
        model = METHODS[key](3, **limits | {name: value}).fit(views)
    assert set(model.labels_.tolist()) <= {0, 1, 2}
    assert np.isfinite(model.embedding_).all()
