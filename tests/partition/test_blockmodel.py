"""The multi-layer block model: J is its formula, every move raises it, and it finds what is planted."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from manyview import adjusted_rand_index
from manyview.graphs.laplacian import normalized_adjacency
from manyview.numerics.division import unit_length_rows
from manyview.partition import blockmodel
from manyview.partition.blockmodel import (
    Ascent,
    BlockModel,
    links_to_clusters,
    merge_loss,
    part_of,
    split_gain,
    sum_by_cluster,
)
from manyview.partition.information import xlogx
from manyview.partition.spectral import pivoted_kmeans, spectral_embedding

LABELS = [np.repeat(np.arange(3), 8), np.arange(24) % 3, np.array([0] * 22 + [1, 2])]


def searched(model, **changes):
    """The same model with other settings."""
    return replace(model, settings=replace(model.settings, **changes))


def random_graph(n, density=0.4, seed=0):
    A = np.triu(sp.random_array((n, n), density=density, random_state=seed).toarray(), 1)
    return sp.csr_array(A + A.T)


def planted(truth, inside, outside, blind=(), seed=0):
    """Graph whose links are as likely between two clusters in `blind` as within them."""
    rng = np.random.default_rng(seed)
    seen = np.where(np.isin(truth, blind), -1, truth)
    A = np.triu(rng.random((len(truth),) * 2) < np.where(seen[:, None] == seen, inside, outside), 1)
    return sp.csr_array((A | A.T).astype(float))


def soft(n, c, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(c), n)


def literal_blocks(W, Q):
    """M(k, h) = sum_ij Q_ik W_ij Q_jh, as written."""
    n, c = Q.shape
    A, M = W.toarray(), np.zeros((c, c))
    for k in range(c):
        for h in range(c):
            M[k, h] = sum(Q[i, k] * A[i, j] * Q[j, h] for i in range(n) for j in range(n))
    return M


def literal_J(model, z):
    """J as in the docstring of the module, in loops."""
    c = model.n_clusters
    Q = np.eye(c)[z] if z.ndim == 1 else z
    total = 0.0
    for w, W in zip(model.weights, model.graphs, strict=True):
        M = literal_blocks(W, Q)
        a = [sum(row) for row in M]
        for k in range(c):
            for h in range(c):
                if M[k, h] > 0:
                    ratio = M[k, h] / (a[k] * a[h])
                    total += w * M[k, h] * np.log((1 - model.settings.background) * ratio + model.settings.background)
    entropy = -sum(size * np.log(size) for size in Q.mean(axis=0) if size > 0)
    return total - model.settings.label_cost * entropy


# J and T -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("z", [*LABELS, soft(24, 3)], ids=["blocks", "stripes", "uneven", "soft"])
@pytest.mark.parametrize("background", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("label_cost", [0.0, 0.5])
def test_J_is_the_formula(z, background, label_cost):
    model = BlockModel.of([random_graph(24, seed=1), random_graph(24, 0.1, seed=2)], [1.0, 1.5], 3)
    model = searched(model, background=background, label_cost=label_cost)
    assert model.evaluate(z)[0] == pytest.approx(literal_J(model, z), abs=1e-12)


def test_layers_are_scaled_to_shares_and_weights_to_mean_one():
    graphs = [random_graph(10, seed=1), random_graph(10, seed=2) * 1e6]
    model = BlockModel.of(graphs, [1.0, 3.0], 2)
    assert model.weights == (0.5, 1.5)
    np.testing.assert_allclose([W.sum() for W in model.graphs], 1)
    assert graphs[1].max() > 1e5


@pytest.mark.parametrize("z", LABELS, ids=["blocks", "stripes", "uneven"])
def test_without_background_a_layer_tells_the_mutual_information_of_its_edges(z):
    """The labels at the ends of an edge drawn at random, in scikit-learn's terms a contingency table."""
    W = random_graph(24, seed=3).ceil()
    model = searched(BlockModel.of([W], [1.0], 3), background=0.0, label_cost=0.0)
    counts = literal_blocks(W, np.eye(3)[z]).astype(int)
    expected = mutual_info_score(None, None, contingency=counts)
    assert model.evaluate(z)[0] == pytest.approx(expected, abs=1e-12)
    assert model.information(z) == pytest.approx([expected], abs=1e-12)


def test_without_background_blocks_without_links_are_no_trouble():
    W = sp.csr_array(sp.block_diag([random_graph(8, 1.0), random_graph(8, 1.0, seed=1)]))
    z = np.repeat([0, 1], 8)
    J, T = searched(BlockModel.of([W], [1.0], 2), background=0.0, label_cost=0.0).evaluate(z)
    M = literal_blocks(W, np.eye(2)[z]) / W.sum()
    expected = xlogx(M).sum() - 2 * xlogx(M.sum(axis=1)).sum()
    assert pytest.approx(expected) == J
    assert np.isfinite(T).all()
    np.testing.assert_array_equal(T.argmax(axis=1), z)


