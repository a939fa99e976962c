"""Synthetic views."""

import numpy as np
import pytest

from manyview import InputError, make_views
from manyview.datasets import make_unequal_views


def test_synthetic_views_repeat_with_the_seed():
    first, second, other = (make_views(50, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.labels, second.labels)
    for a, b, c in zip(first.views.arrays, second.views.arrays, other.views.arrays, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)


def test_synthetic_views_have_the_shapes_asked_for():
    data = make_views(50, 4, [3, 7, 2])
    assert data.views.names == ("view_0", "view_1", "view_2")
    assert [array.shape for array in data.views.arrays] == [(50, 3), (50, 7), (50, 2)]
    assert np.unique(data.labels).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("balance", [1, 0.5, 0.1])
def test_balance_is_the_ratio_of_successive_clusters(balance):
    sizes = np.bincount(make_views(20_000, 3, balance=balance).labels)
    np.testing.assert_allclose(sizes[1:] / sizes[:-1], balance, rtol=0.15)


def test_every_cluster_gets_a_sample_even_if_there_are_no_more():
    assert sorted(make_views(6, 6, balance=0.01).labels) == [0, 1, 2, 3, 4, 5]


def between(X, labels):
    """Share of the variance that lies between the clusters."""
    centres = np.stack([X[labels == c].mean(axis=0) for c in range(labels.max() + 1)])
    return centres[labels].var(axis=0).sum() / X.var(axis=0).sum()


def test_noise_is_set_per_view_and_infinity_is_noise_only():
    data = make_views(3000, 3, (10, 10, 10), noise=[0, 1, np.inf], seed=0)
    none, some, only = (between(X, data.labels) for X in data.views.arrays)
    assert none == pytest.approx(1)
    assert 0.05 < some < 0.9
    assert only < 0.01


@pytest.mark.parametrize("noise", [2, 2.0, np.int64(2), np.float32(2), [2, 2], np.array([2.0, 2.0])], ids=repr)
def test_noise_may_be_any_number_or_one_per_view(noise):
    for X, Y in zip(make_views(noise=noise).views.arrays, make_views(noise=2.0).views.arrays, strict=True):
        np.testing.assert_array_equal(X, Y)


def test_separation_is_the_expected_distance_between_centres():
    distances = []
    for seed in range(20):
        data = make_views(5, 5, [200], noise=0, separation=6, seed=seed)
        X = data.views.arrays[0]
        distances += [np.linalg.norm(X[i] - X[j]) for i in range(5) for j in range(i)]
    assert np.mean(distances) == pytest.approx(6, rel=0.05)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_samples": 2, "n_clusters": 3},
        {"n_clusters": 0},
        {"n_samples": 10.5},
        {"n_features": ()},
        {"n_features": 10},
        {"n_features": (3, 0)},
        {"noise": -1},
        {"noise": np.nan},
        {"noise": [1.0]},
        {"separation": -1},
        {"separation": np.inf},
        {"balance": 0},
        {"balance": 2},
        {"seed": -1},
        {"seed": 0.5},
    ],
    ids=str,
)
def test_wrong_parameters_of_synthetic_views_are_refused(wrong):
    with pytest.raises(InputError):
        make_views(**wrong)


@pytest.mark.parametrize(("n", "c", "ratio"), [(600, 3, 1), (600, 3, 10), (6000, 30, 100), (5, 5, 1000), (7, 1, 2)])
def test_unequal_clusters_have_the_sizes_asked_for(n, c, ratio):
    data = make_unequal_views(n, c, ratio=ratio)
    sizes = np.bincount(data.labels)
    assert sizes.sum() == n
    assert len(sizes) == c
    assert (np.diff(sizes) <= 1).all()  # largest first, up to rounding
    if sizes[-1] > 5:
        assert sizes[0] / sizes[-1] == pytest.approx(1 if c == 1 else ratio, rel=0.2)


@pytest.mark.parametrize("shape", ["gaussian", "curved"])
def test_unequal_clusters_differ_only_in_their_sizes(shape):
    """Another ratio draws other samples around the same centres."""
    means = []
    for ratio in (1, 3):
        data = make_unequal_views(20_000, 3, (10,), ratio=ratio, shape=shape, separation=6, seed=5)
        X = data.views.arrays[0]
        means.append([X[data.labels == k].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(*means, atol=0.15)


def test_confused_clusters_are_merged_in_one_view_and_apart_in_the_next():
    data = make_unequal_views(9000, 6, (12, 12, 12), ratio=1, confused=1.0, seed=3)
    merged = []
    for X in data.views.arrays:
        centres = np.array([X[data.labels == k].mean(axis=0) for k in range(6)])
        distances = np.linalg.norm(centres[:, None] - centres, axis=2)
        merged.append({tuple(pair) for pair in np.argwhere(np.triu(distances < 1, 1))})
    assert [len(pairs) for pairs in merged] == [3, 3, 3]
    assert not merged[0] & merged[1]
    assert not merged[1] & merged[2]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"ratio": 0.5}, "ratio=0.5"),
        ({"shape": "square"}, "Choose one of: 'gaussian', 'curved'"),
        ({"confused": 2}, "confused=2"),
        ({"confused": 0.5, "n_features": [4]}, "at least two views"),
        ({"confused": 0.5, "n_clusters": 2}, "three clusters or more"),
        ({"n_features": 4}, "give a list"),
    ],
)
def test_wrong_parameters_of_unequal_clusters_are_refused(params, message):
    with pytest.raises(InputError, match=message):
        make_unequal_views(**params)
