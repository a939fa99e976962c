"""RMSC: the optimum is that of a generic solver, and the estimator finds clusters."""

import numpy as np
import pytest

from manyview import RMSC, InputError, adjusted_rand_index
from manyview.graphs.affinity import local_scaling_graph
from manyview.methods.lowrank import transition


@pytest.mark.parametrize("weight", [0.3, 1.0])
def test_the_optimum_over_transitions_is_that_of_a_generic_solver(weight, tables):
    cp = pytest.importorskip("cvxpy")
    lam = weight / np.sqrt(24)
    P_v = [transition.transition_matrix(local_scaling_graph(X, 23)) for X in tables]
    P = cp.Variable((24, 24))
    cost = cp.normNuc(P) + lam * sum(cp.sum(cp.abs(Pv - P)) for Pv in P_v)
    best = cp.Problem(cp.Minimize(cost), [P >= 0, cp.sum(P, axis=1) == 1]).solve(solver="CLARABEL")
    state = transition.initial_state(P_v)
    for _ in range(3000):
        gaps = transition.sweep(P_v, state, lam)
    assert gaps["residual"] < 1e-4
    np.testing.assert_allclose(state.P.sum(axis=1), 1, rtol=1e-10)
    assert state.P.min() >= 0
    assert transition.objective(state.P, [Pv - state.P for Pv in P_v], lam) == pytest.approx(best, rel=1e-3)


def test_the_clusters_are_found(blobs):
    model = RMSC(3).fit([X.astype(np.float32) for X in blobs.views.arrays])
    assert adjusted_rand_index(blobs.labels, model.labels_) == 1
    assert model.converged_
    assert model.representation_.shape == (60, 60)
    np.testing.assert_allclose(model.representation_.sum(axis=1), 1, rtol=1e-4)
    assert (model.embedding_.dtype, model.affinity_.dtype) == (np.float32, np.float32)


def test_what_does_not_fit_in_memory_is_refused(blobs):
    with pytest.raises(InputError, match=r"n_samples=60 needs about .* GB.*max_memory=1e-06.*Cluster fewer"):
        RMSC(3, max_memory=1e-6).fit(blobs.views)


def test_the_users_own_affinities_can_be_taken(blobs):
    affinities = [np.asarray(local_scaling_graph(X, len(X) - 1).toarray()) for X in blobs.views.arrays]
    given = RMSC(3, affinity="precomputed").fit(affinities)
    built = RMSC(3, scaling="none").fit(blobs.views)
    np.testing.assert_allclose(given.representation_, built.representation_, atol=1e-8)
    assert adjusted_rand_index(blobs.labels, given.labels_) == 1
    assert set(given.scaling_.values()) == {"none"}
