"""The OCBR estimator: its results, its parameters, and data that are bad in one way or another."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning

from manyview import DIGITS_VIEWS, OCBR, InputError, adjusted_rand_index, clustering_accuracy, load_digits, make_views
from manyview.methods.ocbr import consensus, estimator
from manyview.methods.ocbr.treated import treat_views
from manyview.preprocessing.corruption import corrupt_entries


@pytest.fixture(scope="module")
def data():
    return make_views(150, 4, (10, 12), noise=1.0, separation=8, seed=2)


@pytest.fixture(scope="module")
def digits():
    return load_digits()


@pytest.fixture(scope="module")
def noisy_digits(digits):
    return corrupt_entries(digits.views, 0.2, seed=0)


@pytest.fixture(scope="module")
def noisy_model(noisy_digits):
    return OCBR(10).fit(noisy_digits)


def low_rank_views(n=200, widths=(20, 30), corrupted=0.05, seed=0):
    """Four clusters on a low rank, in units all over the place; also without the errors."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 4
    clean, given, hits = [], [], []
    for d in widths:
        L = (3 * np.eye(4)[truth] + 0.3 * rng.standard_normal((n, 4))) @ rng.standard_normal((4, d))
        X = (L + 0.1 * rng.standard_normal((n, d))) * rng.uniform(0.01, 100, d) + rng.uniform(-50, 50, d)
        hit = rng.random((n, d)) < corrupted
        clean.append(X)
        hits.append(hit)
        given.append(X + hit * rng.choice([-6, 6], (n, d)) * X.std(axis=0))
    return truth, clean, given, hits


# Accuracy ----------------------------------------------------------------------------------------


def test_corrupted_digits(digits, noisy_model):
    assert clustering_accuracy(digits.labels, noisy_model.labels_) >= 0.96


def test_six_views_of_digits():
    six = load_digits(DIGITS_VIEWS)
    assert clustering_accuracy(six.labels, OCBR(10).fit(six.views).labels_) >= 0.98


def test_corrupted_entries_of_digits_are_found(digits, noisy_digits, noisy_model):
    at = digits.views.names.index("profile")
    hit = noisy_digits.arrays[at] != digits.views.arrays[at]
    found = noisy_model.corruption_[at].toarray() != 0
    assert (hit & found).sum() / found.sum() > 0.9
    assert (hit & found).sum() / hit.sum() > 0.7


# Results -----------------------------------------------------------------------------------------


def test_attributes(blobs):
    model = OCBR(3).fit(blobs.views)
    for X, U, W, E, L in zip(
        blobs.views.arrays, model.bases_, model.graphs_, model.corruption_, model.reconstructions_, strict=True
    ):
        np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-8)
        assert U.shape[0] == W.shape[0] == W.shape[1] == 60
        assert sp.issparse(W)
        assert abs(W - W.T).max() < 1e-12
        assert sp.issparse(E)
        assert E.shape == L.shape == X.shape
        assert np.isfinite(L).all()
    assert sp.issparse(model.affinity_)
    assert abs(model.affinity_ - model.affinity_.T).max() < 1e-12
    assert model.affinity_.nnz < 0.5 * 60**2
    assert model.embedding_.shape == (60, 3)
    assert model.view_weights_.shape == (2,)
    assert model.view_weights_.sum() == pytest.approx(1)
    assert (model.view_weights_ >= 0).all()


@pytest.mark.parametrize("k", [4, 20])
def test_samples_are_linked_to_as_many_neighbours_as_asked_for(k, blobs):
    for W in OCBR(3, n_neighbors=k).fit(blobs.views).graphs_:
        links = np.diff(W.indptr)
        assert k <= links.min() < links.mean() <= 2 * k  # more than k are those that chose the sample


def test_history(noisy_model):
    assert noisy_model.converged_
    assert noisy_model.n_iter_ == len(noisy_model.history_) > 2
    assert all(set(r) == {"iteration", "objective", "residual", "mu", "seconds"} for r in noisy_model.history_)
    objective = np.array([record["objective"] for record in noisy_model.history_])
    assert objective[-1] <= objective[0]
    assert objective[-1] == pytest.approx(objective.min(), rel=1e-3)
    assert noisy_model.history_[-1]["residual"] <= 1e-3


def test_the_search_for_the_partition_is_told(noisy_model, data):
    search = noisy_model.search_
    assert search.converged
    assert search.starts >= 4
    assert search.sweeps > 0
    assert search.runner_up <= search.objective
    assert -0.5 <= search.agreement <= 1
    assert OCBR(4, graph="joint").fit(data.views).search_ is None


