"""Nested partitions around a given one."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import InputError, adjusted_rand_index, make_views
from manyview.graphs.affinity import adaptive_graph
from manyview.partition.agreement import Agreement, ViewGraphs
from manyview.partition.blockmodel import SearchSettings
from manyview.partition.levels import build_levels, halve, merge, merge_all


@pytest.fixture(scope="module")
def data():
    """Six groups in three pairs: the groups of a pair are nearer than those of others."""
    rng = np.random.default_rng(0)
    pairs = np.repeat(np.eye(3) * 40, 2, axis=0)
    centres = np.hstack([pairs, np.tile([[0.0], [4.5]], (3, 1))])
    truth = np.repeat(np.arange(6), [40, 35, 30, 25, 20, 15])
    views = [centres[truth] + rng.standard_normal((len(truth), 4)) for _ in range(2)]
    return [adaptive_graph(X, 8) for X in views], truth


def levels_of(data, z, most=12):
    views, _ = data
    return build_levels(views, sp.csr_array(sum(views)), z, most)


def is_nested(fine, coarse):
    return all(len(np.unique(coarse[fine == k])) == 1 for k in np.unique(fine))


@pytest.mark.parametrize("start", [3, 6])
def test_going_coarser_and_finer_finds_the_groups(data, start):
    _, truth = data
    pairs = truth // 2
    levels = levels_of(data, truth if start == 6 else pairs)
    assert adjusted_rand_index(pairs, levels.cut(3)) == 1
    assert adjusted_rand_index(truth, levels.cut(6)) == 1
    assert levels.finest == 12
    assert levels.labels.dtype == levels.merges.dtype == np.int32


def test_every_level_lies_within_the_coarser_ones_and_has_its_number(data):
    levels = levels_of(data, data[1])
    cuts = [levels.cut(k) for k in range(1, levels.finest + 1)]
    assert [len(np.unique(z)) for z in cuts] == list(range(1, 13))
    assert all(is_nested(fine, coarse) for coarse, fine in pairwise(cuts))
    assert all((np.diff(np.bincount(z)) <= 0).all() for z in cuts)  # numbered by size


def test_groups_are_farther_apart_than_halves_of_a_group(data):
    levels = levels_of(data, data[1])
    apart = [levels.separation_of(k) for k in range(2, 13)]
    assert min(apart[:5]) > max(apart[5:])
    assert all(0 <= s <= 1 for s in apart)


def test_clusters_that_share_no_edge_are_apart_and_random_halves_are_not():
    W = sp.csr_array(sp.block_diag([np.ones((20, 20)), np.ones((20, 20))]))
    z = np.repeat([0, 1, 2], [10, 10, 20])
    model = Agreement.of_views(ViewGraphs.of([W]), 3, SearchSettings())
    merges, separation = merge_all(model, z, z)
    assert merges.tolist() == [[0, 1], [0, 2]]
    np.testing.assert_allclose(separation, [0, 1], atol=1e-9)


def test_halves_are_merged_before_clusters_that_are_nearer():
    W = sp.csr_array(np.kron([[5, 1, 3, 0], [1, 5, 0, 0], [3, 0, 5, 0], [0, 0, 0, 5]], np.ones((5, 5))))
    z = np.repeat(np.arange(4), 5)
    model = Agreement.of_views(ViewGraphs.of([W]), 4, SearchSettings())
    assert merge_all(model, z, z)[0][0].tolist() == [0, 2]
    assert merge_all(model, z, np.repeat([0, 0, 1, 2], 5))[0][0].tolist() == [0, 1]


def test_halves_with_links_to_different_clusters_are_no_farther_apart_than_1():
    """Merging them also hides which of the others each is linked to: more than the labels themselves told."""
    W = sp.csr_array(np.kron([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]], np.ones((5, 5))))
    z = np.repeat(np.arange(4), 5)
    model = Agreement.of_views(ViewGraphs.of([W]), 4, SearchSettings())
    merges, separation = merge_all(model, z, np.repeat([0, 0, 1, 2], 5))
    assert merges[0].tolist() == [0, 1]
    assert separation[0] == 1


def test_numbers_that_cannot_be_had(data):
    levels = levels_of(data, data[1])
    with pytest.raises(InputError, match="n_clusters=13 is more than the 12 of the finest level; choose fewer"):
        levels.cut(13)
    with pytest.raises(InputError, match=r"^n_clusters=0 is too small"):
        levels.cut(0)


def test_what_is_too_small_or_has_no_links_is_not_split():
    z = np.zeros(9, int)
    assert build_levels([sp.csr_array(np.ones((9, 9)))], None, z, 5).finest == 1
    assert build_levels([sp.csr_array((30, 30))], None, np.zeros(30, int), 5).finest == 1


def test_weak_halves_are_split_before_what_cannot_be_split():
    z = np.repeat([0, 1], [40, 9])
    W = sp.csr_array(sp.block_diag([np.ones((40, 40)), np.ones((9, 9))]))
    levels = build_levels([W], None, z, 3)
    assert levels.finest == 3
    assert len(np.unique(levels.labels[z == 1])) == 1


def test_more_clusters_than_asked_for_stay(data):
    assert levels_of(data, data[1], most=3).finest == 6


def test_merging_closes_the_gap():
    np.testing.assert_array_equal(merge(np.array([0, 1, 2, 3]), 0, 2), [0, 1, 0, 2])


def test_one_view_of_many_features():
    blobs = make_views(120, 4, (10,), noise=0.3, separation=20, seed=0)
    W = adaptive_graph(blobs.views.arrays[0], 8)
    assert adjusted_rand_index(blobs.labels, build_levels([W], None, np.zeros(120, int), 8).cut(4)) == 1


def test_halves_of_the_smallest_clusters_are_the_smallest():
    """Five samples are enough for a half, four are not; too few samples are not cut at all."""
    for sizes, halved in (((5, 7), True), ((4, 7), False), ((5, 5), True), ((4, 5), False)):
        W = sp.csr_array(sp.block_diag([np.ones((s, s)) for s in sizes]))
        model = Agreement.of_views(ViewGraphs.of([W]), 1, SearchSettings())
        apart, half = halve(model, np.arange(sum(sizes)))
        assert (apart, len(half)) == (pytest.approx(1), min(sizes)) if halved else (-1, 0)
