import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.cross_decomposition import CCA

from manyview import CCAMSC, InputError, adjusted_rand_index, clustering_accuracy, load_digits
from manyview.methods.ccamsc import (
    canonical_variates,
    common_subspace,
    mean_correlations,
    objective,
    principal_directions,
    ridge_factor,
)


def related_views(rng, widths, n=120):
    """Centred tables that share three directions."""
    shared = rng.standard_normal((n, 3))
    tables = [shared @ rng.standard_normal((3, d)) + 0.5 * rng.standard_normal((n, d)) for d in widths]
    return [X - X.mean(axis=0) for X in tables]


def solve(tables, rho, m):
    factors = [ridge_factor(X, rho, 1000) for X in tables]
    G, values = common_subspace(factors, m)
    return G, values, [canonical_variates(M, G) for M in factors]


def projection(X, rho):
    r = rho * np.sum(X**2) / X.shape[1]
    return X @ np.linalg.solve(X.T @ X + r * np.eye(X.shape[1]), X.T)


def test_two_views_without_ridge_are_the_cca_of_scikit_learn(rng):
    X, Y = related_views(rng, (5, 7))
    _, _, variates = solve([X, Y], 0, 3)
    A, B = CCA(3, scale=False, max_iter=5000, tol=1e-12).fit(X, Y).transform(X, Y)
    reference = [np.corrcoef(A[:, i], B[:, i])[0, 1] for i in range(3)]
    np.testing.assert_allclose(mean_correlations(variates), reference, atol=1e-6)
    for i in range(3):
        assert abs(np.corrcoef(variates[0][:, i], A[:, i])[0, 1]) == pytest.approx(1, abs=1e-5)


def test_two_views_without_ridge_are_the_generalised_eigenproblem(rng):
    X, Y = related_views(rng, (5, 7))
    _, values, variates = solve([X, Y], 0, 4)
    joint = np.hstack([X, Y])
    blocks = scipy.linalg.block_diag(X.T @ X, Y.T @ Y)
    reference = scipy.linalg.eigh(joint.T @ joint, blocks, eigvals_only=True)[::-1][:4]
    np.testing.assert_allclose(values, reference)
    np.testing.assert_allclose(mean_correlations(variates), reference - 1)


@pytest.mark.parametrize("widths", [(6,), (5, 7), (5, 7, 4), (3, 4, 5, 6, 7)])
@pytest.mark.parametrize("rho", [0, 0.1, 1])
def test_common_subspace_is_the_maxvar_optimum(widths, rho, rng):
    tables = related_views(rng, widths)
    G, values, variates = solve(tables, rho, 3)
    total = sum(projection(X, rho) for X in tables)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(total)[::-1][:3])
    np.testing.assert_allclose(total @ G, G * values, atol=1e-9)
    np.testing.assert_allclose(variates[0], projection(tables[0], rho) @ G, atol=1e-9)
    np.testing.assert_allclose(np.mean(variates, axis=0), G * values / len(widths), atol=1e-9)
    best = objective(G, tables, rho)
    assert best == pytest.approx(3 * len(widths) - values.sum())
    for size in (1e-2, 1):
        for _ in range(5):
            other = np.linalg.qr(G + size * rng.standard_normal(G.shape))[0]
            assert objective(other, tables, rho) > best - 1e-9


@pytest.mark.parametrize("rank", [3, 40])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_principal_directions_are_those_of_the_centred_table(rank, kind, rng):
    X = np.where(rng.random((90, 60)) < 0.3, rng.random((90, 60)), 0)
    U, s = principal_directions(kind(X), X.mean(axis=0), rank)
    P, reference, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(s, reference[:rank])
    np.testing.assert_allclose(np.abs(np.sum(U * P[:, :rank], axis=0)), 1, atol=1e-8)


def test_a_constant_view_has_no_part_in_the_subspace(rng):
    X, Y = related_views(rng, (5, 7))
    assert ridge_factor(np.full((120, 4), 0.1), 1, 10).shape == (120, 0)
    with_constant = common_subspace([ridge_factor(T, 1, 10) for T in (X, np.full((120, 4), 0.1), Y)], 3)[0]
    np.testing.assert_allclose(with_constant, solve([X, Y], 1, 3)[0], atol=1e-9)


def test_fitted_correlations_and_variates(blobs):
    model = CCAMSC(3, n_components=2).fit(blobs.views)
    assert model.canonical_correlations_.shape == (2,)
    assert (model.canonical_correlations_ > 0.95).all()
    assert model.canonical_variates_.shape == (60, 2)
    wide = CCAMSC(3, n_components=2, combine="concatenate").fit(blobs.views)
    assert wide.canonical_variates_.shape == (60, 4)
    assert adjusted_rand_index(wide.labels_, blobs.labels) == 1
    assert CCAMSC(3).fit(blobs.views.arrays[0]).canonical_correlations_.tolist() == pytest.approx([1, 1, 1])


def test_unrelated_views_are_told_by_low_correlations(rng):
    related, unrelated = related_views(rng, (5, 7), n=400), [rng.standard_normal((400, d)) for d in (5, 7)]
    high, low = (CCAMSC(3).fit(views).canonical_correlations_ for views in (related, unrelated))
    assert high.min() > 2 * low.max()


def test_accuracy_on_digits():
    digits = load_digits()
    assert clustering_accuracy(digits.labels, CCAMSC(10).fit(digits.views).labels_) > 0.94


@pytest.mark.parametrize("affinity", ["knn", "adaptive", "self_tuning"])
def test_all_variants_find_the_clusters(affinity, blobs):
    model = CCAMSC(3, affinity=affinity, ridge=0.1, degree_regularization=1)
    assert adjusted_rand_index(blobs.labels, model.fit(blobs.views).labels_) == 1


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_extreme_values_unscaled(size, blobs):
    model = CCAMSC(3, scaling="none").fit([X * size for X in blobs.views.arrays])
    assert adjusted_rand_index(blobs.labels, model.labels_) == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"ridge": -1}, "ridge=-1"),
        ({"max_rank": 0}, "max_rank=0"),
        ({"combine": "sum"}, "Unknown combine='sum'. Choose one of: 'mean', 'concatenate'"),
        ({"affinity": "full"}, "Unknown affinity='full'"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(wrong, message, blobs):
    with pytest.raises(InputError, match=message):
        CCAMSC(3, **wrong).fit(blobs.views)
