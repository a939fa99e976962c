"""Choosing the number of clusters from graphs."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import METHODS, OCBR, InputError, make_views
from manyview.graphs.affinity import adaptive_graph
from manyview.graphs.structureless import Rows
from manyview.partition.blockmodel import BlockModel
from manyview.partition.information import label_entropy
from manyview.partition.selection import (
    Hierarchy,
    best_numbers,
    build_hierarchy,
    clearly_above,
    compare_with_chance,
    found_again,
    merge_to,
    numbers_up_to,
    select_n_clusters,
    total,
    worst_found_again,
)
from manyview.partition.spectral import spectral_embedding


def graphs_of(data):
    return [adaptive_graph(X, 10) for X in data.views.arrays]


@pytest.mark.parametrize("k", [2, 3, 5, 9])
def test_groups_that_nobody_can_miss_are_counted(k):
    found = select_n_clusters(graphs_of(make_views(40 * k, k, (12, 12), noise=0.4, separation=20, seed=k)))
    assert found.chosen == k
    assert found.candidates[0] == 2
    assert np.isnan(found.halves)  # there is nothing to draw from
    assert found.by_chance.size == 0
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
    with pytest.raises(InputError, match=r"^max_clusters=1 is too small"):
        select_n_clusters(graphs, max_clusters=1)
    with pytest.raises(InputError, match=r"^repeats=0 is too small"):
        select_n_clusters(graphs, repeats=0)


def test_empty_graphs_have_no_say():
    graphs = graphs_of(make_views(90, 3, (8, 8), noise=0.4, separation=20, seed=0))
    assert select_n_clusters([*graphs, sp.csr_array((90, 90))], repeats=2).chosen == 3
    with pytest.raises(InputError, match="No sample has a neighbour in any of the 1 graphs"):
        select_n_clusters([sp.csr_array((90, 90))])


@pytest.mark.parametrize("draw", ["normal", "uniform", "exponential"])
def test_one_cluster_where_there_is_no_structure(draw, rng):
    nothing = [getattr(rng, draw)(size=(90, d)) for d in (4, 7)]
    model = OCBR("auto", max_clusters=3).fit(nothing)
    assert (model.n_clusters_, model.selection_.chosen) == (1, 1)
    assert not model.labels_.any()
    assert not clearly_above(model.selection_.halves, model.selection_.by_chance)
    assert model.predict(nothing).tolist() == [0] * 90


def test_correlations_are_no_clusters(rng):
    shared = rng.standard_normal((100, 1)) * 10
    model = OCBR("auto", max_clusters=3).fit([shared + rng.standard_normal((100, d)) for d in (4, 7)])
    assert model.n_clusters_ == 1


def test_what_is_clearly_above_chance():
    chance = 1 / (1 + np.exp([[-1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]))  # log odds: 0 with deviation 1; -1
    assert clearly_above(1 / (1 + np.exp(-3.51)), chance)
    assert not clearly_above(1 / (1 + np.exp(-3.49)), chance)
    assert clearly_above(1.0, np.full((3, 2), 0.99))
    assert not clearly_above(0.0, np.zeros((3, 2)))
    assert not clearly_above(1.0, np.ones((3, 2)))


def test_of_many_samples_some_are_compared_with_chance(monkeypatch):
    monkeypatch.setattr("manyview.partition.selection.MOST_COMPARED", 60)
    views = make_views(120, 3, (5, 5), noise=0.3, separation=20, seed=0).views.arrays
    taken = []
    monkeypatch.setattr(Rows, "part", lambda rows, chosen, part=Rows.part: taken.append(chosen) or part(rows, chosen))
    halves, by_chance = compare_with_chance(Rows.complete(views, 8), seed=0)
    assert [len(np.unique(chosen)) for chosen in taken] == [60]
    assert clearly_above(halves, by_chance)
    assert by_chance.shape == (15, 2)


@pytest.mark.parametrize("n", [1, 8])
def test_too_few_samples(n):
    with pytest.raises(InputError, match=f"n_samples={n} is too few to choose the number of clusters; give n_clusters"):
        OCBR("auto").fit(np.random.default_rng(0).standard_normal((n, 3)))


def cliques(count, size=5):
    return sp.csr_array(sp.block_diag([np.ones((size, size)) - np.eye(size)] * count))


def test_more_than_30_are_tried_while_they_are_still_apart():
    found = select_n_clusters([cliques(40)], repeats=2)
    assert found.chosen == 40
    assert found.candidates.tolist() == [*range(2, 31), 32, 34, 36, 38, 40]
    assert np.isfinite(found.score).all()
    assert len(found.eigengap) == len(found.separation) == len(found.candidates)


def test_more_pieces_than_candidates():
    found = select_n_clusters([cliques(40)], max_clusters=20, repeats=2)
    assert 2 <= found.chosen <= 20
    assert np.isfinite(found.score).all()


@pytest.mark.parametrize("most", [2, 7, 30, 31, 60, 100, 240])
def test_numbers_above_30_grow_in_steps_of_a_thirtieth(most):
    numbers = numbers_up_to(most)
    assert numbers[-2:].tolist() == [most, most + 1]
    assert numbers[:-1].tolist()[:28] == list(range(2, most + 1))[:28]
    steps = np.diff(numbers[:-1])
    assert (steps == 1 + (numbers[1:-1] - 1) // 30).all()


def test_scores_of_similar_numbers_support_each_other():
    numbers = np.array([2, 4, 8, 9, 10, 30])
    assert best_numbers(numbers, np.array([0.5, 0.0, 0.3, 0.3, 0.0, 0.4]))[0] == 8
    assert best_numbers(numbers, np.array([0.5, 0.0, 0.2, 0.3, 0.2, 0.4]))[0] == 9
    assert best_numbers(numbers, np.array([0.5, 0.0, 0.2, 0.2, -0.4, 0.4]))[0] == 2
    assert best_numbers(numbers, np.array([0.3, 0.2, 0.0, 0.0, 0.0, 0.4]))[0] == 30  # 2 and 4 are not similar


def test_of_similar_numbers_the_one_with_the_highest_score_is_chosen():
    numbers = np.arange(2, 13)
    scores = np.zeros(11)
    scores[[6, 7, 8]] = 0.2, 0.15, 0.19  # 8, 9 and 10: 9 has the highest sum
    assert best_numbers(numbers, scores).tolist() == [8]


def test_other_peaks_are_suggested_the_highest_first_unless_they_are_low():
    numbers = np.arange(2, 31)
    scores = np.zeros(29)
    scores[[0, 5, 18]] = 0.3, 0.5, 0.4  # 2, 7 and 20
    assert best_numbers(numbers, scores).tolist() == [7, 20, 2]
    scores[0] = 0.1
    assert best_numbers(numbers, scores).tolist() == [7, 20]
    scores[[0, 10]] = 0.3, 0.2  # 12 is the fourth
    assert best_numbers(numbers, scores).tolist() == [7, 20, 2]
    assert best_numbers(numbers, np.full(29, -0.1) * numbers).tolist() == [2]


def test_groups_of_groups_are_suggested_in_both_numbers(rng):
    centres = np.repeat(np.eye(3) * 12, 3, axis=0) + np.tile(np.eye(3) * 1.3, (3, 1))
    X = np.repeat(centres, 40, axis=0) + rng.standard_normal((360, 3)) * 0.5
    found = select_n_clusters([adaptive_graph(X, 10)])
    assert set(found.suggestions[:2]) == {3, 9}
    assert found.suggestions[0] == found.chosen


def test_merging_to_a_coarser_level_joins_the_nearest_first():
    W = cliques(4).toarray() + np.kron(np.eye(2), np.full((10, 10), 0.1))  # four cliques in two pairs
    model = BlockModel.of([sp.csr_array(W)], [1.0], 2)
    z = np.repeat([0, 1, 2, 3], 5)
    np.testing.assert_array_equal(merge_to(model, z), np.repeat([0, 1], 10))
    np.testing.assert_array_equal(merge_to(replace(model, n_clusters=4), z), z)


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


def test_clusters_that_are_linked_with_others_only_are_at_most_1_apart():
    W = np.array([[0.0, 1.0, 4.0], [1.0, 4.0, 0.0], [4.0, 0.0, 0.0]])  # the two nearest lose more than their entropy
    assert BlockModel.of([sp.csr_array(W)], [1.0], 3).nearest_clusters(np.arange(3))[0] == 1


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


def test_chance_is_drawn_by_the_seed():
    rows = Rows.complete(make_views(40, 2, (3, 3), noise=1.0, seed=0).views.arrays, 6)
    one, same, other = (compare_with_chance(rows, seed)[1] for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_every_graph_counts_alike_in_the_total_whatever_its_scale(rng):
    graphs = [sp.csr_array(np.triu(rng.random((6, 6)), 1)) for _ in range(2)]
    one, other = total(graphs).toarray(), total([graphs[0] * 100, graphs[1]]).toarray()
    np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(one, sum(W.toarray() / W.sum() for W in graphs))


def test_the_least_stable_cluster_counts_by_its_mean_over_the_subgraphs():
    z, other = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1])
    whole, same, differs = (Hierarchy(np.array([2]), [labels], np.zeros(1), np.zeros(2)) for labels in (z, z, other))
    subsets = [np.arange(6)] * 2
    # cluster 0 is found again by 1 and 2/3, cluster 1 by 1 and 3/4
    assert worst_found_again(whole, subsets, [same, differs], 0) == pytest.approx((1 + 2 / 3) / 2)


def test_the_eigengap_is_that_of_the_summed_graphs():
    graphs = graphs_of(make_views(60, 3, (6, 6), noise=1.0, seed=0))
    found = select_n_clusters(graphs, repeats=1, max_clusters=5)
    values, _ = spectral_embedding(total(graphs), 6, 1.0)
    np.testing.assert_allclose(found.eigengap, -np.diff(values)[1:])
    levels = build_hierarchy(graphs, numbers_up_to(5), 1.0).labels
    told = [label_entropy(z) for z in levels[:-2]]
    np.testing.assert_allclose(found.score[:-1], -np.diff(found.separation) * found.stability[:-1] ** 2 * told)
