"""New samples: represented as those fitted were, linked in every layer, read by the block model."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import OCBR, make_views
from manyview.methods.ocbr.placing import as_fitted
from manyview.partition.blockmodel import links_to_clusters


@pytest.fixture(scope="module")
def data():
    return make_views(90, 3, (6, 9), noise=0.6, seed=0)


@pytest.fixture(scope="module")
def placing(data):
    return OCBR(3).fit(data.views[:60])._placing


def linked(placing, tables):
    return placing.links(tables, placing.indexes(tables[0].shape[0]))


def test_the_evidence_is_that_of_the_links_to_each_cluster_in_every_layer(placing, data):
    links = linked(placing, data.views[60:].arrays)
    assert len(links) == 3  # two views and the joint layer
    T, mixed = placing.read(links)
    expected = np.tile(placing.blocks.prior, (30, 1))
    for W, ratios in zip(links, placing.blocks.ratios, strict=True):
        expected += W.toarray() @ np.eye(3)[placing.labels] @ ratios
    np.testing.assert_allclose(T, expected)
    shares = placing.layer_shares
    assert shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(mixed.toarray(), sum(w * W.toarray() for w, W in zip(shares, links, strict=True)))
    assert (links_to_clusters(mixed, placing.labels, 3).argmax(axis=1) == T.argmax(axis=1)).mean() > 0.9


def test_samples_that_were_fitted_lie_on_their_own_rows(placing, data):
    """So each is its own nearest neighbour in every view, at distance 0."""
    rows = [
        model.represent(X) * scale
        for model, X, scale in zip(placing.models, data.views[:60].arrays, placing.scales, strict=True)
    ]
    for found, kept in zip(rows, placing.layers.rows, strict=True):
        np.testing.assert_allclose(found, kept, atol=1e-6 * np.abs(kept).max())
    for W in linked(placing, data.views[:60].arrays):
        np.testing.assert_array_equal(W.toarray().argmax(axis=1), np.arange(60))


def test_new_samples_that_lack_a_view_have_no_links_in_it(placing, data):
    X, Y = (array.copy() for array in data.views[60:].arrays)
    X[:5], Y[5:9] = np.nan, np.nan
    a, b, joint = (np.asarray(W.sum(axis=1)).ravel() for W in linked(placing, [X, Y]))
    np.testing.assert_allclose(a, [0] * 5 + [1] * 25)
    np.testing.assert_allclose(b, [1] * 5 + [0] * 4 + [1] * 21)
    np.testing.assert_allclose(joint, 1)


def test_sparse_compositions_have_the_links_of_the_same_numbers_in_a_dense_table(rng):
    X = np.vstack([rng.dirichlet(weights, 40) for weights in ([9, 1, 1, 1, 0.2], [1, 1, 1, 9, 0.2])])
    X[X < 0.01] = 0
    placing = OCBR(2).fit([X / X.sum(axis=1, keepdims=True)])._placing
    assert placing.models[0].roots
    (sparse,), (dense,) = linked(placing, [sp.csr_array(X[::5])]), linked(placing, [X[::5]])
    np.testing.assert_array_equal(sparse.toarray(), dense.toarray())


def test_links_of_single_precision_stay_so(data):
    views = data.views.replace([X.astype(np.float32) for X in data.views.arrays])
    placing = OCBR(3).fit(views[:60])._placing
    links = linked(placing, views[60:].arrays)
    assert {W.dtype for W in links} == {np.dtype(np.float32)}
    assert placing.read(links)[1].dtype == np.float32


def test_views_that_count_less_together_do_so_for_new_samples(data):
    """A view given twice: both copies have half of the weight, as rows and as scales of new ones."""
    X, Y = data.views[:60].arrays
    placing = OCBR(3).fit([X, X, Y])._placing
    np.testing.assert_allclose(placing.layers.weights, [0.5, 0.5, 1], atol=0.01)
    twice, once = linked(placing, [X[:9], X[:9], Y[:9]]), linked(OCBR(3).fit([X, Y])._placing, [X[:9], Y[:9]])
    np.testing.assert_allclose(twice[-1].toarray(), once[-1].toarray(), atol=1e-3)


def test_other_labels_and_blocks_replace_those_of_the_fit(placing):
    blocks = replace(placing.blocks, prior=placing.blocks.prior + 1)
    z = (placing.labels + 1) % 3
    revised = placing.revised(z, blocks)
    assert revised.labels is z
    assert revised.blocks is blocks
    assert revised.layers is placing.layers


def test_a_table_is_dense_where_the_model_is_of_a_dense_view(placing, rng):
    X = rng.random((4, 6))
    dense = as_fitted(placing.models[0], sp.csr_array(X))
    assert isinstance(dense, np.ndarray)
    np.testing.assert_array_equal(dense, X)
    assert as_fitted(placing.models[0], X) is X
    counts = OCBR(2).fit([sp.csr_array(rng.poisson(0.5, (30, 20)).astype(float))])._placing.models[0]
    sparse = sp.csr_array(rng.random((4, 20)))
    assert as_fitted(counts, sparse) is sparse
