"""Batches as users give them."""

import numpy as np
import pandas as pd
import pytest

from manyview import InputError, Views
from manyview.views.batches import batch_codes


@pytest.mark.parametrize(
    "batch",
    [
        ["b", "a", "b", "a"],
        np.array([2.5, 1.0, 2.5, 1.0]),
        pd.Series(["b", "a", "b", "a"], index=[4, 5, 6, 7], dtype="category"),
        [(1, 2), None.__class__, (1, 2), None.__class__],
        [2, "2", 2, "2"],
    ],
)
def test_any_hashable_values_become_numbers(batch):
    assert batch_codes(batch, 4).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        (["a", "a", "b"], "batch has 3 values for 4 samples; give one per sample"),
        (["a", "a", "b", None], "batch is missing for 1 of 4 samples, the first at index 3"),
        ([1.0, np.nan, 2.0, np.nan], "missing for 2 of 4 samples, the first at index 1"),
        (pd.Series([1, 1, pd.NA, 2], dtype="Int64"), "missing for 1 of 4"),
        (["a", "a", "a", "b"], "The batch 'b' in batch has one sample; merge it with another"),
        (["a", "a", "c", "b"], "The batches 'b', 'c' in batch have one sample each"),
        (["a"] * 4, "batch has 1 batch; give at least two"),
        ("centre", "batch='centre' is a str; give a list"),
        (7, "batch=7 is an int; give a list"),
        ([[1], [1], [2], [2]], "batch contains a list; give one number or string"),
        (np.zeros((4, 2)), "batch contains a list"),
    ],
)
def test_bad_batches_are_refused(batch, says):
    with pytest.raises(InputError, match=says):
        batch_codes(batch, 4)


def test_views_keep_the_batches_of_their_samples(rng):
    views = Views([rng.normal(size=(6, 2)), rng.normal(size=(6, 3))]).with_batch(list("aabbcc"))
    assert views[[0, 2, 5]].batch.tolist() == [0, 1, 2]
    assert views.select(["view_1"]).batch.tolist() == views.replace(views.arrays).batch.tolist() == [0, 0, 1, 1, 2, 2]
    assert Views(views).batch is views.batch
    assert views.with_batch(None).batch is None


def test_no_samples_have_no_batches():
    with pytest.raises(InputError, match=r"^batch has 0 batch; give at least two, or none at all"):
        batch_codes([], 0)


def test_samples_without_a_batch_are_named_by_their_ids():
    with pytest.raises(InputError, match=r"^site is missing for 1 of 3 samples, such as 'p7'; fill it in"):
        batch_codes(["a", None, "a"], 3, "site", np.array(["p5", "p7", "p9"]))
