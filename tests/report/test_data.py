"""The numbers of the report, against values computed by hand or by others."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.metrics import silhouette_samples

from manyview import MAASC, MFMSC, OCBR, InputError, Views
from manyview.preprocessing.corruption import corrupt_entries, replace_views
from manyview.report.agreement import compare_views
from manyview.report.clusters import measure_membership, silhouettes, summarize_clusters, within_share
from manyview.report.data import compute_report_data, find_doubtful, fitted_views
from manyview.report.features import find_suspects, separating_features, table_moments
from manyview.report.metadata import colour_column, match_metadata, number_column
from manyview.report.sample_map import choose_samples, lay_out_samples, spectral_coordinates

LABELS = np.array([0, 0, 1, 1])
# 0 -3- 1 -1- 2 -2- 3
CHAIN = sp.csr_array(np.array([[0, 3, 0, 0], [3, 0, 1, 0], [0, 1, 0, 2], [0, 0, 2, 0]], dtype=float))


# Clusters --------------------------------------------------------------------------------------------


def test_standing_is_where_the_links_go():
    membership = measure_membership(CHAIN, LABELS)
    np.testing.assert_allclose(membership.own, [1, 3 / 4, 2 / 3, 1])
    np.testing.assert_allclose(membership.next, [0, 1 / 4, 1 / 3, 0])
    np.testing.assert_array_equal(membership.other, [1, 1, 0, 0])
    np.testing.assert_allclose(membership.margin, [1, 1 / 2, 1 / 3, 1])


def test_a_sample_without_links_stands_nowhere():
    W = sp.block_diag([CHAIN, np.zeros((1, 1))], format="csr")
    membership = measure_membership(sp.csr_array(W), np.array([0, 0, 1, 1, 1]))
    assert membership.own[4] == membership.next[4] == 0


def test_the_least_certain_come_first_and_stability_before_the_margin():
    membership = measure_membership(CHAIN, LABELS)
    assert find_doubtful(membership).tolist() == [2, 1, 0, 3]
    unstable = SimpleNamespace(samples=np.array([0.9, 0.9, 0.9, 0.2]))
    assert find_doubtful(membership, unstable).tolist() == [3, 2, 1, 0]


def test_links_between_clusters():
    clusters = summarize_clusters(CHAIN, LABELS, np.array([0.0, 1.0, 0.5, 0.5]))
    np.testing.assert_allclose(clusters.links, [[6 / 7, 1 / 7], [1 / 5, 4 / 5]])
    np.testing.assert_allclose(clusters.inside, [6 / 7, 4 / 5])
    np.testing.assert_array_equal(clusters.size, [2, 2])
    np.testing.assert_allclose(clusters.silhouette, [0.5, 0.5])
    np.testing.assert_allclose(clusters.quantiles[0], [0.05, 0.25, 0.5, 0.75, 0.95])
    assert within_share(CHAIN, LABELS) == pytest.approx(10 / 12)


def test_silhouettes_are_those_of_scikit_learn(rng):
    F = rng.standard_normal((40, 5))
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    labels = np.r_[rng.integers(0, 4, 39), 4]  # the last is alone
    labels[:4] = range(4)
    np.testing.assert_allclose(silhouettes(F, labels), silhouette_samples(F, labels, metric="cosine"), atol=1e-12)
    assert np.isnan(silhouettes(F, np.zeros(40, int))).all()


# The map ---------------------------------------------------------------------------------------------


def test_the_sample_is_proportional_and_keeps_small_clusters():
    labels = np.repeat([0, 1, 2], [9000, 970, 30])
    rows = choose_samples(labels, 1000, seed=0)
    counts = np.bincount(labels[rows])
    assert len(rows) <= 1000
    assert counts.tolist() == [50 + 850 * 9000 // 10000, 50 + 850 * 970 // 10000, 30]
    assert np.all(np.diff(rows) > 0)
    np.testing.assert_array_equal(rows, choose_samples(labels, 1000, seed=0))
    assert not np.array_equal(rows, choose_samples(labels, 1000, seed=1))
    np.testing.assert_array_equal(choose_samples(labels, 10000, seed=0), np.arange(10000))


def test_more_clusters_than_points_leave_the_map_small():
    assert len(choose_samples(np.repeat(np.arange(30), 10), 20, seed=0)) <= 20


def test_the_map_keeps_clusters_together(blobs):
    model = MFMSC(3).fit(blobs.views)
    coordinates = spectral_coordinates(model.affinity_, 3)
    np.testing.assert_allclose(np.linalg.norm(coordinates, axis=1), 1)
    picture = lay_out_samples(coordinates, np.arange(60), seed=0)
    assert "t-SNE" in picture.how
    assert picture.places.min() == 0
    assert picture.places.max() == 1
    distance = np.linalg.norm(picture.places[:, None] - picture.places[None], axis=-1) + 9 * np.eye(60)
    assert np.mean(model.labels_[distance.argmin(axis=1)] == model.labels_) > 0.95


def test_a_handful_of_samples_is_drawn_without_tsne():
    picture = lay_out_samples(spectral_coordinates(CHAIN, 2), np.arange(4), seed=0)
    assert picture.places.shape == (4, 2)
    assert "t-SNE" not in picture.how


# Features --------------------------------------------------------------------------------------------

COLUMN = np.array([[0.0], [2.0], [10.0], [12.0]])


def test_moments_by_hand():
    moments = table_moments(COLUMN, LABELS)
    np.testing.assert_allclose(moments.inside(), [[1], [11]])
    np.testing.assert_allclose(moments.outside(), [[11], [1]])
    np.testing.assert_allclose(moments.effects(), [[-10 / np.sqrt(2)], [10 / np.sqrt(2)]])
    np.testing.assert_allclose(moments.explained(), [1 - 4 / 104])
    np.testing.assert_allclose(moments.spread(), [np.sqrt(104 / 4)])


def test_missing_values_count_for_nothing():
    X = np.r_[COLUMN, [[np.nan]]]
    with_missing, without = table_moments(X, np.r_[LABELS, 1]), table_moments(COLUMN, LABELS)
    for what in ("inside", "outside", "effects", "explained", "spread"):
        np.testing.assert_allclose(getattr(with_missing, what)(), getattr(without, what)())


def test_sparse_tables_have_the_moments_of_dense_ones(rng):
    X = rng.poisson(1.0, (30, 4)).astype(float)
    X[3, 2] = np.nan
    labels = np.arange(30) % 3
    stored = sp.csr_array(X)
    absent = sp.csr_array(([np.nan], ([0], [0])), shape=(1, 4))
    sparse = table_moments(sp.csr_array(sp.vstack([stored, absent])), np.r_[labels, 0])
    dense = table_moments(X, labels)
    for what in ("inside", "outside", "effects", "explained", "spread"):
        np.testing.assert_allclose(getattr(sparse, what)(), getattr(dense, what)())


def test_extreme_features_have_finite_effects():
    X = np.c_[1e300 * COLUMN, np.full(4, 5.0), [1.0, 1.0, 2.0, 2.0], np.full(4, np.nan), 1e9 + COLUMN]
    moments = table_moments(X, LABELS)
    effects = moments.effects()
    assert np.isfinite(effects).all()
    np.testing.assert_allclose(effects[1], [10 / np.sqrt(2), 0, 100 * 2, 0, 10 / np.sqrt(2)], rtol=1e-6)
    np.testing.assert_array_equal(np.isnan(moments.explained()), [False, True, False, True, False])


def test_the_strongest_features_come_first_with_their_names():
    first = pd.DataFrame({"weak": [0.0, 3, 1, 4], "strong": COLUMN.ravel()})
    views = Views({"a": first, "b": 2 * COLUMN + np.array([[0.0], [0], [0], [5]])})
    found = separating_features([table_moments(X, LABELS) for X in views.arrays], views)
    assert [(row.view, row.feature) for row in found.top[0]] == [("a", "strong"), ("b", "column 0"), ("a", "weak")]
    assert found.top[0][0].effect == pytest.approx(-10 / np.sqrt(2))
    assert (found.top[1][0].inside, found.top[1][0].outside) == (pytest.approx(11), pytest.approx(1))
    assert [row.feature for row in found.mapped] == ["strong", "column 0", "weak"]


def test_suspected_entries_are_counted_and_the_largest_listed():
    X = np.array([[0.0, 1], [2, 100], [10, 3], [np.nan, 4]])
    E = sp.csr_array(np.array([[0.0, 0], [0, 98], [2.0, 0], [0, 0]]))
    views = Views({"v": pd.DataFrame(X, columns=["f", "g"])})
    suspects = find_suspects([E], views, [table_moments(X - E, LABELS)])
    (view,) = suspects.views
    assert (view.count, view.share) == (2, 2 / 7)
    assert sorted(view.features) == [("f", 1), ("g", 1)]
    assert sorted(view.samples) == [(1, 1), (2, 1)]
    first, second = suspects.entries
    assert (first.row, first.feature, first.observed, first.expected) == (1, "g", 100, 2)
    assert first.size == pytest.approx(98 / np.std([1, 2, 3, 4]))
    assert (second.row, second.feature, second.observed, second.expected) == (2, "f", 10, 8)


# Views -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [OCBR, MFMSC, MAASC])
def test_views_that_show_the_clusters_agree_and_noise_does_not(blobs, method):
    views = Views({"good": blobs.views.arrays[0], "also": blobs.views.arrays[1], "noise": blobs.views.arrays[1]})
    views = replace_views(views, "noise", seed=0)
    agreement = compare_views(method(3).fit(views), views)
    good, also, noise = agreement.views
    assert (good.acc, good.nmi, also.acc) == (1, pytest.approx(1), 1)
    assert noise.acc < 0.7
    assert agreement.n_compared == 60
    assert (good.weight is None) == (method is MFMSC)


def test_a_view_is_judged_by_the_samples_it_holds(blobs):
    tables = [X.copy() for X in blobs.views.arrays]
    tables[0][:15] = np.nan
    tables[1][20, 0] = np.nan
    views = Views(tables)
    for method in (OCBR, MFMSC):
        half, full = compare_views(method(3).fit(views), views).views
        assert (half.present, half.missing, half.acc) == (0.75, 0.25, 1)
        assert (full.present, full.missing) == (1, pytest.approx(1 / tables[1].size))


def test_graphs_are_built_on_a_sample_of_many_samples(blobs):
    agreement = compare_views(MFMSC(3).fit(blobs.views), blobs.views, max_samples=40)
    assert agreement.n_compared == 40
    assert agreement.views[0].acc == 1


# Metadata --------------------------------------------------------------------------------------------


def test_words_become_categories_the_most_frequent_first():
    column = colour_column("c", pd.Series(["b", "a", "b", None, "c"]))
    assert column.labels == ["b", "a", "c"]
    assert column.codes.tolist() == [0, 1, 0, -1, 2]
    assert not column.ordered


def test_rare_categories_are_put_together():
    texts = [f"v{i:02d}" for i in range(25)] + ["v07"]
    column = colour_column("c", pd.Series(texts))
    assert column.labels[0] == "v07"
    assert column.labels[-1] == "other (5 values)"
    assert column.codes[24] == 20
    assert column.values[24] == "v24"


def test_few_whole_numbers_are_categories_in_order_and_booleans_too():
    assert colour_column("c", pd.Series([10, 9, 9, np.nan])).labels == ["9", "10"]
    assert colour_column("c", pd.Series([True, False, True])).labels == ["True", "False"]
    assert colour_column("c", pd.Series(["u", "v", "v", None], dtype="category")).labels == ["v", "u"]
    assert colour_column("c", pd.Series([3, 1, None], dtype="Int64")).codes.tolist() == [1, 0, -1]


def test_numbers_fall_into_steps_between_the_tails():
    values = np.r_[np.linspace(0, 8, 801), 1e6, np.nan, np.inf]
    column = colour_column("c", pd.Series(values))
    assert column.ordered
    assert len(column.labels) == 8
    assert column.codes[[0, 450, 801, 802, 803]].tolist() == [0, 4, 7, -1, -1]
    assert column.labels[0].startswith("below ")
    assert np.all(np.diff(column.codes[:802]) >= 0)


@pytest.mark.parametrize("values", [[np.nan, np.nan], [2.5, 2.5], []])
def test_degenerate_numbers_make_one_step(values):
    column = number_column("c", np.array(values))
    assert len(column.labels) == 1
    assert set(column.codes) <= {-1, 0}


def test_metadata_is_matched_by_id():
    ids = np.array(["a", "b", "c"])
    matched = match_metadata(pd.DataFrame({"x": [3, 1]}, index=["c", "a"]), ids, 3)
    np.testing.assert_array_equal(matched["x"], [1, np.nan, 3])
    matched = match_metadata(pd.DataFrame({"x": [5, 6]}), None, 2)
    assert matched["x"].tolist() == [5, 6]


@pytest.mark.parametrize(
    ("index", "ids", "message"),
    [
        (["x", "y"], np.array(["a", "b"]), "No row of metadata has the id of a sample: its rows are 'x', 'y'"),
        (["a", "a"], np.array(["a", "b"]), "several rows for 'a'"),
        (["a", "b"], None, "2 rows for 3 samples"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(index, ids, message):
    with pytest.raises(InputError, match=message):
        match_metadata(pd.DataFrame({"x": [1, 2]}, index=index), ids, 3)


# All together ----------------------------------------------------------------------------------------


def test_listed_samples_are_always_on_the_map(blobs):
    views = corrupt_entries(blobs.views, 0.1, seed=0)
    data = compute_report_data(OCBR(3).fit(views), views, max_points=10)
    listed = set(data.doubtful) | {entry.row for entry in data.suspects.entries}
    assert listed <= set(data.sample_map.rows)
    assert len(data.sample_map.rows) < 60


def test_other_views_than_those_fitted_are_refused(blobs):
    model = MFMSC(3).fit(blobs.views)
    with pytest.raises(InputError, match="give the views that it was fitted on"):
        fitted_views(model, blobs.views[:50])
    with pytest.raises(NotFittedError):
        fitted_views(MFMSC(3), blobs.views)
    assert isinstance(fitted_views(model, list(blobs.views.arrays)), Views)


def test_precomputed_affinities_have_no_features(blobs):
    W = [np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 50) for X in blobs.views.arrays]
    views = Views(W)
    data = compute_report_data(MAASC(3, affinity="precomputed").fit(views), views)
    assert data.features is None
    assert data.agreement.views[0].acc == 1


def test_one_cluster_has_no_doubtful_samples(blobs):
    data = compute_report_data(MFMSC(1).fit(blobs.views), blobs.views)
    assert data.n_loose == 0
    assert data.agreement.views[0].acc is None