def test_a_search_that_is_cut_short_has_not_converged(data):
    class Hasty(OCBR):
        _settings = replace(OCBR._settings, search=replace(OCBR._settings.search, sweeps=0))

    model = Hasty(4).fit(data.views)
    assert not model.search_.converged
    assert not model.converged_


def test_the_views_are_recovered_once_also_where_the_number_of_clusters_is_chosen(data, monkeypatch):
    calls = []
    monkeypatch.setattr(estimator, "treat_views", lambda *args: calls.append(args) or treat_views(*args))
    assert OCBR("auto").fit(data.views).n_clusters_ == 4
    assert len(calls) == 1


def test_errors_and_reconstructions_are_in_the_units_of_the_view():
    truth, clean, given, hits = low_rank_views()
    model = OCBR(4).fit(given)
    assert adjusted_rand_index(truth, model.labels_) == 1
    for X, Y, hit, E, L in zip(clean, given, hits, model.corruption_, model.reconstructions_, strict=True):
        unit = X.std(axis=0)
        assert np.linalg.norm((L - X) / unit) < 0.21 * np.linalg.norm((X - X.mean(axis=0)) / unit)
        assert np.linalg.norm((L - X) / unit) < 0.16 * np.linalg.norm((Y - X) / unit)
        found = E.toarray()
        assert np.mean(found[hit] != 0) > 0.9
        assert np.median(np.abs(found - (Y - X))[hit] / np.broadcast_to(unit, X.shape)[hit]) < 0.5


def test_errors_scale_with_their_column():
    _, _, given, _ = low_rank_views()
    scaled = given[0].copy()
    scaled[:, 3] *= 1000
    plain, large = (OCBR(4).fit([X, given[1]]) for X in (given[0], scaled))
    factor = np.where(np.arange(20) == 3, 1000, 1)
    np.testing.assert_allclose(large.corruption_[0].toarray(), plain.corruption_[0].toarray() * factor, rtol=1e-6)
    np.testing.assert_allclose(large.reconstructions_[0], plain.reconstructions_[0] * factor, rtol=1e-6)
    np.testing.assert_array_equal(large.labels_, plain.labels_)


def test_errors_of_a_sparse_view_are_what_cleaning_took_away(rng):
    signal = np.kron(np.eye(3), np.ones((40, 10))) * rng.poisson(4, (120, 30))
    X = sp.csr_array(signal + (rng.random(signal.shape) < 0.1) * rng.uniform(-2, 2, signal.shape))
    model = OCBR(3).fit([X])
    assert adjusted_rand_index(np.repeat(np.arange(3), 40), model.labels_) == 1
    E = model.corruption_[0]
    assert E.shape == X.shape
    np.testing.assert_allclose(E.toarray()[X.toarray() < 0], X.toarray()[X.toarray() < 0])
    assert np.abs(E.toarray()[signal > 2]).mean() < 0.1


def test_seeds_do_not_matter_by_default(data):
    first, *others = (OCBR(4, random_state=seed).fit(data.views).labels_ for seed in (0, 1, np.random.RandomState(2)))
    for labels in others:
        np.testing.assert_array_equal(labels, first)


# Bad data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 1])
def test_one_view(at, data):
    model = OCBR(4).fit([data.views.arrays[at]])
    assert adjusted_rand_index(data.labels, model.labels_) > 0.97
    assert model.view_weights_.tolist() == [1]
    assert abs(model.affinity_ - model.graphs_[0]).max() < 1e-12


@pytest.mark.parametrize("width", [3, 15, 60])
def test_a_view_of_noise_is_ignored(width, data, rng):
    model = OCBR(4).fit([*data.views.arrays, rng.standard_normal((150, width))])
    without = clustering_accuracy(data.labels, OCBR(4).fit(data.views).labels_)
    assert clustering_accuracy(data.labels, model.labels_) >= without - 0.01
    assert model.view_weights_[2] == 0
    assert model.view_weights_[:2].min() > 0.3


def test_a_view_of_noise_is_left_out_of_the_joint_graph(data, rng, monkeypatch):
    joint_graphs = []
    find_agreement = consensus.find_agreement

    def spy(layers, n_clusters, settings):
        joint_graphs.append(layers.joint)
        return find_agreement(layers, n_clusters, settings)

    monkeypatch.setattr(consensus, "find_agreement", spy)
    OCBR(4).fit(data.views)
    OCBR(4).fit([*data.views.arrays, rng.standard_normal((150, 15))])
    good, with_noise, again = joint_graphs
    assert abs(with_noise - good).max() > 0.01
    assert abs(again - good).max() < 1e-12


