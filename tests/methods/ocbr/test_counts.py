"""Sparse views: what the negative entries give away about the positive ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from manyview import OCBR, adjusted_rand_index
from manyview.methods.ocbr.counts import CountCleaner, log_rarity_rows, rarity, signal_odds
from manyview.methods.ocbr.settings import Settings
from manyview.methods.ocbr.treatment import treat_sparse
from manyview.preprocessing.kinds import Kind

SHAPE = (400, 100)


def clean_counts(X):
    return CountCleaner.fit(sp.csr_array(X)).clean(sp.csr_array(X))


@pytest.fixture(scope="module")
def planted():
    """Counts from 3 on in a tenth of the entries, and symmetric noise below 2 in a fifth of all."""
    rng = np.random.default_rng(0)
    signal = (rng.random(SHAPE) < 0.1) * (3 + rng.poisson(2, SHAPE))
    noise = (rng.random(SHAPE) < 0.2) * rng.uniform(-2, 2, SHAPE)
    return signal, sp.csr_array(signal + noise)


def test_counts_without_negative_entries_stay_as_they_are(rng):
    X = sp.csr_array(rng.poisson(0.2, (30, 10)).astype(float))
    np.testing.assert_array_equal(clean_counts(X).toarray(), X.toarray())


def test_noise_is_weighed_down_and_signal_kept(planted):
    signal, X = planted
    Y, dense = clean_counts(X).toarray(), X.toarray()
    counts, noise = signal > 0, (signal == 0) & (dense > 0)
    kept = Y / np.where(dense == 0, 1, dense)
    assert kept[counts & (dense > 2.5)].mean() > 0.95
    assert kept[noise].mean() < 0.3
    assert (Y >= 0).all()
    assert np.linalg.norm(Y - signal) < 0.5 * np.linalg.norm(dense - signal)


def test_an_entry_keeps_the_share_of_its_energy_that_is_signal():
    """30 entries of -1 show that 30 of the 90 entries of 1 are noise; both features hold as many of each."""
    column = np.concatenate([np.full(45, 1.0), np.full(15, -1.0), np.zeros(40)])
    Y = clean_counts(sp.csr_array(np.column_stack([column, column[::-1]])))
    np.testing.assert_allclose(Y.data, np.sqrt(1 - 31 / 90))  # one more is noise than was seen
    assert Y.nnz == 90


def test_entries_only_shrink(planted):
    _, X = planted
    Y = clean_counts(X)
    assert (Y.toarray() <= np.maximum(X.toarray(), 0)).all()
    assert Y.nnz <= X.nnz
    assert (Y.data != 0).all()


def test_of_two_entries_alike_the_one_in_the_feature_with_more_signal_keeps_more(rng):
    rich = np.where(np.arange(50) < 25, 0.3, 0.02)
    signal = (rng.random((400, 50)) < rich) * rng.uniform(0, 2, (400, 50))
    noise = (rng.random((400, 50)) < 0.1) * rng.uniform(-2, 2, (400, 50))
    X = np.where(signal > 0, signal, noise)
    kept = clean_counts(sp.csr_array(X)).toarray() / np.where(X == 0, 1, X)
    positive = X > 0
    assert kept[:, :25][positive[:, :25]].mean() > 1.5 * kept[:, 25:][positive[:, 25:]].mean()


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array, np.asarray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_comes_out_and_the_input_stays(form, dtype, planted):
    given = form(planted[1].toarray().astype(dtype))
    before = given.copy()
    Y = clean_counts(given)
    assert isinstance(Y, sp.csr_array)
    assert Y.dtype == dtype
    assert abs(given - before).max() == 0
    np.testing.assert_allclose(Y.toarray(), clean_counts(planted[1]).toarray(), rtol=1e-3, atol=1e-3)


def test_odds_are_the_share_of_signal_in_each_size(rng):
    negative = rng.uniform(0, 1, 5000)
    positive = np.concatenate([rng.uniform(0, 1, 5000), rng.uniform(0.5, 1, 5000), [7.0]])
    edges, by_bin = signal_odds(positive, negative)
    odds = by_bin[np.searchsorted(edges, positive)]
    share = odds / (1 + odds)
    small, large = positive < 0.45, (positive > 0.55) & (positive < 1)
    assert share[small].mean() < 0.1
    assert share[large].mean() == pytest.approx(2 / 3, abs=0.05)
    assert np.isfinite(odds).all()


def test_sizes_that_noise_never_has_are_signal(rng):
    edges, odds = signal_odds(np.full(1000, 9.0), rng.uniform(0, 1, 1000))
    assert odds[np.searchsorted(edges, 9.0)] > 500


@pytest.mark.parametrize("entries", [[-1.0], [-1.0, 1.0], [-1.0, 2.0, 3.0]])
def test_few_entries_are_no_trouble(entries):
    X = sp.csr_array((np.array(entries), (np.arange(len(entries)), np.zeros(len(entries), int))), shape=(4, 2))
    Y = clean_counts(X)
    assert np.isfinite(Y.data).all()
    assert Y.shape == (4, 2)


def signed_view(sign):
    """Features that are -1, 0 or 1, mostly 0, as gains and losses are: a negative entry tells as much."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 20)
    pattern = rng.choice([-1.0, 1.0], (3, 60)) * (rng.random((3, 60)) < 0.3)
    flip = rng.random((60, 60)) < 0.05
    return truth, sign * np.where(flip, rng.choice([-1, 0, 1], (60, 60)), pattern[truth])