def test_labels_and_their_indicators_are_the_same_memberships():
    model = BlockModel.of([random_graph(24), random_graph(24, seed=1)], [1.0, 1.0], 3)
    J, T = model.evaluate(LABELS[1])
    J_soft, T_soft = model.evaluate(np.eye(3)[LABELS[1]])
    assert pytest.approx(J_soft) == J
    np.testing.assert_allclose(T, T_soft, atol=1e-12)


def directional_derivative(function, Q, direction, h=1e-5):
    return (function(Q + h * direction) - function(Q - h * direction)) / (2 * h)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("label_cost", [0.0, 0.5])
def test_evidence_is_the_derivative_of_J_with_the_label_cost_doubled(seed, label_cost):
    """For eta = 0, along memberships that keep adding up to 1: n/2 dJ/dQ . d = <T, d>, where J has 2 pi for pi."""
    n, c = 24, 3
    rng = np.random.default_rng(seed)
    model = BlockModel.of([random_graph(n, seed=seed), random_graph(n, seed=9)], [1.0, 2.0], c)
    model = searched(model, background=0.0, label_cost=label_cost)
    doubled = searched(model, label_cost=2 * label_cost)
    Q = soft(n, c, seed) * 0.8 + 0.2 / c
    _, T = model.evaluate(Q)
    for _ in range(5):
        direction = rng.standard_normal((n, c))
        direction -= direction.mean(axis=1, keepdims=True)
        slope = directional_derivative(lambda q: doubled.evaluate(q)[0], Q, direction)
        assert n / 2 * slope == pytest.approx(np.sum(T * direction), rel=1e-5, abs=1e-7)


def test_with_background_evidence_is_the_derivative_at_fixed_block_ratios():
    n, c, eta = 24, 3, 0.05
    rng = np.random.default_rng(0)
    W = random_graph(n)
    model = searched(BlockModel.of([W], [1.0], c), background=eta, label_cost=0.0)
    Q = soft(n, c)
    _, T = model.evaluate(Q)
    A = model.graphs[0].toarray()
    M = Q.T @ A @ Q
    ratio = M / np.outer(M.sum(axis=1), M.sum(axis=1))
    R = np.log((1 - eta) * ratio + eta)
    direction = rng.standard_normal((n, c))
    slope = directional_derivative(lambda q: np.sum((q.T @ A @ q) * R), Q, direction)
    assert n / 2 * slope == pytest.approx(np.sum(T * direction), rel=1e-6)


@given(st.permutations(range(4)), st.integers(0, 10))
def test_J_does_not_depend_on_the_names_of_the_clusters(names, seed):
    model = BlockModel.of([random_graph(30, seed=seed), random_graph(30, 0.1, seed=seed + 1)], [1.0, 1.5], 4)
    z = np.random.default_rng(seed).integers(0, 4, 30)
    renamed = np.array(names)[z]
    J, T = model.evaluate(z)
    J_renamed, T_renamed = model.evaluate(renamed)
    assert J_renamed == pytest.approx(J, abs=1e-12)
    np.testing.assert_allclose(T_renamed[:, names], T, atol=1e-9)
    np.testing.assert_allclose(model.information(renamed), model.information(z), atol=1e-12)