def test_a_view_given_four_times_counts_once(data):
    X, Y = data.views.arrays
    once, often = OCBR(4).fit([X, Y]), OCBR(4).fit([X, X, Y, X, X])
    np.testing.assert_array_equal(often.labels_, once.labels_)
    copies = [0, 1, 3, 4]
    assert often.view_weights_[copies].sum() == pytest.approx(once.view_weights_[0], abs=1e-6)
    np.testing.assert_array_equal(often.predict([X, X, Y, X, X]), once.predict([X, Y]))


def test_a_view_narrower_than_the_basis(data, rng):
    narrow = data.labels[:, None] * 5.0 + rng.standard_normal((150, 1))
    model = OCBR(4, n_components=8).fit([narrow, data.views.arrays[0]])
    assert [U.shape for U in model.bases_] == [(150, 1), (150, 8)]
    assert adjusted_rand_index(data.labels, model.labels_) > 0.97


@pytest.mark.parametrize(("n", "c"), [(12, 2), (18, 3), (40, 4)])
def test_few_samples(n, c):
    few = make_views(n, c, (6, 7), noise=0.5, separation=10, seed=3)
    model = OCBR(c).fit(few.views)
    assert adjusted_rand_index(few.labels, model.labels_) == 1
    assert all(U.shape[1] <= max(2, n // 3) for U in model.bases_)


@pytest.mark.parametrize("c", [1, 2])
@pytest.mark.parametrize("n_views", [1, 2])
def test_one_and_two_clusters(c, n_views):
    few = make_views(100, c, (6, 7)[:n_views], noise=1.0, separation=8, seed=3)
    model = OCBR(c).fit(few.views)
    assert clustering_accuracy(few.labels, model.labels_) > 0.97
    assert model.embedding_.shape == (100, c)
    assert model.view_weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize("graph", ["consensus", "joint", "sum", "blend"])
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_a_constant_view_has_no_say(graph, wrap, data):
    constant = wrap(np.full((150, 3), 0.0 if wrap is sp.csr_array else 7.0))
    model = OCBR(4, graph=graph).fit([data.views.arrays[0], constant])
    alone = OCBR(4, graph=graph).fit([data.views.arrays[0]])
    assert adjusted_rand_index(alone.labels_, model.labels_) > 0.97
    assert model.graphs_[1].nnz == 0
    assert model.corruption_[1].nnz == 0
    if graph == "consensus":
        assert model.view_weights_.tolist() == [1, 0]


@pytest.mark.parametrize("c", [3, 4, 6])
def test_clusters_without_a_link_between_them(c):
    apart = make_views(160, 4, (6, 7), noise=0.1, separation=100, seed=0)
    model = OCBR(c).fit(apart.views)
    assert sp.csgraph.connected_components(model.affinity_)[0] >= 4
    assert np.unique(model.labels_).tolist() == list(range(c))
    if c == 4:
        assert adjusted_rand_index(apart.labels, model.labels_) == 1


@pytest.mark.parametrize("graph", ["joint", "sum", "blend"])
def test_a_graph_in_more_pieces_than_clusters_is_connected_before_it_is_cut(graph):
    apart = make_views(160, 4, (6, 7), noise=0.1, separation=100, seed=0)
    model = OCBR(3, graph=graph).fit(apart.views)
    assert sp.csgraph.connected_components(model.affinity_)[0] == 1
    assert np.unique(model.labels_).tolist() == [0, 1, 2]
    for cluster in range(4):  # whole clusters are merged, none is cut up
        assert len(np.unique(model.labels_[apart.labels == cluster])) == 1


@pytest.mark.parametrize("size", [1e6, -1e6])
def test_absurd_entries(size, data, rng):
    X, Y = data.views.arrays
    hit = rng.random(X.shape) < 0.02
    model = OCBR(4).fit([np.where(hit, size, X), Y])
    assert adjusted_rand_index(data.labels, model.labels_) > 0.97
    found = model.corruption_[0].toarray()
    np.testing.assert_allclose(found[hit], size, rtol=1e-2)
    assert np.abs(model.reconstructions_[0]).max() < 100


def test_sparse_matrices_can_go_unscaled(rng):
    counts = sp.csr_array(np.kron(np.eye(3), np.ones((20, 8))) * rng.poisson(4, (60, 24)).astype(float))
    model = OCBR(3, scaling="none").fit([counts, counts.toarray()])
    assert adjusted_rand_index(np.repeat(np.arange(3), 20), model.labels_) == 1


# Parameters --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"graph": "joint"},
        {"graph": "sum"},
        {"graph": "blend"},
        {"n_neighbors": 1},
        {"n_neighbors": 1000},
        {"n_components": 2},
        {"n_components": 1000},
        {"degree_regularization": 0},
        {"scaling": "standard"},
        {"scaling": "none"},
        {"sparsity": 5.0, "noise_level": 0.05},
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_parameters_give_the_clusters(parameters, dtype, blobs):
    model = OCBR(3, **parameters).fit([X.astype(dtype) for X in blobs.views.arrays])
    if parameters != {"n_neighbors": 1000}:  # everybody's neighbour
        assert adjusted_rand_index(blobs.labels, model.labels_) == 1
    assert np.unique(model.labels_).tolist() == [0, 1, 2]
    assert model.converged_
    assert (model.affinity_.dtype, model.bases_[0].dtype) == (dtype, dtype)
    for U in model.bases_:
        np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-5)


def test_a_callback_sees_every_sweep_and_can_stop(data):
    seen = []
    model = OCBR(4, callback=seen.append).fit(data.views)
    assert [record["residual"] for record in seen] == [record["residual"] for record in model.history_]
    assert seen[-1]["share"] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stopped = OCBR(4, tol=0, callback=lambda record: record["iteration"] == 3).fit(data.views)
    assert (stopped.n_iter_, stopped.converged_) == (3, False)


def test_too_few_sweeps_warn(data):
    with pytest.warns(ConvergenceWarning, match=r"OCBR stopped after 2 iterations with residual .* \(tol=1e-08\)"):
        model = OCBR(4, max_iter=2, tol=1e-8).fit(data.views)
    assert adjusted_rand_index(data.labels, model.labels_) > 0.9


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"graph": "knn"}, "Unknown graph='knn'. Choose one of: 'consensus', 'joint', 'sum', 'blend'"),
        ({"scaling": "log"}, "Unknown scaling='log'. Choose one of: 'auto', 'standard', 'soft', 'robust'"),
        ({"n_neighbors": 0}, "n_neighbors=0 is too small; give a whole number of at least 1"),
        ({"n_components": 2.5}, "n_components=2.5 is a float; give a whole number"),
        ({"max_iter": 0}, "max_iter=0 is too small"),
        ({"tol": -1}, "tol=-1 is out of range; give a finite number from 0"),
        ({"callback": 1}, "callback=1 is an int; give a function, or None"),
        ({"sparsity": 0}, "sparsity=0 is out of range; give a finite number from 1e-06"),
        ({"noise_level": 0.0}, "noise_level=0.0 is out of range; give a finite number from 1e-06"),
        ({"degree_regularization": -1}, "degree_regularization=-1 is out of range"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(wrong, message, blobs):
    with pytest.raises(InputError, match=message):
        OCBR(3, **wrong).fit(blobs.views)


@pytest.mark.parametrize("scaling", ["robust", "standard"])
def test_standardising_a_sparse_matrix_is_refused(scaling):
    with pytest.raises(InputError, match=f"scaling='{scaling}' would fill in the zeros"):
        OCBR(2, scaling=scaling).fit([sp.csr_array(np.eye(6))])


def test_views_without_redundancy_are_left_alone():
    """Two features tell nothing about each other's errors: nothing may be clipped, or the moons are lost."""
    X, labels = make_moons(300, noise=0.11, random_state=0, shuffle=False)
    Y, _ = make_circles(300, noise=0.09, factor=0.5, random_state=1, shuffle=False)
    assert clustering_accuracy(labels, OCBR(2).fit([X, Y]).labels_) > 0.95


def test_kinds_of_views_that_there_are_not_are_refused(data):
    with pytest.raises(InputError, match="rna"):
        OCBR(4, kinds={"rna": "counts"}).fit(data.views)


@pytest.mark.parametrize("graph", ["joint", "sum", "blend"])
def test_the_seed_decides_where_one_graph_is_cut(graph, rng):
    noise = [rng.standard_normal((80, 5)), rng.standard_normal((80, 4))]
    one, same, *others = (OCBR(9, graph=graph, random_state=seed).fit_predict(noise) for seed in (0, 0, 1, 2, 3))
    np.testing.assert_array_equal(one, same)
    assert any((one != other).any() for other in others)