@pytest.mark.parametrize("sign", [1, -1])
def test_views_that_are_no_counts_are_not_wiped_out(sign):
    truth, X = signed_view(sign)
    model = OCBR(3).fit([X])
    assert model.scaling_ == {"view_0": "unit"}
    assert adjusted_rand_index(truth, model.labels_) == 1


def test_more_negative_than_positive_entries_are_left_alone():
    X = sp.csr_array(np.array([[-1.0, 0, 0], [0, -2, 0], [0, 0, 1]]))
    np.testing.assert_array_equal(clean_counts(X).toarray(), X.toarray())


def test_rarity_is_the_usual_idf(rng):
    X = sp.csr_array(rng.poisson(0.5, (40, 12)).astype(float))
    usual = TfidfTransformer(norm=None, smooth_idf=True).fit_transform(X)
    np.testing.assert_allclose(X.toarray() * rarity(X), usual.toarray())


def test_rarity_by_hand():
    X = sp.csr_array(np.array([[2.0, 0], [1, 0], [1, 5]]))
    np.testing.assert_allclose(rarity(X), [np.log(4 / 4) + 1, np.log(4 / 2) + 1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_samples_are_represented_with_what_was_learnt(dtype, planted):
    X = planted[1].astype(dtype)
    view = treat_sparse(X, np.arange(X.shape[0]), Kind("counts", ""), 10, Settings())
    rows = view.rows.toarray() / view.scale
    assert rows.dtype == dtype
    np.testing.assert_allclose(view.model.represent(X[:7]).toarray(), rows[:7], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(view.model.represent(X.toarray()), rows, rtol=1e-4, atol=1e-5)


def test_entries_count_by_their_logarithm_and_rarity():
    X = sp.csr_array(np.array([[3.0, 0], [1, 0], [1, 7], [0, 1]]))
    cleaner = CountCleaner.fit(X)
    assert cleaner.typical == 1
    written = np.log1p(X.toarray()) * rarity(X)
    lengths = np.linalg.norm(written, axis=1, keepdims=True) / np.sqrt(2)
    np.testing.assert_allclose(log_rarity_rows(X, cleaner).toarray(), written / lengths)


def test_as_many_negative_as_positive_entries_are_left_alone():
    X = sp.csr_array(np.array([[-1.0, 0, 5], [0, -2, 1]]))
    cleaner = CountCleaner.fit(X)
    assert cleaner.edges.size == 0
    np.testing.assert_array_equal(cleaner.clean(X).toarray(), X.toarray())


def test_cleaning_and_rarity_can_be_turned_off(planted):
    X = planted[1]
    np.testing.assert_array_equal(CountCleaner.fit(X, clean=False).clean(X).toarray(), X.toarray())
    assert (CountCleaner.fit(X, weigh=False).rarity == 1).all()
    assert CountCleaner.fit(X, weigh=False).typical == np.median(clean_counts(X).data)


@pytest.mark.parametrize("n_negative", [3, 49, 50, 400, 6000])
def test_odds_are_those_of_the_definition_in_bins_of_as_many_noisy_entries(n_negative, rng):
    negative, positive = rng.uniform(0, 1, n_negative), rng.uniform(0, 1.5, 2 * n_negative) ** 2
    edges, odds = signal_odds(positive, negative)
    assert len(edges) == min(100, n_negative // 50 + 1)
    lower = np.r_[-np.inf, edges]
    upper = np.r_[edges, np.inf]
    for a, b, found in zip(lower, upper, odds, strict=True):
        noise, total = (np.sum((x > a) & (x <= b)) for x in (negative, positive))
        share = min(max(1 - (noise + 1) / total, 0), 1 - 1e-6) if total else 0
        assert found == pytest.approx(share / (1 - share))
