"""MFMSC: its accuracy, its graphs and its weights."""

import numpy as np
import pytest

from manyview import DIGITS_VIEWS, MFMSC, InputError, adjusted_rand_index, clustering_accuracy, load_digits


@pytest.mark.parametrize(("views", "least"), [(("fourier", "profile"), 0.96), (DIGITS_VIEWS, 0.97)], ids=["two", "six"])
def test_reaches_its_accuracy_on_digits(views, least):
    digits = load_digits(views)
    model = MFMSC(n_clusters=10).fit(digits.views)
    assert clustering_accuracy(digits.labels, model.labels_) >= least


@pytest.mark.parametrize("affinity", ["knn", "adaptive", "self_tuning"])
@pytest.mark.parametrize("degree_regularization", [0, 1])
def test_in_all_its_variants(affinity, degree_regularization, blobs):
    model = MFMSC(3, affinity=affinity, degree_regularization=degree_regularization)
    labels = model.fit([X.astype(np.float32) for X in blobs.views.arrays]).labels_
    assert adjusted_rand_index(blobs.labels, labels) == 1
    assert (model.embedding_.dtype, model.affinity_.dtype) == (np.float32, np.float32)


@pytest.mark.parametrize("size", [1e300, 1e-300])
@pytest.mark.parametrize("affinity", ["knn", "adaptive", "self_tuning"])
def test_takes_extreme_values_unscaled(size, affinity, blobs):
    model = MFMSC(3, affinity=affinity, scaling="none").fit([X * size for X in blobs.views.arrays])
    assert adjusted_rand_index(blobs.labels, model.labels_) == 1


def test_weight_zero_leaves_a_view_out(blobs, rng):
    noise = rng.standard_normal((60, 50))
    weighted = MFMSC(3, view_weights=[1, 0]).fit([blobs.views.arrays[0], noise])
    alone = MFMSC(3).fit(blobs.views.arrays[0])
    np.testing.assert_array_equal(weighted.affinity_.toarray(), alone.affinity_.toarray())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": 2.5}, "n_neighbors=2.5"),
        ({"affinity": "full"}, "Unknown affinity='full'"),
        ({"scaling": "log"}, "Unknown scaling='log'"),
        ({"degree_regularization": -1}, "degree_regularization=-1"),
        ({"view_weights": [1]}, r"view_weights=\[1.0\] for 2 views; give one weight per view"),
        ({"view_weights": [0, 0]}, "not all 0"),
        ({"view_weights": [1, -1]}, "view_weights=-1"),
        ({"view_weights": [1, np.nan]}, "view_weights=nan"),
    ],
    ids=str,
)
def test_refuses_wrong_parameters(wrong, message, blobs):
    with pytest.raises(InputError, match=message):
        MFMSC(3, **wrong).fit(blobs.views)
