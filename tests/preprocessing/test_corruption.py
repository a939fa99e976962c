import numpy as np
import pytest
import scipy.sparse as sp

from manyview import InputError, Views, check_views
from manyview.preprocessing.corruption import (
    add_gaussian,
    corrupt_entries,
    drop_entries,
    replace_entries,
    replace_views,
    unit,
)

NOISES = {
    "corrupt_entries": corrupt_entries,
    "replace_entries": replace_entries,
    "add_gaussian": add_gaussian,
    "drop_entries": drop_entries,
    "replace_views": lambda views, *, seed: replace_views(views, ("dense", "sparse", "zeros"), seed=seed),
}


def make(dtype=float):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10)) * np.arange(1, 11) + 3
    counts = rng.poisson(0.3, (200, 20)).astype(dtype)
    return Views({"dense": X.astype(dtype), "sparse": sp.csr_array(counts), "zeros": counts}, sample_ids=range(200))


def dense(views):
    return [X.toarray() if sp.issparse(X) else X for X in views.arrays]


@pytest.mark.parametrize("name", NOISES)
def test_noise_is_a_pure_function_of_views_and_seed(name):
    views, untouched = make(), make()
    first, second, other = (NOISES[name](views, seed=seed) for seed in (3, 3, 4))
    for a, b, c, before, now in zip(*map(dense, (first, second, other, untouched, views)), strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c, equal_nan=True)
        assert not np.array_equal(a, now, equal_nan=True)
        np.testing.assert_array_equal(before, now)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NOISES)
def test_noise_keeps_names_ids_shapes_dtypes_and_storage(name, dtype):
    views = make(dtype)
    noisy = NOISES[name](views, seed=0)
    assert (noisy.names, noisy.shape) == (views.names, views.shape)
    np.testing.assert_array_equal(noisy.sample_ids, views.sample_ids)
    for after, before in zip(noisy.arrays, views.arrays, strict=True):
        assert after.dtype == dtype
        assert type(after) is type(before)


@pytest.mark.parametrize("name", sorted(set(NOISES) - {"replace_views"}))
def test_the_noise_of_a_view_does_not_depend_on_the_others(name):
    views = make()
    alone = NOISES[name](views.select("dense"), seed=0)
    np.testing.assert_array_equal(NOISES[name](views, seed=0).arrays[0], alone.arrays[0])


def test_two_views_of_equal_shape_get_different_noise():
    X = np.zeros((50, 4)) + np.arange(50)[:, None]
    first, second = add_gaussian([X, X], seed=0).arrays
    assert not np.array_equal(first, second)


def test_the_unit_is_per_feature_for_dense_views_and_one_for_sparse_ones():
    X, S, Z = make().arrays
    np.testing.assert_allclose(unit(X), X.std(axis=0))
    assert unit(S) == pytest.approx(Z.std())
    assert unit(Z) == pytest.approx(Z.std())


@pytest.mark.parametrize("fraction", [0, 0.2, 1])
@pytest.mark.parametrize("noise", [corrupt_entries, replace_entries, drop_entries])
def test_the_share_of_entries_hit(noise, fraction):
    views = make()
    for before, after in zip(dense(views), dense(noise(views, fraction, seed=0)), strict=True):
        assert np.mean(before != after) == pytest.approx(fraction, abs=0.03 if 0 < fraction < 1 else 0)


def test_corruption_is_uniform_up_to_the_amplitude():
    views = make()
    noisy = corrupt_entries(views, 0.5, 4.0, seed=0)
    for before, after, one in zip(dense(views), dense(noisy), map(unit, views.arrays), strict=True):
        shift = ((after - before) / one)[before != after]
        assert 3.8 < np.abs(shift).max() <= 4 + 1e-9
        assert shift.mean() == pytest.approx(0, abs=0.3)
        assert shift.std() == pytest.approx(4 / np.sqrt(3), rel=0.1)


def test_replacement_is_centred_on_the_mean_and_on_zero_in_sparse_views():
    views = make()
    noisy = replace_entries(views, 1, 2.0, seed=0)
    for after, centre, one in zip(
        dense(noisy), (views.arrays[0].mean(axis=0), 0, 0), map(unit, views.arrays), strict=True
    ):
        shift = (after - centre) / one
        assert 1.9 < np.abs(shift).max() <= 2 + 1e-9


def test_gaussian_noise_has_its_deviation_and_leaves_unstored_zeros():
    views = make()
    noisy = add_gaussian(views, 0.5, seed=0)
    shift = (noisy.arrays[0] - views.arrays[0]) / unit(views.arrays[0])
    assert shift.std() == pytest.approx(0.5, rel=0.1)
    np.testing.assert_array_equal(noisy.arrays[1].indices, views.arrays[1].indices)
    assert (noisy.arrays[1].data - views.arrays[1].data).std() == pytest.approx(0.5 * unit(views.arrays[1]), rel=0.1)


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_replaced_views_keep_the_values_of_each_column_and_the_other_views(name):
    views = make()
    noisy = replace_views(views, name, seed=0)
    for view, before, after in zip(views.names, dense(views), dense(noisy), strict=True):
        np.testing.assert_array_equal(np.sort(before, axis=0), np.sort(after, axis=0))
        assert np.array_equal(before, after) == (view != name)


def test_replaced_views_must_exist():
    with pytest.raises(InputError, match=r"No view is called 'text'\. Choose from: 'dense', 'sparse', 'zeros'"):
        replace_views(make(), ["dense", "text"], seed=0)


def test_dropped_entries_are_missing_and_pass_the_gate():
    dropped = drop_entries(make(), 0.1, seed=0)
    for before, after in zip(dense(make()), dense(dropped), strict=True):
        np.testing.assert_array_equal(after[~np.isnan(after)], before[~np.isnan(after)])
    assert check_views(dropped).n_missing["dense"] > 0


@pytest.mark.parametrize("noise", [corrupt_entries, replace_entries, drop_entries])
@pytest.mark.parametrize("fraction", [-0.1, 1.1, np.nan, "half", True])
def test_wrong_fractions_are_refused(noise, fraction):
    with pytest.raises(InputError, match=r"fraction=.*give a finite number from 0 to 1"):
        noise(make(), fraction, seed=0)


@pytest.mark.parametrize("noise", [corrupt_entries, replace_entries, add_gaussian])
@pytest.mark.parametrize("amplitude", [-1, np.inf, None])
def test_wrong_amplitudes_are_refused(noise, amplitude):
    with pytest.raises(InputError, match="amplitude="):
        noise(make(), amplitude=amplitude, seed=0)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("seed", [-1, 0.5, None])
def test_wrong_seeds_are_refused(name, seed):
    with pytest.raises(InputError, match="seed="):
        NOISES[name](make(), seed=seed)
