"""Eigenvectors: against dense solvers, and what happens when a solver is wrong."""

import tracemalloc

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError

from helpers.sparse_tables import random_table
from manyview.graphs.laplacian import normalized_adjacency
from manyview.numerics import eigenvectors
from manyview.numerics.eigenvectors import fix_signs, top_eigenvectors
from manyview.numerics.projections import (
    project_simplex,
)


def test_simplex_projection_agrees_with_a_general_solver(rng):
    for v in rng.standard_normal((5, 6)):
        reference = scipy.optimize.minimize(
            lambda w, v=v: np.sum((w - v) ** 2),
            np.full(6, 1 / 6),
            bounds=[(0, None)] * 6,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            tol=1e-12,
        )
        np.testing.assert_allclose(project_simplex(v), reference.x, atol=1e-6)


def random_graph(n, density=0.1, seed=0):
    A = random_table(np.random.default_rng(seed), (n, n), density)
    return A + A.T


def ring(n):
    ones = np.ones(n)
    return sp.diags_array([ones[1:], ones[1:], [1.0], [1.0]], offsets=[1, -1, n - 1, 1 - n])


def hypercube(d):
    nodes = np.arange(2**d)
    ends = np.concatenate([nodes ^ (1 << bit) for bit in range(d)])
    return sp.csr_array((np.ones(len(ends)), (np.tile(nodes, d), ends)))


def multipartite(parts, size):
    return np.kron(1 - np.eye(parts), np.ones((size, size)))


def star(n):
    A = np.zeros((n, n))
    A[0, 1:] = A[1:, 0] = 1
    return A


GRAPHS = {
    "random": random_graph(150),
    "sparse random, in pieces": random_graph(200, 0.005),
    "ring": ring(100),
    "long ring": ring(250),
    "torus": sp.kron(ring(12), sp.eye_array(12)) + sp.kron(sp.eye_array(12), ring(12)),
    "hypercube": hypercube(7),
    "complete": np.ones((120, 120)) - np.eye(120),
    "bipartite": multipartite(2, 50),
    "multipartite": multipartite(4, 30),
    "star": star(120),
    "two components": sp.block_diag([random_graph(80), random_graph(60, seed=1)]),
    "identical components": sp.block_diag([random_graph(70)] * 3),
    "many components": sp.block_diag([np.ones((3, 3)) - np.eye(3)] * 40),
    "isolated samples": sp.block_diag([random_graph(60), sp.csr_array((25, 25))]),
    "no links": sp.csr_array((50, 50)),
}


def graph(name):
    return normalized_adjacency(sp.csr_array(GRAPHS[name], dtype=float))


def assert_top_eigenvectors(S, k, values, vectors):
    np.testing.assert_allclose(values, np.linalg.eigvalsh(S.toarray())[::-1][:k], atol=1e-7)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-8)
    np.testing.assert_allclose(S @ vectors, vectors * values, atol=1e-7)


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("name", GRAPHS)
def test_top_eigenvectors_agree_with_dense_eigh_and_repeat_bit_by_bit(name, k):
    S = graph(name)
    values, vectors = top_eigenvectors(S, k)
    assert_top_eigenvectors(S, k, values, vectors)
    again = top_eigenvectors(S, k)
    np.testing.assert_array_equal(values, again[0])
    np.testing.assert_array_equal(vectors, again[1])


@pytest.mark.parametrize("name", ["random", "ring", "many components", "isolated samples", "no links"])
def test_all_eigenvectors_can_be_had(name):
    S = graph(name)
    n = S.shape[0]
    assert_top_eigenvectors(S, n, *top_eigenvectors(S, n))


@pytest.mark.parametrize("name", ["random", "ring", "identical components"])
def test_largest_entry_of_each_eigenvector_is_positive(name):
    _, vectors = top_eigenvectors(graph(name), 4)
    largest = np.abs(vectors).argmax(axis=0)
    assert (vectors[largest, np.arange(4)] > 0).all()


def test_fix_signs_flips_columns_and_leaves_zeros():
    V = np.array([[-3.0, 1.0, 0.0], [2.0, 2.0, 0.0]])
    np.testing.assert_array_equal(fix_signs(V), [[3, 1, 0], [-2, 2, 0]])


def test_equal_eigenvalues_come_by_size_of_component():
    sizes = [3, 6, 4, 5]
    S = normalized_adjacency(sp.csr_array(sp.block_diag([np.ones((s, s)) - np.eye(s) for s in sizes])))
    _, vectors = top_eigenvectors(S, 3)
    assert np.count_nonzero(vectors, axis=0).tolist() == [6, 5, 4]


