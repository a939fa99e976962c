"""Views that repeat others count less: m copies as much as one, different views fully."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview.graphs.affinity import adaptive_graph
from manyview.partition.redundancy import Redundancy, common_share


@pytest.fixture
def graphs(rng):
    return [adaptive_graph(rng.standard_normal((80, 4)), 8) for _ in range(3)]


def test_different_views_count_fully(graphs):
    redundancy = Redundancy.of(graphs)
    np.testing.assert_array_equal(redundancy.S, np.eye(3))
    np.testing.assert_allclose(redundancy.pair_shares([(1, 0), (2, 0), (2, 1)]), 1 / 3)


def test_copies_share_what_one_counts(graphs):
    a, b, _ = graphs
    redundancy = Redundancy.of([a, a, b, 2 * a])  # the scale of a graph does not matter
    np.testing.assert_allclose(redundancy.weights, [1 / 3, 1 / 3, 1, 1 / 3])
    shares = redundancy.pair_shares([(1, 0), (2, 0), (2, 1), (3, 2)])
    np.testing.assert_allclose(shares, [0, 1 / 3, 1 / 3, 1 / 3])


def test_graphs_are_compared_whatever_their_scale(graphs):
    a, b, _ = graphs
    share = common_share(a, b)
    assert 0 < share < 0.5
    for factor in (0.01, 100):
        assert common_share(factor * a, b) == pytest.approx(share)
        assert common_share(a, factor * b) == pytest.approx(share)


def test_views_that_are_all_one_have_nothing_to_agree_on(graphs):
    redundancy = Redundancy.of([graphs[0], graphs[0]])
    np.testing.assert_array_equal(redundancy.pair_shares([(1, 0)]), [0])


def test_a_copy_with_little_noise_counts_nearly_as_a_copy(rng):
    X = rng.standard_normal((100, 5))
    first, copy = adaptive_graph(X, 8), adaptive_graph(X + 0.001 * rng.standard_normal(X.shape), 8)
    assert 0.5 < Redundancy.of([first, copy]).weights[0] < 0.6


def test_graphs_without_edges_have_nothing_in_common(graphs):
    assert common_share(graphs[0], sp.csr_array((80, 80))) == 0
