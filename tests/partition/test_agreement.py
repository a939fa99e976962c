"""Agreement of neighbours: J is its formula, its evidence the derivative, and sizes of clusters do not matter."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.groups import blobs, graphs_of
from helpers.sparse_tables import random_table
from manyview.graphs.laplacian import reordered
from manyview.partition.agreement import (
    Agreement,
    Memory,
    ViewGraphs,
    mean_graph,
    one_over_degrees,
    symmetric,
    total_one,
    two_steps,
)
from manyview.partition.blockmodel import SearchSettings
from manyview.partition.redundancy import Redundancy

SETTINGS = SearchSettings()


def random_graph(n, seed=0):
    A = np.triu(np.random.default_rng(seed).random((n, n)) < 0.4, 1) * np.random.default_rng(seed).random((n, n))
    return sp.csr_array(A + A.T)


@pytest.fixture
def model():
    graphs = [random_graph(20, seed) for seed in range(4)]
    priced = replace(SETTINGS, background=0.0)
    layers = ViewGraphs(tuple(graphs[:3]), graphs[3], Redundancy(np.eye(3)))
    return Agreement.of_views(layers, 3, priced), graphs


def information(M):
    a = M.sum(axis=1)
    return float((M * np.log(M / np.outer(a, a))).sum())


def literal_J(graphs, Z, label_cost):
    """J as in the docstring of the module."""
    own = [Z.T @ W.toarray() @ Z / W.sum() for W in graphs]
    second = [M @ np.diag(1 / M.sum(axis=1)) @ M for M in own]
    near = [(W.toarray() / W.toarray().sum(axis=1, keepdims=True)) @ Z for W in graphs[:3]]
    crossed = [symmetric(near[a].T @ near[b]) / len(Z) for a in range(3) for b in range(a)]
    sizes = Z.mean(axis=0)
    return (
        np.mean([information(M) for M in second[:3]]) / 3
        + information(second[3]) / 3
        + np.mean([information(M) for M in crossed]) / 3
        + label_cost * float(sizes @ np.log(sizes))
    )


@pytest.mark.parametrize("label_cost", [0.0, 0.4])
def test_J_is_the_formula_for_labels_and_for_memberships(model, label_cost, rng):
    agreement, graphs = model
    agreement = replace(agreement, settings=replace(agreement.settings, label_cost=label_cost))
    z = np.arange(20) % 3
    assert agreement.evaluate(z)[0] == pytest.approx(literal_J(graphs, np.eye(3)[z], label_cost))
    Q = rng.dirichlet(np.ones(3), 20)
    assert agreement.evaluate(Q)[0] == pytest.approx(literal_J(graphs, Q, label_cost))


def test_evidence_is_the_derivative_of_J(model, rng):
    agreement, graphs = model
    Q = rng.dirichlet(np.ones(3) * 5, 20)
    T = agreement.evaluate(Q)[1]
    numeric = np.zeros_like(T)
    for i in range(20):
        for k in range(3):
            step = np.zeros_like(Q)
            step[i, k] = 1e-6
            numeric[i, k] = (literal_J(graphs, Q + step, 0.0) - literal_J(graphs, Q - step, 0.0)) / 2e-6
    numeric *= 20 / 2
    # up to a constant per sample: memberships add up to 1
    centred = [A - A.mean(axis=1, keepdims=True) for A in (T, numeric)]
    np.testing.assert_allclose(*centred, atol=1e-4)


def test_two_step_information_has_its_gradient(model, rng):
    """For unequal clusters, in all directions that keep M symmetric and its total."""
    agreement, _ = model
    M = np.diag([0.4, 0.1, 0.2]) + symmetric(rng.random((3, 3))) / 20
    gradient = agreement.two_step_information(M)[1]
    for _ in range(5):
        step = symmetric(rng.standard_normal((3, 3)))
        step = 1e-6 * (step - step.mean())
        higher, lower = (information(two_steps(M + way * step)) for way in (1, -1))
        assert (higher - lower) / 2 == pytest.approx(float((gradient * step).sum()), rel=1e-4)


def test_two_steps_keep_the_shares_and_are_convex_in_separation():
    leaving = 0.2
    M = np.array([[1 - leaving, leaving], [leaving, 1 - leaving]]) / 2
    second = two_steps(M)
    np.testing.assert_allclose(second.sum(axis=1), M.sum(axis=1))
    assert 2 * second[0, 1] == pytest.approx(2 * leaving * (1 - leaving))


def test_a_walk_takes_no_step_from_a_lonely_sample():
    W = sp.csr_array(np.array([[0.0, 2, 0], [2, 0, 0], [0, 0, 0]]))
    np.testing.assert_array_equal(one_over_degrees(W), [0.5, 0.5, 0])


def test_copies_of_a_view_change_nothing_in_J(rng):
    X, Y = (blobs((60, 30, 20), seed=seed)[1] for seed in (0, 1))
    once, often = graphs_of(X, Y), graphs_of(X, X, Y, X)
    often = replace(often, joint=once.joint)
    z = rng.integers(0, 3, 110)
    one, many = (Agreement.of_views(layers, 3, SETTINGS).evaluate(z) for layers in (once, often))
    assert many[0] == pytest.approx(one[0], rel=1e-9)
    np.testing.assert_allclose(many[1], one[1], atol=1e-9)


def test_a_graph_in_another_order_links_the_same_samples(rng):
    W = random_table(rng, (9, 9), 0.4)
    order = rng.permutation(9)
    np.testing.assert_array_equal(reordered(W, order).toarray(), W.toarray()[np.ix_(order, order)])


@pytest.mark.parametrize("room", [0, 60, 1000])
def test_remembered_evaluations_are_the_same_at_every_price(model, room, rng):
    z = rng.integers(0, 3, 20)
    remembering = replace(model[0], memory=Memory(room=room))
    for label_cost in (0.0, 0.3, 0.0):
        priced = replace(model[0].settings, label_cost=label_cost)
        (J, T), (J_new, T_new) = (replace(one, settings=priced).evaluate(z) for one in (remembering, model[0]))
        assert J_new == J
        np.testing.assert_array_equal(T, T_new)
    assert len(remembering.memory.known) == (room >= 60)


def test_a_model_of_some_samples_remembers_nothing_of_all(model):
    whole, _ = model
    part = replace(whole, memory=Memory()).among(np.arange(10), 2)
    assert part.memory is None
    assert (part.n_clusters, part.graphs[0].shape) == (2, (10, 10))


def test_views_share_what_their_layers_tell_and_pairs_count_for_both():
    graphs = [random_graph(20, seed) for seed in range(4)]
    layers = ViewGraphs(tuple(graphs[:3]), graphs[3], Redundancy(np.eye(3)))
    plain = Agreement.of_views(layers, 2, replace(SETTINGS, background=0.0))
    z = np.repeat([0, 1], 10)
    told = [w * information(M) for w, M in plain.block_matrices(z)]
    own, crossed = np.array(told[:3]), told[4:]
    for (a, b), value in zip(plain.pairs, crossed, strict=True):
        own[[a, b]] += value / 2
    np.testing.assert_allclose(plain.view_weights(z, 3), own / own.sum())
    assert plain.n_layers == len(told) == 7


def test_graphs_count_alike_in_their_mean_whatever_their_scale():
    graphs = [random_graph(9, 0), 100 * random_graph(9, 1)]
    assert total_one(graphs[0].astype(np.float32)).dtype == np.float64
    shares = [W.toarray() / W.sum() for W in graphs]
    np.testing.assert_allclose(mean_graph(graphs).toarray(), sum(shares) / 2)
    np.testing.assert_allclose(mean_graph(graphs, np.array([0.25, 0.75])).toarray(), shares[0] / 4 + shares[1] * 3 / 4)
