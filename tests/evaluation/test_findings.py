"""All that metadata tell, in one call."""

import numpy as np
import pandas as pd
import pytest

from manyview import InputError
from manyview.datasets import make_tumours
from manyview.evaluation.findings import Questions, relate

pytest.importorskip("lifelines", reason="needs the extra manyview[survival]")


@pytest.fixture(scope="module")
def tumours():
    return make_tumours(200)


def test_everything_that_was_asked_is_answered(tumours):
    found = relate(tumours.labels, tumours.metadata, Questions(("time", "event"), "centre"))
    reasons = found.associations.set_index("column")["left_out"]
    assert reasons["time"] == reasons["event"] == "compared as survival"
    assert {"age", "stage"} <= set(found.significant["column"])
    assert found.survival.p_value < 0.001
    assert found.batches.batches == ["north", "south", "west"]


def test_nothing_asked_nothing_answered(tumours):
    found = relate(tumours.labels, tumours.metadata)
    assert (found.survival, found.batches) == (None, None)
    assert relate(tumours.labels, None).associations is None


def test_what_cannot_be_compared_is_a_warning(tumours):
    with pytest.warns(UserWarning, match="only one cluster, so the metadata were not compared"):
        assert relate(np.zeros(200), tumours.metadata).associations is None
    known_in_one = tumours.metadata.assign(time=tumours.metadata["time"].where(tumours.labels == 1))
    with pytest.warns(UserWarning, match="Survival is known in only one cluster"):
        assert relate(tumours.labels, known_in_one, Questions(("time", "event"))).survival is None


@pytest.mark.parametrize(
    ("questions", "says"),
    [
        (Questions(("days", "event")), "no column 'days'. Choose from: 'age', 'sex'"),
        (Questions(("age", "stage")), "'stage' holds"),
        (Questions(batch="hospital"), "no column 'hospital'"),
    ],
)
def test_columns_that_do_not_fit_are_refused(tumours, questions, says):
    with pytest.raises(InputError, match=says):
        questions.check(tumours.metadata)


def test_columns_need_a_table():
    with pytest.raises(InputError, match="must be in the metadata"):
        Questions(batch="centre").check(None)


def test_names_of_columns_may_be_numbers():
    frame = pd.DataFrame({0: ["a", "a", "b", "b"], 1: [1, 2, 3, 4]})
    assert relate([0, 0, 1, 1], frame, Questions(batch="0")).batches.batches == ["a", "b"]


def test_names_of_columns_must_differ():
    frame = pd.DataFrame([["a", "b"]] * 4, columns=["site", "site"])
    with pytest.raises(InputError, match="have 2 columns 'site'; give each its own name"):
        Questions(batch="site").check(frame)