@given(st.permutations(range(20)))
def test_J_does_not_depend_on_the_order_of_the_samples(order):
    W, z = random_graph(20), np.arange(20) % 3
    order = np.array(order)
    moved = sp.csr_array(W[order][:, order])
    expected, _ = BlockModel.of([W], [1.0], 3).evaluate(z)
    assert BlockModel.of([moved], [1.0], 3).evaluate(z[order])[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("background", [0.0, 0.05])
def test_a_layer_without_links_adds_nothing(background):
    W, nothing, z = random_graph(24), sp.csr_array((24, 24)), LABELS[0]
    alone = searched(BlockModel.of([W], [1.0], 3), background=background)
    beside = searched(BlockModel.of([W, nothing], [1.0, 1.0], 3), background=background)
    for found, expected in zip(beside.evaluate(z), alone.evaluate(z), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert beside.information(z)[1] == 0


def test_links_and_blocks_are_sums_by_cluster():
    W, z = random_graph(24), LABELS[2]
    links = links_to_clusters(W, z, 4)  # a cluster may be empty
    np.testing.assert_allclose(links, W.toarray() @ np.eye(4)[z])
    np.testing.assert_allclose(sum_by_cluster(links, z, 4), literal_blocks(W, np.eye(4)[z]))
    assert links_to_clusters(W.astype(np.float32), z, 4).dtype == np.float64


def test_some_rows_of_a_graph():
    A = random_graph(24).toarray()
    A[:, 20:] = 0
    W = sp.csr_array(A)
    assert part_of(W, slice(0, 24)) is W
    for rows in (slice(0, 5), slice(5, 24), slice(7, 8)):
        part = part_of(W, rows)
        assert part.shape == (rows.stop - rows.start, 24)
        np.testing.assert_array_equal(part.toarray(), A[rows])


# Moves -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_ascent_never_lowers_J_nor_empties_a_cluster(seed):
    n, c = 40, 5
    model = BlockModel.of([random_graph(n, 0.15, seed), random_graph(n, 0.3, seed + 50)], [1.0, 1.5], c)
    rng = np.random.default_rng(seed)
    z = np.concatenate([np.arange(c), rng.integers(0, c if seed % 2 else 1, n - c)])
    start = z.copy()
    J, T = model.evaluate(z)
    for _ in range(20):
        step = model._step(z, J, T)
        if step is None:
            break
        assert step[1] > J
        z, J, T = step
        assert np.bincount(z, minlength=c).min() > 0
        assert model.evaluate(z)[0] == pytest.approx(J)
    found = model.ascend(start)
    np.testing.assert_array_equal(found.labels, z)
    assert found.objective == J >= model.evaluate(start)[0]


def test_ascent_mends_a_partition_that_is_partly_wrong():
    truth = np.repeat(np.arange(3), 30)
    model = BlockModel.of([planted(truth, 0.5, 0.05)], [1.0], 3)
    wrong = truth.copy()
    wrong[::4] = (wrong[::4] + 1) % 3
    np.testing.assert_array_equal(model.ascend(wrong).labels, truth)


@pytest.mark.parametrize("seed", range(5))
def test_halves_refine_the_partition(seed):
    n, c = 60, 4
    rng = np.random.default_rng(seed)
    z = np.concatenate([[0] * 3, rng.integers(1, c, n - 3)])  # cluster 0 is too small to be cut along F
    halves = BlockModel.of([random_graph(n, 0.2, seed)], [1.0], c).halve(z, rng.standard_normal((n, 5)))
    np.testing.assert_array_equal(halves // 2, z)


def test_halves_find_the_two_parts_of_a_cluster():
    truth = np.repeat(np.arange(4), 20)
    rng = np.random.default_rng(0)
    F = np.eye(4)[truth] + 0.05 * rng.standard_normal((80, 4))
    halves = BlockModel.of([planted(truth, 0.5, 0.05)], [1.0], 3).halve(np.repeat([0, 1, 2, 2], 20), F)
    assert adjusted_rand_index(truth[40:], halves[40:]) == 1


def test_gains_and_losses_add_up_over_layers_to_the_change_of_J():
    """On a partition of samples: what is read off the halves is what J says of the new partition."""
    n, c = 48, 4
    layers = [random_graph(n, 0.3, 1), random_graph(n, 0.5, 2)]
    model = searched(BlockModel.of(layers, [1.0, 1.5], c), background=0.0, label_cost=0.0)
    rng = np.random.default_rng(0)
    z = np.arange(n) % c
    halves = 2 * z + rng.integers(0, 2, n)
    H = [sum_by_cluster(links_to_clusters(W, halves, 2 * c), halves, 2 * c) for W in model.graphs]
    gain = sum(w * split_gain(h)[1] for w, h in zip(model.weights, H, strict=True))
    loss = sum(w * merge_loss(h)[0, 3] for w, h in zip(model.weights, H, strict=True))
    J = model.evaluate(z)[0]
    split = np.where(halves == 3, c, z)
    assert replace(model, n_clusters=c + 1).evaluate(split)[0] - J == pytest.approx(gain)
    assert J - model.evaluate(np.where(z == 3, 0, z))[0] == pytest.approx(loss)


def test_proposals_count_the_price_of_labels():
    """Splitting a large cluster costs more labels than splitting a small one; the price decides which is proposed."""
    truth = np.repeat([0, 1, 2, 3, 4, 5], [40, 40, 10, 10, 20, 20])
    z = np.repeat([0, 1, 2, 3], [80, 20, 20, 20])  # 2 and 3 are one group, 0 and 1 hold two each
    z[truth >= 4] = 2 + np.arange(40) % 2
    halves = 2 * z + np.isin(truth, (1, 3))
    halves[z >= 2] = 2 * z[z >= 2]
    model = BlockModel.of([planted(truth, 0.6, 0.02)], [1.0], 4)
    split = {price: searched(model, label_cost=price).split_and_merge(z, halves)[0] for price in (0.0, 2.0)}
    assert len(np.unique(split[0.0][:80])) == 2
    assert len(np.unique(split[2.0][:80])) == 1
    assert len(np.unique(split[2.0][80:100])) == 2


@pytest.mark.parametrize("seed", range(6))
def test_splits_with_mergers_keep_every_cluster(seed):
    n, c = 50, 5
    rng = np.random.default_rng(seed)
    model = BlockModel.of([random_graph(n, 0.2, seed)], [1.0], c)
    z = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    halves = model.halve(z, rng.standard_normal((n, 4)))
    halves[z == 0] = 0  # a cluster in one piece cannot be split
    proposals = searched(model, proposals=100, worst_loss=10.0).split_and_merge(z, halves)
    assert len(proposals) > 3
    for proposal in proposals:
        assert np.unique(proposal).tolist() == list(range(c))
        assert not np.array_equal(proposal, z)


def test_the_proposal_undoes_a_wrong_merger():
    truth = np.repeat(np.arange(4), 20)
    F = np.eye(4)[truth] + 0.05 * np.random.default_rng(0).standard_normal((80, 4))
    model = searched(BlockModel.of([planted(truth, 0.5, 0.05)], [1.0], 4), label_cost=0.0)
    wrong = np.repeat([0, 1, 2, 2], 20)
    wrong[:10] = 3  # cluster 0 is cut up, 2 holds two
    proposals = model.split_and_merge(wrong, model.halve(wrong, F))
    assert adjusted_rand_index(truth, proposals[0]) == 1
    assert adjusted_rand_index(truth, model.fit([wrong], F)[0]) == 1


def test_nothing_can_be_split_where_every_cluster_is_one_sample():
    model = BlockModel.of([random_graph(4, 1.0)], [1.0], 4)
    assert model.split_and_merge(np.arange(4), 2 * np.arange(4)) == []
    np.testing.assert_array_equal(model.fit([np.arange(4)], np.eye(4))[0], np.arange(4))


# The whole ---------------------------------------------------------------------------------------


def best_fit(layers, c):
    """Start from the spectral cuts of each layer and of their sum, as OCBR does."""
    graphs = [*layers, sp.csr_array(sum(layers))]
    embeddings = [spectral_embedding(W, c, 1.0)[1] for W in graphs]
    starts = [pivoted_kmeans(unit_length_rows(F), c) for F in embeddings]
    return BlockModel.of(layers, [1.0] * len(layers), c).fit(starts, embeddings[-1])


def test_layers_that_are_each_blind_to_a_pair_of_clusters_together_tell_all():
    truth = np.repeat(np.arange(4), 30)
    layers = [planted(truth, 0.7, 0.02, blind=(0, 1)), planted(truth, 0.7, 0.02, blind=(2, 3), seed=1)]
    for layer in layers:
        assert adjusted_rand_index(truth, best_fit([layer], 4)[0]) < 0.9
    z, search = best_fit(layers, 4)
    assert adjusted_rand_index(truth, z) == 1
    assert search.objective == pytest.approx(BlockModel.of(layers, [1.0, 1.0], 4).evaluate(truth)[0])
    assert search.runner_up <= search.objective


def test_a_layer_of_noise_tells_nothing_and_does_no_harm():
    truth = np.repeat(np.arange(3), 60)
    layers = [planted(truth, 0.3, 0.03), planted(truth, 0.15, 0.15, seed=1)]
    z, _ = best_fit(layers, 3)
    assert adjusted_rand_index(truth, z) == 1
    signal, noise = BlockModel.of(layers, [1.0, 1.0], 3).information(z)
    assert noise < 0.01 < 0.3 < signal


def test_unequal_clusters_and_degrees_are_found():
    truth = np.repeat(np.arange(3), (80, 30, 12))
    W = normalized_adjacency(planted(truth, 0.6, 0.01))  # as many links for each sample, as among neighbours
    hubs = sp.diags_array(np.where(np.arange(len(truth)) % 5 == 0, 3.0, 1.0))
    assert adjusted_rand_index(truth, best_fit([W], 3)[0]) == 1
    assert adjusted_rand_index(truth, best_fit([sp.csr_array(hubs @ W @ hubs)], 3)[0]) == 1


def test_without_another_partition_there_is_no_second_best():
    best = Ascent(np.array([0, 1, 1]), 2.0, sweeps=3, converged=True)
    other = Ascent(np.array([0, 0, 1]), 1.5, sweeps=2, converged=True)
    assert blockmodel._search(best, [best, best]).runner_up == -np.inf
    assert blockmodel._search(best, [best, other]).runner_up == 1.5


def test_an_ascent_that_is_cut_short_has_not_converged():
    truth = np.repeat(np.arange(3), 30)
    model = BlockModel.of([planted(truth, 0.3, 0.15)], [1.0], 3)
    start = np.random.default_rng(0).integers(0, 3, 90)
    whole = model.ascend(start)
    assert whole.converged
    assert whole.sweeps > 1
    short = searched(model, sweeps=1).ascend(start)
    assert (short.converged, short.sweeps) == (False, 1)
    assert model.evaluate(start)[0] < short.objective < whole.objective
