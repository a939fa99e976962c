"""Steps of the treatment of dense views."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import Views
from manyview.methods.ocbr import treatment
from manyview.methods.ocbr.errors import NO_ERROR, GrossError
from manyview.methods.ocbr.settings import Settings
from manyview.methods.ocbr.standardized import ABSURD, to_roots, without_absurd
from manyview.methods.ocbr.treated import TreatmentOptions, treat_views
from manyview.methods.ocbr.treatment import describe_error, treat_sparse, usual_scaling, weigh_columns
from manyview.preprocessing.kinds import GRAPH, Kind
from manyview.preprocessing.scaling import SCALINGS

UNITS = np.array([2.0, 0.5, 7.0])


@pytest.fixture
def A(rng):
    return rng.standard_normal((40, 3)) * [1.0, 0.8, 0.3] + [0.0, 1.0, -2.0]


def test_without_scaling_columns_are_in_their_own_units_up_to_a_factor(A):
    mean, weights = weigh_columns(A, UNITS, "none")
    np.testing.assert_allclose(mean, A.mean(axis=0))
    np.testing.assert_allclose(weights, UNITS / (UNITS * A.std(axis=0)).max())


def test_soft_scaling_is_that_of_the_definition(A):
    sd = A.std(axis=0)
    g = np.exp(np.log(UNITS * sd).mean())
    np.testing.assert_allclose(weigh_columns(A, UNITS, "soft")[1], 1 / np.sqrt(sd**2 + (g / UNITS) ** 2))


@pytest.mark.parametrize(("scaling", "expected"), [("robust", lambda sd: sd**0), ("standard", lambda sd: 1 / sd)])
def test_other_scalings_do_not_depend_on_units(A, scaling, expected):
    np.testing.assert_allclose(weigh_columns(A, UNITS, scaling)[1], expected(A.std(axis=0)))


@pytest.mark.parametrize("scaling", ["none", "soft", "robust", "standard"])
def test_columns_that_do_not_vary_count_nothing_and_huge_units_do_not_overflow(A, scaling):
    A[:, 1] = 5
    weights = weigh_columns(A.astype(np.float32), np.array([1e300, 1.0, 0.0]), scaling)[1]
    assert weights.dtype == np.float32
    assert (weights > 0).tolist() == [True, False, False]
    assert np.isfinite(weights).all()


@pytest.mark.parametrize(
    ("kind", "cleaned", "expected"),
    [
        ("features", False, "soft"),
        ("features", True, "robust"),
        ("composition", False, "soft"),
        ("coordinates", False, "none"),
        ("coordinates", True, "none"),
        ("counts", False, "unit"),
        ("graph", True, "unit"),
    ],
)
def test_the_usual_scaling_of_each_kind(kind, cleaned, expected):
    assert usual_scaling(Kind(kind, ""), cleaned=cleaned) == expected
    assert expected in SCALINGS


def treat(views, kind="features", r=5, scaling="auto"):
    options = TreatmentOptions(
        scaling=dict.fromkeys(views.names, scaling),
        kinds=dict.fromkeys(views.names, kind),
        n_components=r,
        sparsity=1.0,
        noise_level=0.2,
        max_iter=500,
        tol=1e-5,
        callback=None,
        settings=Settings(),
    )
    return treat_views(views, 2, options)


def treated(X, kind="features", r=5):
    return treat(Views([X]), kind, r).views[0]


@pytest.fixture
def low_rank(rng):
    return rng.standard_normal((60, 3)) @ rng.standard_normal((3, 20)) + 0.05 * rng.standard_normal((60, 20))


@pytest.mark.parametrize("kind", ["features", "coordinates"])
def test_the_usual_scaling_is_that_of_the_kind(low_rank, kind):
    X = low_rank * np.geomspace(0.1, 10, 20)
    automatic = treat(Views([X]), kind).views[0].rows
    usual = usual_scaling(Kind(kind, ""), cleaned=False)
    other = next(scaling for scaling in ("standard", "none") if scaling != usual)
    np.testing.assert_allclose(automatic, treat(Views([X]), kind, scaling=usual).views[0].rows)
    assert not np.allclose(automatic, treat(Views([X]), kind, scaling=other).views[0].rows)


def test_views_are_completed_together_only_if_samples_are_absent_from_one_of_several(low_rank):
    gap = low_rank.copy()
    gap[7:9] = np.nan
    assert treat(Views([low_rank, low_rank[:, :9]])).completed is None
    assert treat(Views([gap])).completed is None
    rows, everyone = treat(Views([gap, low_rank[:, :9]])).completed
    assert len(rows) == 60
    np.testing.assert_array_equal(everyone, np.arange(60))
    moved, _ = treat(Views([gap + np.arange(20), low_rank[:, :9]])).completed  # where the columns are does not matter
    np.testing.assert_allclose(np.abs(moved), np.abs(rows), atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_samples_are_treated_as_those_fitted_were(low_rank, dtype):
    view = treated(low_rank.astype(dtype))
    rows = view.model.represent(low_rank.astype(dtype))
    assert rows.dtype == view.rows.dtype == dtype
    np.testing.assert_allclose(rows * view.scale, view.rows, atol=1e-4)
    np.testing.assert_allclose(view.model.represent(low_rank[:1].astype(dtype)), rows[:1], atol=1e-5)


def test_other_samples_are_cleaned_as_those_fitted_were(low_rank, rng):
    hit = rng.random(low_rank.shape) < 0.1
    X = low_rank + hit * rng.choice([-30, 30], low_rank.shape)
    view = treated(X)
    assert view.model.cleaned
    np.testing.assert_allclose(view.model.represent(X) * view.scale, view.rows, atol=1e-3)


def test_clean_views_hold_no_errors_and_are_not_changed(low_rank):
    view = treated(low_rank)
    assert not view.model.cleaned
    assert (view.E.nnz, view.E.shape) == (0, low_rank.shape)
    assert "not cleaned: 0.0% of the entries are far out at random" in view.kind.reason


def test_errors_are_found_in_units_of_the_view(low_rank, rng):
    units = np.geomspace(0.01, 100, 20)
    hit = rng.random(low_rank.shape) < 0.1
    X = (low_rank + hit * rng.choice([-30, 30], low_rank.shape)) * units
    view = treated(X)
    assert view.model.cleaned
    found = view.E.toarray() / units
    assert (found[hit] != 0).mean() > 0.95
    assert (found[~hit] != 0).mean() < 0.1
    np.testing.assert_allclose(np.abs(found[hit]).mean(), 30, rtol=0.1)


def test_an_impossible_value_is_an_error_of_its_own_and_counts_as_missing(low_rank):
    X = low_rank.copy()
    X[7, 3] = 1e5
    view = treated(X)
    assert view.E.nnz == 1
    assert view.E[7, 3] == pytest.approx(1e5, rel=1e-3)
    assert X[7, 3] - view.E[7, 3] == pytest.approx(low_rank[7, 3], abs=0.3)  # what its row has there by the others
    signal = np.s_[:, :3]  # the other directions are noise
    np.testing.assert_allclose(view.rows[signal], treated(low_rank).rows[signal], atol=0.02)


def test_compositions_are_compared_by_their_roots(rng):
    X = rng.dirichlet(np.ones(8), 60)
    view = treated(X, "composition")
    assert view.model.roots
    Y = view.model.standardizer.apply(np.sqrt(X))
    np.testing.assert_allclose(view.model.undo(Y), X, atol=1e-12)
    np.testing.assert_allclose(view.model.represent(np.where(X > 0, X, -1)) * view.scale, view.rows, atol=1e-4)
    assert view.E.nnz == 0


def test_errors_of_compositions_are_in_units_of_the_view(rng):
    """What is left of an entry without its error is what its row would have there by the others."""
    shares = rng.dirichlet(np.ones(3) * 5, 80) @ rng.dirichlet(np.ones(30), 3)
    hit = rng.random(shares.shape) < 0.1
    X = np.where(hit, shares + rng.choice([-1, 1], shares.shape) * 0.9 * shares.max(), shares).clip(0)
    view = treated(X, "composition")
    assert view.model.cleaned
    E = view.E.toarray()
    high = hit & (0.5 * shares.max() < X)
    np.testing.assert_allclose((X - E)[high], shares[high], atol=0.5 * shares.max())
    assert (E[high] > 0.5 * X[high]).mean() > 0.9


def test_absurd_values_are_taken_out_and_others_stay():
    Y = np.array([[1.0, ABSURD], [-2 * ABSURD, 3]], np.float32)
    np.testing.assert_array_equal(without_absurd(Y), [[1, ABSURD], [np.nan, 3]])
    assert without_absurd(Y).dtype == np.float32
    usual = Y[:1]
    assert without_absurd(usual) is usual
    np.testing.assert_array_equal(to_roots(np.array([-1.0, 0, 4])), [0, 0, 2])


def test_a_graph_has_no_links_to_itself_and_is_a_layer(rng):
    W = sp.csr_array((rng.random((20, 20)) < 0.3).astype(float))
    W = sp.csr_array(W.maximum(W.T) + sp.eye_array(20) * 5)
    view = treat_sparse(W, np.arange(20), Kind(GRAPH, ""), 4, Settings())
    bare = W.toarray() * (1 - np.eye(20))
    np.testing.assert_array_equal(view.graph.toarray(), bare)
    assert view.graph.nnz == np.count_nonzero(bare)
    assert treat_sparse(W, np.arange(20), Kind("counts", ""), 4, Settings()).graph is None


def test_rows_of_sparse_views_are_entries_beside_directions_at_equal_distances(rng):
    X = sp.csr_array(rng.poisson(0.5, (50, 12)).astype(float))
    view = treat_sparse(X, np.arange(50), Kind("counts", ""), 4, Settings())
    rows = view.rows.toarray() / view.scale
    assert rows.shape == (50, 12 + 4)
    for part in (rows[:, :12], rows[:, 12:]):
        assert 2 * part.var(axis=0).sum() == pytest.approx(1)
    missing = X.toarray()
    missing[X.toarray() == 0] = np.nan
    np.testing.assert_allclose(view.model.represent(missing), rows, atol=1e-10)


def test_a_graph_is_treated_as_counts_with_a_usual_weight_on_its_diagonal(rng):
    W = sp.csr_array(np.triu(rng.integers(0, 3, (20, 20)), 1) * 4.0)
    W = sp.csr_array(W + W.T)
    view = treat_sparse(W, np.arange(20), Kind(GRAPH, "a graph"), 4, Settings())
    with_diagonal = sp.csr_array(W + np.median(W.data) * sp.eye_array(20))
    counts = treat_sparse(with_diagonal, np.arange(20), Kind("counts", "a graph"), 4, Settings())
    np.testing.assert_allclose(view.rows.toarray(), counts.rows.toarray())
    empty = treat_sparse(sp.csr_array((5, 5)), np.arange(5), Kind(GRAPH, ""), 2, Settings())
    assert np.isfinite(empty.rows.toarray()).all()


def test_what_cleaning_takes_from_a_sparse_view_is_its_corruption(rng):
    X = sp.csr_array(rng.poisson(0.5, (60, 12)) + (rng.random((60, 12)) < 0.2) * rng.uniform(-1, 1, (60, 12)))
    view = treat_sparse(X, np.arange(60), Kind("counts", "counts"), 4, Settings())
    cleaned = view.model.cleaner.clean(X).toarray()
    assert view.kind.reason == "counts; entries weighted by how likely they are signal"
    np.testing.assert_allclose(view.E.toarray(), X.toarray() - cleaned)
    assert view.E.nnz > 0
    B = view.rows.toarray()[:, :12] / view.scale / view.model.scales[0]
    np.testing.assert_allclose(view.U.T @ view.U, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(view.U @ (view.U.T @ B) @ view.D, B @ view.D, atol=1e-8)
    assert (view.scaling, view.source, view.graph) == ("unit", None, None)
    left = treat_sparse(X, np.arange(60), Kind("counts", "counts"), 4, replace(Settings(), clean_counts=False))
    assert left.E.nnz == 0
    assert left.kind.reason == "counts; not cleaned: no negative entries"
    assert (
        treat_sparse(X, np.arange(60), view.kind, 4, replace(Settings(), rarity=False)).model.cleaner.rarity == 1
    ).all()


def test_views_say_why_they_were_cleaned_or_not():
    assert describe_error(NO_ERROR) == (
        "not cleaned: its columns are exactly orthogonal, so nothing has changed since they were made"
    )
    assert describe_error(GrossError(0.125, 0.1, present=True)) == (
        "cleaned: 12.5% of the entries are far out at random"
    )
    assert describe_error(GrossError(0.001, 0.0)) == "not cleaned: 0.1% of the entries are far out at random"


def test_errors_are_the_same_in_blocks_of_rows(low_rank, rng, monkeypatch):
    X = low_rank + (rng.random(low_rank.shape) < 0.1) * rng.choice([-30, 30], low_rank.shape)
    X[7, 3] = 1e6
    whole = treated(X).E.toarray()
    monkeypatch.setattr(treatment, "BLOCK_ENTRIES", 140)
    np.testing.assert_allclose(treated(X).E.toarray(), whole)


@pytest.mark.parametrize("scaling", ["standard", "soft", "none"])
def test_weights_of_tables_in_single_precision_are_computed_in_double(scaling, rng):
    A = (rng.standard_normal((20_000, 3)) * [1.0, 0.5, 0.2] + 1000).astype(np.float32)
    exact = weigh_columns(A.astype(np.float64), UNITS, scaling)
    for found, expected in zip(weigh_columns(A, UNITS, scaling), exact, strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-6)
