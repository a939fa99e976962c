"""The graphs of the samples and the links of new ones, against the distances of the definition."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from manyview.graphs.affinity import adaptive_graph, adaptive_weights
from manyview.methods.ocbr.layers import Layers, spread

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array])


def dense(A):
    return A.toarray() if sp.issparse(A) else A


@pytest.fixture
def tables(rng):
    """Rows of 16 samples in three views, on different scales."""
    return [rng.standard_normal((16, d)) * size for d, size in ((3, 1.0), (2, 0.5), (4, 2.0))]


def complete(tables, **changes):
    everyone = np.arange(tables[0].shape[0])
    layers = Layers(
        rows=tuple(tables),
        samples=(everyone,) * len(tables),
        n_samples=len(everyone),
        neighbors=(3, 4, 2)[: len(tables)],
        joined=tuple(range(len(tables))),
        weights=(1.0,) * len(tables),
    )
    return replace(layers, **changes)


def incomplete(tables, **changes):
    """Samples 0 to 3 lack view 0, samples 12 to 15 view 1; all are in view 2."""
    samples = (np.arange(4, 16), np.arange(12), np.arange(16))
    rows = tuple(X[here] for X, here in zip(tables, samples, strict=True))
    return complete(tables, rows=rows, samples=samples, **changes)


def distances(X, here, Y, there, unknown):
    """Return the squared distances over shared views, plus what stands for the others; infinite without any."""
    d = np.full((len(here), len(there)), np.inf)
    for i in range(len(here)):
        for j in range(len(there)):
            shared = here[i] & there[j]
            if shared.any():
                known = sum(((A[i] - B[j]) ** 2).sum() for A, B, both in zip(X, Y, shared, strict=True) if both)
                d[i, j] = known + np.asarray(unknown)[~shared].sum()
    return d


def adaptive_links(d, s):
    nearest = np.argsort(d, axis=1)[:, : s + 1]
    links = np.zeros_like(d)
    weights = adaptive_weights(np.take_along_axis(d, nearest, axis=1))
    np.put_along_axis(links, nearest[:, : weights.shape[1]], weights, axis=1)
    return links


@FORMS
def test_graphs_of_complete_samples_are_those_of_their_rows(form, tables):
    layers = complete([form(X) for X in tables])
    assert layers.complete
    for v, (X, k) in enumerate(zip(tables, layers.neighbors, strict=True)):
        np.testing.assert_allclose(layers.view_graph(v).toarray(), adaptive_graph(X, k).toarray())
    np.testing.assert_allclose(layers.joint_graph().toarray(), adaptive_graph(np.hstack(tables), 4).toarray())
    two = replace(layers, joined=(0, 2))
    np.testing.assert_allclose(two.joint_graph().toarray(), adaptive_graph(np.hstack(tables[::2]), 4).toarray())
    one = replace(layers, joined=(1,))
    np.testing.assert_allclose(one.joint_graph().toarray(), one.view_graph(1).toarray())


def test_samples_that_lack_a_view_have_no_links_in_it(tables):
    layers = incomplete(tables)
    assert not layers.complete
    W = layers.view_graph(0).toarray()
    np.testing.assert_allclose(W[4:, 4:], adaptive_graph(tables[0][4:], 3).toarray())
    assert (W[:4] == 0).all()
    assert (W[:, :4] == 0).all()
    np.testing.assert_allclose(layers.view_graph(2).toarray(), adaptive_graph(tables[2], 2).toarray())


def test_the_joint_graph_compares_samples_over_shared_views_and_over_completed_rows(tables, rng):
    here = np.ones((16, 3), bool)
    here[:4, 0], here[12:, 1] = False, False
    weights = (1.0, 0.5, 0.25)
    layers = incomplete(tables, weights=weights)
    d = distances(tables, here, tables, here, weights)
    np.fill_diagonal(d, np.inf)
    shared = adaptive_links(d, 4)
    expected = (shared + shared.T) / 2
    np.testing.assert_allclose(layers.joint_graph().toarray(), expected, atol=1e-9)
    rows, some = rng.standard_normal((14, 5)), np.arange(1, 15)
    expected[1:15, 1:15] += adaptive_graph(rows, 4).toarray()
    both = replace(layers, completed=(rows, some))
    np.testing.assert_allclose(both.joint_graph().toarray(), expected, atol=1e-9)


@FORMS
def test_new_samples_are_linked_to_the_nearest_over_the_views_they_share(form, tables, rng):
    layers = incomplete([form(X) for X in tables], weights=(1.0, 0.5, 0.25), joined=(0, 1))
    new = [rng.standard_normal((5, X.shape[1])) for X in tables]
    present = np.ones((5, 3), bool)
    present[0, 1] = present[1, 0] = False
    here = np.ones((16, 3), bool)
    here[:4, 0], here[12:, 1] = False, False
    links = layers.links([form(X) for X in new], present, layers.indexes(len(present)))
    assert len(links) == 4
    for views, found in zip(([0], [1], [2], [0, 1]), links, strict=True):
        rows = [new[v] for v in views], present[:, views], [tables[v] for v in views], here[:, views]
        d = distances(*rows, np.array(layers.weights)[views])
        k = max(layers.neighbors[v] for v in views)
        lacking = np.isinf(d).all(axis=1)
        expected = np.zeros_like(d)
        expected[~lacking] = adaptive_links(d[~lacking], k)
        np.testing.assert_allclose(found.toarray(), expected, atol=1e-9)


def test_one_view_has_no_joint_layer(tables):
    layers = complete(tables[:1])
    assert len(layers.links(tables[:1], np.ones((16, 1), bool), layers.indexes(16))) == 1


def test_other_weights_change_the_mean_squared_distance(tables):
    layers = complete(tables, weights=(1.0, 0.5, 1.0)).weighted([0.25, 0.5, 4])
    assert layers.weights == (0.25, 0.5, 4.0)
    for found, X, factor in zip(layers.rows, tables, (0.5, 1, 2), strict=True):
        np.testing.assert_allclose(found, X * factor)
    assert layers.rows[1] is tables[1]
    narrow = complete([X.astype(np.float32) for X in tables]).weighted([0.3] * 3)
    assert {X.dtype for X in narrow.rows} == {np.dtype(np.float32)}


def test_a_view_that_is_a_graph_is_its_own_layer(tables):
    W = adaptive_graph(tables[0], 3)
    given = complete(tables, given=(W, None, None))
    assert given.view_graph(0) is W
    np.testing.assert_allclose(given.view_graph(1).toarray(), adaptive_graph(tables[1], 4).toarray())
    some = incomplete(tables, given=(sp.csr_array(W[4:][:, 4:]), None, None))
    expected = np.zeros((16, 16))
    expected[4:, 4:] = W.toarray()[4:, 4:]
    np.testing.assert_array_equal(some.view_graph(0).toarray(), expected)


@FORMS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_that_are_all_alike_have_no_links(form, dtype):
    layers = complete([form(np.zeros((16, 2), dtype))] * 2)
    for W in (layers.view_graph(0), layers.joint_graph()):
        assert (W.nnz, W.shape, W.dtype) == (0, (16, 16), dtype)


def test_batches_reach_every_graph(tables, rng):
    """Two batches far apart: without them no link crosses, with them some do."""
    batch = np.repeat([0, 1], 20)
    X, Y = (rng.standard_normal((40, d)) + 30 * batch[:, None] for d in (3, 4))
    everyone = np.arange(40)
    without = complete([X, Y], samples=(everyone,) * 2, n_samples=40)
    with_batch = replace(without, batch=batch)
    some = (everyone[1:], everyone)
    lacking = replace(with_batch, rows=(X[1:], Y), samples=some, completed=(X, everyone))
    for layers, crossed in ((without, False), (with_batch, True), (lacking, True)):
        for W in (layers.view_graph(0), layers.view_graph(1), layers.joint_graph()):
            assert (W.toarray()[:20, 20:].sum() > 0) == crossed


@FORMS
def test_rows_are_spread_with_zeros(form):
    rows = form(np.array([[1.0, 2], [3, 4]], np.float32))
    wide = spread(rows, np.array([2, 0]), 3)
    np.testing.assert_array_equal(dense(wide), [[3, 4], [0, 0], [1, 2]])
    assert wide.dtype == np.float32
    assert spread(rows, np.arange(2), 2) is rows