def test_one_by_one_matrix():
    values, vectors = top_eigenvectors(sp.csr_array([[0.5]]), 1)
    assert (values.tolist(), vectors.tolist()) == ([0.5], [[1.0]])


def raises(S, k, tol):
    raise np.linalg.LinAlgError


def gives_noise(S, k, tol):
    rng = np.random.default_rng(0)
    return rng.random(k), np.linalg.qr(rng.standard_normal((S.shape[0], k)))[0]


def gives_nan(S, k, tol):
    return np.full(k, np.nan), np.full((S.shape[0], k), np.nan)


def repeats_one_vector(S, k, tol):
    w, v = eigenvectors._lanczos(S, k, tol)
    best = np.argmax(w)
    return np.repeat(w[best], k), np.repeat(v[:, [best]], k, axis=1)


def misses_the_second(S, k, tol):
    w, v = np.linalg.eigh(S.toarray())
    keep = [-1, *range(-k - 1, -2)]
    return w[keep], v[:, keep]


WRONG_SOLVERS = [raises, gives_noise, gives_nan, repeats_one_vector, misses_the_second]


@pytest.mark.parametrize("wrong", WRONG_SOLVERS)
def test_a_wrong_solver_is_found_out_and_replaced_by_the_next(wrong, monkeypatch):
    monkeypatch.setattr(eigenvectors, "_SOLVERS", (wrong, eigenvectors._lanczos))
    S = graph("random")
    assert_top_eigenvectors(S, 4, *top_eigenvectors(S, 4))


def test_the_largest_eigenvalue_beside_the_found_vectors_is_compared(rng):
    """Beside means in the complement of the vectors, whether or not these are eigenvectors."""
    S = graph("random")
    v, _ = np.linalg.qr(rng.standard_normal((150, 3)))
    beside = np.eye(150) - v @ v.T
    largest = np.linalg.eigvalsh(beside @ S.toarray() @ beside)[-1]
    found = np.array([1.0, 1.0, largest])
    assert eigenvectors._missed_one(S, found - 0.02, v, 1e-6)
    assert not eigenvectors._missed_one(S, found + 0.02, v, 1e-6)


def test_vectors_are_kept_if_the_search_beside_them_fails(monkeypatch):
    """ARPACK gives up where nothing stands out, which proves nothing against the vectors."""

    def gives_up(*_args, **_kwargs):
        raise ArpackError(-9)

    def dense(S, k, tol):
        w, v = np.linalg.eigh(S.toarray())
        return w[-k:], v[:, -k:]

    monkeypatch.setattr(eigenvectors, "eigsh", gives_up)
    monkeypatch.setattr(eigenvectors, "_SOLVERS", (dense,))
    S = graph("random")
    assert_top_eigenvectors(S, 4, *top_eigenvectors(S, 4))


@pytest.mark.parametrize("wrong", WRONG_SOLVERS)
def test_when_all_solvers_fail_the_error_gives_the_figures(wrong, monkeypatch):
    monkeypatch.setattr(eigenvectors, "_SOLVERS", (wrong,))
    with pytest.raises(np.linalg.LinAlgError, match=r"residual 1e-08 for 4 eigenvectors of a 150 x 150 graph \(last: "):
        top_eigenvectors(graph("random"), 4)


@pytest.mark.parametrize("solver", eigenvectors._SOLVERS)
@pytest.mark.parametrize("name", ["random", "torus"])
def test_every_solver_does_alone(solver, name, monkeypatch):
    monkeypatch.setattr(eigenvectors, "_SOLVERS", (solver,))
    S = graph(name)
    assert_top_eigenvectors(S, 2, *top_eigenvectors(S, 2))


@pytest.mark.parametrize("solver", eigenvectors._SOLVERS)
@pytest.mark.parametrize("name", ["random", "long ring"])
def test_every_solver_reaches_the_residual_it_is_asked_for(solver, name):
    """A solver that misses it would go unnoticed: the next one takes over, at more cost."""
    S = graph(name)
    assert eigenvectors._error(S, *solver(S, 6, 1e-3)) < 1e-3


@pytest.mark.skipif(not eigenvectors._FIXED_RESTARTS, reason="before scipy 1.17, restarts cannot be fixed")
@pytest.mark.parametrize("solver", eigenvectors._SOLVERS)
@pytest.mark.parametrize("name", ["multipartite", "star"])
def test_every_solver_repeats_bit_by_bit_where_it_runs_out_of_directions(solver, name):
    S = graph(name)
    for one, other in zip(solver(S, 5, 1e-8), solver(S, 5, 1e-8), strict=True):
        np.testing.assert_array_equal(one, other)


