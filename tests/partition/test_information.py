"""What splits gain and mergers lose, read off a block matrix alone."""

import numpy as np
import pytest

from manyview.partition.information import (
    label_entropy,
    merge_entropy,
    merge_loss,
    separations,
    split_entropy,
    split_gain,
    xlogx,
)


def mutual_information(M):
    """Information of the two margins of a joint distribution; M may have zeros."""
    a = M.sum(axis=1)
    return xlogx(M).sum() - 2 * xlogx(a).sum()


def random_blocks(c, seed, sparse):
    rng = np.random.default_rng(seed)
    H = rng.random((2 * c, 2 * c)) ** 3
    if sparse:
        H *= rng.random(H.shape) < 0.5
    H = H + H.T
    return H / H.sum()


def merged(M, groups):
    """Block matrix after clusters with the same entry in `groups` are made one."""
    G = np.eye(max(groups) + 1)[groups]
    return G.T @ M @ G


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sparse", [False, True])
def test_gain_of_a_split_is_the_information_gained(seed, sparse):
    c = 4
    H = random_blocks(c, seed, sparse)
    whole = np.arange(2 * c) // 2
    before = mutual_information(merged(H, whole))
    for k, gain in enumerate(split_gain(H)):
        split = np.where(np.arange(2 * c) == 2 * k + 1, c, whole)
        assert gain == pytest.approx(mutual_information(merged(H, split)) - before, abs=1e-12)
        assert gain >= -1e-12  # refining loses no information


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sparse", [False, True])
def test_loss_of_a_merger_is_the_information_lost(seed, sparse):
    c = 5
    H = random_blocks(c, seed, sparse)
    M = merged(H, np.arange(2 * c) // 2)
    loss = merge_loss(H)
    np.testing.assert_array_equal(loss, loss.T)
    assert not np.diag(loss).any()
    for p in range(c):
        for q in range(p):
            groups = np.where(np.arange(c) == p, q, np.arange(c))
            assert loss[p, q] == pytest.approx(mutual_information(M) - mutual_information(merged(M, groups)), abs=1e-12)
            assert loss[p, q] >= -1e-12


def test_what_a_split_adds_to_the_entropy_of_the_labels_and_a_merger_takes(rng):
    halves = rng.dirichlet(np.ones(8))
    halves[3] = 0
    a = halves[0::2] + halves[1::2]
    gain = split_entropy(halves)
    loss = merge_entropy(a)
    for k in range(4):
        split = np.r_[np.delete(a, k), halves[2 * k], halves[2 * k + 1]]
        assert gain[k] == pytest.approx(xlogx(a).sum() - xlogx(split).sum())
        for j in range(k):
            merged = np.r_[np.delete(a, [j, k]), a[j] + a[k]]
            expected = pytest.approx(xlogx(merged).sum() - xlogx(a).sum())
            assert (loss[j, k], loss[k, j]) == (expected, expected)


def test_the_entropy_of_cluster_sizes():
    assert label_entropy(np.array([0, 0, 1, 1])) == pytest.approx(np.log(2))
    assert label_entropy(np.array([0, 1, 1, 1])) == pytest.approx(-(0.25 * np.log(0.25) + 0.75 * np.log(0.75)))
    assert label_entropy(np.zeros(5, dtype=int)) == 0


def test_the_separation_of_clusters_is_the_information_lost_relative_to_the_entropy_lost():
    pairs = np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]])  # links only between 0 and 1, and between 2 and 3
    apart, loss = separations([(0.5, pairs / 4)])
    np.testing.assert_allclose(apart, [[0, 1, 2, 2], [1, 0, 2, 2], [2, 2, 0, 1], [2, 2, 1, 0]], atol=1e-12)
    np.testing.assert_allclose(loss[0], 0.5 * np.log(2) * np.array([0, 0.5, 1, 1]), atol=1e-12)
