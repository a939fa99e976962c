"""Generated tumours: what is planted is there, and nothing else."""

import numpy as np
import pandas as pd
import pytest

from manyview import OCBR, InputError, adjusted_rand_index
from manyview.datasets import make_tumours
from manyview.evaluation import associate


def test_they_repeat_with_the_seed():
    first, second, other = (make_tumours(60, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first.metadata, second.metadata)
    np.testing.assert_array_equal(first.views.arrays[1], second.views.arrays[1])
    assert not first.metadata.equals(other.metadata)


def test_samples_are_missing_from_two_views_but_never_from_both():
    present = make_tumours(100, missing=0.2).views.present
    assert present.sum(axis=0).tolist() == [100, 80, 80]
    assert (present[:, 1:].sum(axis=1) >= 1).all()


def test_subtypes_can_be_found():
    data = make_tumours()
    assert adjusted_rand_index(data.labels, OCBR(4).fit(data.views).labels_) > 0.9


def test_age_and_stage_go_with_the_subtype_and_the_others_do_not():
    data = make_tumours(600)
    found = associate(data.labels, data.metadata.drop(columns=["time", "event"])).set_index("column")
    assert set(found.index[found["p_corrected"] < 0.001]) == {"age", "stage"}
    assert found["missing"]["age"] > 0


def test_the_worst_subtype_dies_first():
    data = make_tumours(600)
    median = data.metadata["time"].groupby(data.labels).median()
    assert median.is_monotonic_decreasing
    assert set(data.metadata["event"].dropna()) == {0, 1}


def test_bad_parameters_are_refused():
    with pytest.raises(InputError, match=r"missing=0.7"):
        make_tumours(missing=0.7)
