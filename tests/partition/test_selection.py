"""Choosing the number of clusters from graphs."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import METHODS, OCBR, InputError, make_views
from manyview.graphs.affinity import adaptive_graph
from manyview.partition.blockmodel import BlockModel
from manyview.partition.selection import found_again, merge, select_n_clusters


def graphs_of(data):
    return [adaptive_graph(X, 10) for X in data.views.arrays]


@pytest.mark.parametrize("k", [2, 3, 5, 9])
def test_groups_that_nobody_can_miss_are_counted(k):
    found = select_n_clusters(graphs_of(make_views(40 * k, k, (12, 12), noise=0.4, separation=20, seed=k)))
    assert found.chosen == k
    assert found.candidates[0] == 2
    assert {len(found.candidates)} == {
        len(found.eigengap),
        len(found.separation),
        len(found.stability),
        len(found.score),
    }
    assert found.stability[k - 2] > 0.9
    assert found.score.argmax() == k - 2


def test_the_seed_decides():
    graphs = graphs_of(make_views(120, 4, (6, 6), noise=1.0, seed=0))
    one, two, other = (select_n_clusters(graphs, seed=seed, repeats=3) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.score, two.score)
    assert (one.score != other.score).any()


def test_at_most_so_many():
    graphs = graphs_of(make_views(200, 6, (10, 10), noise=0.4, separation=20, seed=0))
    assert select_n_clusters(graphs, max_clusters=4, repeats=2).candidates.tolist() == [2, 3, 4]
    assert select_n_clusters(graphs[:1], repeats=2).candidates[-1] == 30


def test_empty_graphs_have_no_say():
    graphs = graphs_of(make_views(90, 3, (8, 8), noise=0.4, separation=20, seed=0))
    assert select_n_clusters([*graphs, sp.csr_array((90, 90))], repeats=2).chosen == 3
    with pytest.raises(InputError, match="None of 1 graphs has a link"):
        select_n_clusters([sp.csr_array((90, 90))])


def test_too_few_samples():
    with pytest.raises(InputError, match="n_samples=8 is too few to choose the number of clusters; give n_clusters"):
        OCBR("auto").fit(np.random.default_rng(0).standard_normal((8, 3)))


def test_more_pieces_than_candidates():
    W = sp.csr_array(sp.block_diag([np.ones((5, 5)) - np.eye(5)] * 40))
    found = select_n_clusters([W], repeats=2)
    assert 2 <= found.chosen <= 30
    assert np.isfinite(found.score).all()


def test_duplicates_and_constant_views():
    X = np.repeat(np.eye(3), 20, axis=0)
    assert OCBR("auto").fit([X, np.ones((60, 2))]).n_clusters_ >= 2


def test_separation_is_1_apart_and_0_at_random():
    z = np.repeat([0, 1], 20)
    apart = sp.csr_array(sp.block_diag([np.ones((20, 20))] * 2))
    for W, expected in ((apart, 1.0), (sp.csr_array(np.ones((40, 40))), 0.0)):
        separation, pair = BlockModel.of([W], [1.0], 2).nearest_clusters(z)
        assert separation == pytest.approx(expected, abs=1e-9)
        assert pair == (0, 1)


def test_merging_closes_the_gap():
    np.testing.assert_array_equal(merge(np.array([0, 1, 2, 3]), 0, 2), [0, 1, 0, 2])


def test_clusters_found_again():
    np.testing.assert_allclose(found_again(np.array([0, 0, 0, 1]), np.array([1, 1, 0, 0]), 2), [2 / 3, 1 / 2])


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_every_method_can_choose(method):
    data = make_views(90, 3, (8, 8), noise=0.4, separation=20, seed=0)
    model = method("auto").fit(data.views)
    assert (model.n_clusters, model.n_clusters_, model.selection_.chosen) == ("auto", 3, 3)
    assert len(np.unique(model.labels_)) == 3
    assert method(4).fit(data.views).selection_ is None


def test_affinities_are_the_graphs_themselves():
    data = make_views(90, 3, (8, 8), noise=0.4, separation=20, seed=0)
    assert METHODS["mfmsc"]("auto", affinity="precomputed").fit(graphs_of(data)).n_clusters_ == 3