def test_matrices_that_share_indices_with_the_input_are_left_alone(rng):
    """A normalised adjacency shares the index arrays of its graph, and scipy sorts indices in place."""
    W = random_graph(80, 0.2)
    columns = np.concatenate([rng.permutation(row) for row in np.split(W.indices, W.indptr[1:-1])])
    W = sp.csr_array((rng.random(W.nnz), columns, W.indptr), W.shape)
    W = sp.csr_array((W.data, W.indices, W.indptr), W.shape)
    before = W.toarray()
    S = sp.csr_array((W.data * 2, W.indices, W.indptr), W.shape)
    assert not S.has_sorted_indices
    top_eigenvectors(S, 3, tol=1e3)
    np.testing.assert_array_equal(W.toarray(), before)
    np.testing.assert_array_equal(S.toarray(), 2 * before)


def test_large_graphs_are_never_made_dense():
    blocks = [random_graph(3_000, 0.005, seed) for seed in (0, 1)]
    S = normalized_adjacency(sp.csr_array(sp.block_diag(blocks)))
    tracemalloc.start()
    values, vectors = top_eigenvectors(S, 2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_allclose(values, 1, atol=1e-8)
    assert vectors.shape == (6_000, 2)
    assert peak < 20e6  # one dense block has 72e6 bytes, the whole matrix 288e6


def test_each_solver_finds_the_largest_eigenvalues_not_those_of_the_largest_size():
    path = sp.diags_array([np.ones(39), np.ones(39)], offsets=[-1, 1], format="csr")  # its eigenvalues are symmetric
    S = sp.csr_array(path - sp.eye_array(40))  # now the most negative ones are larger in size
    expected = np.linalg.eigvalsh(S.toarray())[::-1][:3]
    for solver in eigenvectors._SOLVERS:
        np.testing.assert_allclose(np.sort(solver(S, 3, 1e-8)[0])[::-1], expected, atol=1e-5)


def test_large_graphs_are_solved_in_single_precision(monkeypatch):
    monkeypatch.setattr(eigenvectors, "SINGLE_FROM", 149)
    S = graph("random")
    values, vectors = top_eigenvectors(S, 4)
    assert values.dtype == vectors.dtype == np.float32
    np.testing.assert_allclose(values, np.linalg.eigvalsh(S.toarray())[::-1][:4], atol=1e-4)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-4)
    assert top_eigenvectors(graph("torus"), 4)[1].dtype == np.float64  # 144 samples


def test_where_single_precision_fails_double_precision_takes_over(monkeypatch):
    monkeypatch.setattr(eigenvectors, "SINGLE_FROM", 100)
    monkeypatch.setattr(eigenvectors, "_lanczos", gives_noise)
    S = graph("random")
    values, vectors = top_eigenvectors(S, 4)
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, np.linalg.eigvalsh(S.toarray())[::-1][:4], rtol=1e-10)  # S was not rounded
    np.testing.assert_allclose(S @ vectors, vectors * values, atol=1e-6)


def test_the_error_is_relative_to_the_eigenvalue_or_that_of_the_lengths():
    S = sp.diags_array([4.0, 1e-6, 2.0])
    v = np.array([[1.0, 0.0], [0.0, 1.0], [1e-3, 0.0]])
    residuals = [2e-3 / 4, 0.0]
    assert eigenvectors._error(S, np.array([4.0, 1e-6]), v) == pytest.approx(max(residuals))
    assert eigenvectors._error(S, np.array([4.0, 1e-5]), v) == pytest.approx(9e-6 / eigenvectors.SMALLEST_SIZE)
    assert eigenvectors._error(S, np.array([4.0, 1e-6]), 2 * v) == pytest.approx(3, rel=1e-3)


def test_an_eigenvalue_was_missed_if_it_is_larger_by_a_share_of_the_last():
    S, v = sp.diags_array([3.0, 0.9, 0.5, 0.1, -2.0]).tocsr(), np.eye(5)[:, [0, 2]]
    for last, margin, missed in ((0.5, 0.7, True), (0.5, 0.9, False), (0.5, 0.0, True), (-0.5, 2.0, True)):
        assert eigenvectors._missed_one(S, np.array([3.0, last]), v, margin) == missed


def test_components_come_by_size_each_with_its_samples_in_order(rng):
    member_of = rng.integers(0, 3, 400) ** 2  # many samples, so that a sort has ties to keep in order
    S = sp.csr_array((member_of[:, None] == member_of).astype(float))
    found = list(eigenvectors._components_by_size(S))
    assert [len(members) for members in found] == sorted(np.unique(member_of, return_counts=True)[1])[::-1]
    for members in found:
        np.testing.assert_array_equal(members, np.flatnonzero(member_of == member_of[members[0]]))
    (whole,) = eigenvectors._components_by_size(sp.csr_array(np.ones((5, 5))))
    np.testing.assert_array_equal(whole, np.arange(5))
