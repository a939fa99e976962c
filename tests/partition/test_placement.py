import numpy as np
import pytest
import scipy.sparse as sp

from manyview.partition.blockmodel import BlockModel
from manyview.partition.placement import UNITS, LayerWeights, place, sum_links, without_own

Z = np.array([0, 0, 1, 1, 2, 2])


def links(seed, n=40):
    weights = np.random.default_rng(seed).random((n, len(Z))) ** 6
    return sp.csr_array(weights / weights.sum(axis=1, keepdims=True))


def labels(n=40):
    return np.arange(n) % 3


def test_sums_are_the_weight_between_clusters():
    W, z = links(0), labels()
    expected = np.eye(3)[z].T @ W.toarray() @ np.eye(3)[Z]
    sums = sum_links([W, W], z, Z, 3)
    np.testing.assert_allclose(sums.links / UNITS, [expected, expected], atol=1e-7)
    np.testing.assert_array_equal(sums.sizes, np.bincount(z))
    assert sums.links.dtype == sums.sizes.dtype == np.int64


@pytest.mark.parametrize("order", [1, -1])
def test_blocks_add_up_to_the_same_in_any_order(order):
    W, z = links(1), labels()
    parts = [sum_links([W[i : i + 7]], z[i : i + 7], Z, 3) for i in range(0, 40, 7)][::order]
    total = sum(parts[1:], start=parts[0])
    whole = sum_links([W], z, Z, 3)
    np.testing.assert_array_equal(total.links, whole.links)
    np.testing.assert_array_equal(total.sizes, whole.sizes)
    assert total.moved(whole) == 0


def test_symmetric_sums_give_the_block_model_of_the_graph():
    A = np.random.default_rng(2).random((6, 6))
    A = (A + A.T) * (1 + 4 * (Z[:, None] == Z))
    model = BlockModel.of([sp.csr_array(A)], [1.0], 3)
    blocks = LayerWeights.of(model).estimate(sum_links([sp.csr_array(A)], Z, Z, 3))
    np.testing.assert_allclose(blocks.ratios[0], model.blocks(Z).ratios[0], atol=1e-6)
    np.testing.assert_allclose(blocks.prior, model.blocks(Z).prior)


def test_samples_go_where_their_links_are_likeliest():
    # samples of cluster 2 are linked to landmarks of cluster 1 and 2 alike: links to 1 alone still speak for 1
    W = sp.csr_array([[1.0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0.5, 0.5, 0]])
    blocks = LayerWeights((1.0,)).estimate(sum_links([W], np.arange(3), Z, 3))
    np.testing.assert_array_equal(place([W], blocks, Z), [0, 1, 2])


def test_moved_is_the_share_of_the_weight():
    W, z = links(3), labels()
    other = np.where(np.arange(40) < 30, z, 0)
    z = np.where(np.arange(40) < 30, z, 1)
    assert sum_links([W], z, Z, 3).moved(sum_links([W], other, Z, 3)) == pytest.approx(0.25, abs=0.05)


def test_a_landmark_is_not_linked_to_itself():
    W = sp.csr_array([[0.5, 0.25, 0.25], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]])
    left = without_own(W, np.array([0, -1, 2])).toarray()
    np.testing.assert_allclose(left, [[0, 0.5, 0.5], [0.2, 0.8, 0], [0, 0, 0]])
    assert without_own(W, np.full(3, -1)) is W
    lonely = sp.csr_array([[0.5, 0.5, 0.0]])  # the last landmark has no links, but stays
    assert without_own(lonely, np.array([0])).shape == (1, 3)


def test_links_of_samples_without_any_stay_empty():
    W = sp.csr_array([[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]])
    for own in ([0, -1], [0, 2]):
        np.testing.assert_array_equal(without_own(W, np.array(own)).toarray(), [[0, 1, 0], [0, 0, 0]])
    assert without_own(W.astype(np.float32), np.array([0, -1])).dtype == np.float32
