"""Mixing of batches, by hand."""

import numpy as np
import pytest

from manyview import InputError
from manyview.evaluation import mix_batches


def test_counts_and_misplaced_shares():
    found = mix_batches([0, 0, 0, 0, 1, 1, 1, 1], ["x", "x", "x", "y", "y", "y", "y", "x"])
    assert found.counts.tolist() == [[3, 1], [1, 3]]
    np.testing.assert_allclose(found.misplaced, [0.25, 0.25])
    assert found.missing == 0


def test_random_batches_are_as_mixed_as_by_chance(rng):
    labels = rng.integers(0, 4, 2000)
    found = mix_batches(labels, rng.integers(0, 3, 2000))
    np.testing.assert_allclose(found.misplaced, found.by_chance, atol=0.05)
    assert found.p_value > 0.05
    assert mix_batches(labels, labels).p_value < 1e-9


def test_unknown_batches_are_counted():
    assert mix_batches([0, 0, 1, 1, 1], ["x", "y", "x", "y", None]).missing == 1


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        (["x", "x", "x", "y"], "The batch 'y' in 'batch' has one sample"),
        (["x", "x", "y", "z"], "The batches 'y', 'z' in 'batch' have one sample each"),
        (["x"] * 4, "has 1 batch"),
        (["x", "x", "y", "y", "y"], "Got 4 labels for 5 batches"),
    ],
)
def test_bad_batches_are_refused(batch, says):
    with pytest.raises(InputError, match=says):
        mix_batches([0, 0, 1, 1], batch)
