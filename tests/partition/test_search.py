"""The search for a partition: which candidate is taken, what the others are, and that sizes do not matter."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.groups import blobs, graphs_of
from manyview import OCBR, adjusted_rand_index, clustering_accuracy
from manyview.datasets import make_unequal_views
from manyview.partition.agreement import Agreement, ViewGraphs
from manyview.partition.blockmodel import Search, SearchSettings
from manyview.partition.search import (
    Candidate,
    Optimum,
    Start,
    choose,
    different,
    find_agreement,
    regrouped,
    search_optima,
    start_partitions,
    without_price,
    without_repeats,
)

SETTINGS = SearchSettings()


def candidates(*scores):
    return [Candidate(np.arange(2), separation, objective, 0.0) for objective, separation in scores]


@pytest.mark.parametrize(
    ("scores", "taken"),
    [
        ([(1.0, 0.2), (1.1, 0.1)], 1),  # twice as far apart, but with a tenth less of the information: just too little
        ([(1.0, 0.2), (1.05, 0.1)], 0),
        ([(1.0, 0.15), (1.05, 0.1)], 1),  # farther apart, but not much
        ([(1.0, 0.4), (1.02, 0.2), (1.05, 0.1)], 0),  # from one to the next
        ([(1.0, 0.25), (1.02, 0.2), (1.05, 0.1)], 1),
        ([(0.0, 0.0), (0.0, 0.0)], 0),
        ([(-1.05, 0.2), (-1.0, 0.1)], 0),  # worse than chance, with noise in every edge
        ([(1.0, -0.1), (1.02, -0.2)], 1),
    ],
)
def test_a_lower_objective_is_taken_only_if_clusters_are_much_farther_apart(scores, taken):
    assert choose(candidates(*scores), replace(SETTINGS, farther=1.6, least_information=0.92)) == taken


def test_scores_of_candidates_are_those_of_their_labels():
    _, X = blobs((150, 40, 30), separation=3.0)
    _, Y = blobs((150, 40, 30), seed=1, separation=3.0)
    layers = graphs_of(X, Y)
    found = find_agreement(layers, 5, SETTINGS)
    model = Agreement.of_views(layers, 5, SETTINGS)
    assert 1 <= len(found.alternatives) <= 3
    for candidate in (found.best, *found.alternatives):
        assert candidate.separation == pytest.approx(model.nearest_clusters(candidate.labels)[0])
        assert candidate.objective == pytest.approx(model.evaluate(candidate.labels)[0])
        assert candidate.price in (0.0, *SETTINGS.prices)
    assert found.search.objective == found.best.objective
    assert found.search.runner_up == found.alternatives[0].objective


def test_the_record_of_a_search_is_without_the_price_of_labels():
    unpriced = Candidate(np.array([0, 0, 1, 1]), 0.5, objective=1.2, price=1.0)
    search = Search(objective=0.3, starts=4, sweeps=9, converged=True, runner_up=0.1, agreement=0.2)
    alone = without_price(search, unpriced, [])
    assert (alone.objective, alone.runner_up, alone.agreement, alone.starts) == (1.2, -np.inf, 1, 4)


def wrongly_cut():
    """Return four groups, their table, and labels that take two small ones for one and cut a large one in two."""
    truth, X = blobs((90, 90, 20, 20))
    wrong = np.where(truth == 3, 2, truth)
    wrong[(truth == 0) & (X[:, 0] > np.median(X[truth == 0, 0]))] = 3
    return truth, X, wrong


def test_regrouping_an_optimum_gives_a_better_one_and_its_record():
    truth, X, wrong = wrongly_cut()
    model = Agreement.of_views(graphs_of(X), 4, SETTINGS)
    search = Search(
        objective=model.evaluate(wrong)[0], starts=1, sweeps=1, converged=True, runner_up=0.0, agreement=1.0
    )
    found = regrouped(model, Optimum(wrong, 0.5, search), X)
    assert adjusted_rand_index(truth, found.labels) == 1
    assert found.search.objective == pytest.approx(model.evaluate(found.labels)[0])
    assert found.search.objective > found.search.runner_up == search.objective
    assert found.price == 0.5
    assert regrouped(replace(model, n_clusters=1), Optimum(np.zeros_like(wrong), 0.5, search), X) is None


def test_optima_are_regrouped_if_nothing_else_leads_out_of_them():
    truth, X, wrong = wrongly_cut()
    model = Agreement.of_views(graphs_of(X), 4, replace(SETTINGS, rounds=0, prices=()))
    stuck, better = search_optima(model, [wrong], X)
    assert adjusted_rand_index(truth, stuck.labels) < 0.9
    assert adjusted_rand_index(truth, better.labels) == 1
    assert stuck.search.starts == better.search.starts == 2


@pytest.mark.parametrize("sizes", [(100, 100, 100), (280, 15, 15), (290, 10, 5)])
def test_a_large_group_is_not_halved_for_small_ones(sizes):
    truth, X = blobs(sizes)
    _, Y = blobs(sizes, seed=1)
    found = find_agreement(graphs_of(X, Y), 3, SETTINGS)
    assert adjusted_rand_index(truth, found.best.labels) == 1
    assert found.search.converged
    assert found.view_weights.sum() == pytest.approx(1)


def test_clusters_that_one_view_alone_tells_apart_are_found():
    truth, X = blobs((60, 60, 60))
    _, Y = blobs((60, 120), seed=1)  # takes the last two for one
    found = find_agreement(graphs_of(X, Y), 3, SETTINGS)
    assert adjusted_rand_index(truth, found.best.labels) == 1


def test_alternatives_are_partitions_of_their_own():
    _, X = blobs((150, 40, 30), separation=3.0)
    _, Y = blobs((150, 40, 30), seed=1, separation=3.0)
    found = find_agreement(graphs_of(X, Y), 5, SETTINGS)
    partitions = [found.best.labels, *(other.labels for other in found.alternatives)]
    for i, z in enumerate(partitions):
        assert all(adjusted_rand_index(z, other) < 0.99 for other in partitions[:i])


@pytest.mark.parametrize(
    ("shape", "confused"), [("gaussian", 0.0), ("gaussian", 0.5), ("curved", 0.0), ("curved", 0.5)]
)
def test_accuracy_does_not_fall_with_the_ratio_of_sizes(shape, confused):
    accuracies = []
    for ratio in (1, 30):
        data = make_unequal_views(900, 6, ratio=ratio, shape=shape, confused=confused, seed=0)
        accuracies.append(clustering_accuracy(data.labels, OCBR(6).fit(data.views).labels_))
    assert accuracies[1] > accuracies[0] - 0.03


def test_partitions_that_differ_by_a_few_samples_count_as_one(rng):
    z = np.repeat([0, 1], 500)
    nearly, moved = z.copy(), z.copy()
    nearly[0], moved[:20] = 1, 1
    partitions = [Candidate(labels, 0.5, 1.0, 0.0) for labels in (z, nearly, 1 - z, moved, moved)]
    assert different(partitions) == [partitions[0], partitions[3]]
    optima = [Optimum(one.labels, price, None) for price, one in enumerate(partitions)]
    assert without_repeats(optima) == optima[:4]


def test_cuts_to_start_from_are_those_of_the_joint_graph_of_the_sum_and_of_few_views():
    truth, X = blobs((40, 30, 20))
    _, Y = blobs((40, 30, 20), seed=1)
    layers = graphs_of(X, Y)
    joint = Start.of(layers.joint, 3, SETTINGS)
    for few, expected in ((3, 6), (2, 4)):
        starts, F = start_partitions(layers, 3, replace(SETTINGS, few_clusters=few), joint)
        assert len(starts) == expected
        assert F.shape == (90, 6)
        assert starts[2] is joint.labels
        assert all(adjusted_rand_index(truth, z) == 1 for z in starts)
    assert start_partitions(ViewGraphs.of([layers.joint]), 3, SETTINGS, joint)[0][1] is joint.labels


def test_the_views_own_cut_is_a_start_even_if_the_joint_graph_shows_something_else():
    truth, X = blobs((40, 30, 20))
    others, Y = blobs((20, 30, 40), seed=1)
    views = graphs_of(X, X)
    layers = replace(views, joint=graphs_of(Y).joint)
    (_, own, joint, *_), _ = start_partitions(layers, 3, SETTINGS, Start.of(layers.joint, 3, SETTINGS))
    assert adjusted_rand_index(truth, own) == 1
    assert adjusted_rand_index(others, joint) == 1
