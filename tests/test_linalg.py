import tracemalloc

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from manyview import linalg
from manyview.graph import normalized_adjacency
from manyview.linalg import (
    conjugate_gradients,
    economical_svd,
    fix_signs,
    orthonormal_columns,
    procrustes,
    project_nonnegative,
    project_orthonormal,
    project_simplex,
    singular_value_threshold,
    soft_threshold,
    top_eigenvectors,
)

numbers = st.floats(-100, 100, allow_nan=False)
thresholds = st.floats(0, 50)
matrices = arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=numbers)
matrix_pairs = array_shapes(min_dims=2, max_dims=2, max_side=6).flatmap(
    lambda shape: st.tuples(arrays(float, shape, elements=numbers), arrays(float, shape, elements=numbers))
)
SHAPES = [(5, 5), (4, 60), (60, 4), (1, 7), (7, 1), (9, 6)]

PROXIMAL_MAPS = {
    "soft_threshold": (soft_threshold, lambda Z: np.abs(Z).sum()),
    "singular_value_threshold": (singular_value_threshold, lambda Z: np.linalg.norm(Z, "nuc")),
}
PROJECTIONS = {"simplex": project_simplex, "nonnegative": project_nonnegative}


# Proximal maps -----------------------------------------------------------------------------------


@given(matrices, thresholds)
def test_soft_threshold_is_its_closed_form(A, t):
    np.testing.assert_allclose(soft_threshold(A, t), np.sign(A) * np.maximum(np.abs(A) - t, 0), atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_economical_svd_agrees_with_scipy(shape, rng):
    A = rng.standard_normal(shape)
    P, s, Qt = economical_svd(A)
    r = min(shape)
    assert (P.shape, s.shape, Qt.shape) == ((shape[0], r), (r,), (r, shape[1]))
    np.testing.assert_allclose(s, scipy.linalg.svdvals(A), atol=1e-12)
    np.testing.assert_allclose((P * s) @ Qt, A, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_singular_value_threshold_shrinks_the_singular_values_and_keeps_the_vectors(shape, rng):
    A = rng.standard_normal(shape)
    P, s, Qt = scipy.linalg.svd(A, full_matrices=False)
    t = float(np.median(s)) * 0.9
    np.testing.assert_allclose(singular_value_threshold(A, t), P @ np.diag(np.maximum(s - t, 0)) @ Qt, atol=1e-11)


def test_singular_value_threshold_above_the_norm_gives_zero(rng):
    A = rng.standard_normal((4, 30))
    assert not singular_value_threshold(A, 1.001 * np.linalg.norm(A, 2)).any()


def test_svd_falls_back_when_divide_and_conquer_fails(monkeypatch, rng):
    svd = scipy.linalg.svd

    def fails(A, **options):
        if options.get("lapack_driver") != "gesvd":
            raise np.linalg.LinAlgError
        return svd(A, **options)

    monkeypatch.setattr(scipy.linalg, "svd", fails)
    A = rng.standard_normal((6, 5))
    P, s, Qt = economical_svd(A)
    np.testing.assert_allclose((P * s) @ Qt, A, atol=1e-12)


@pytest.mark.parametrize("name", PROXIMAL_MAPS)
@pytest.mark.parametrize("shape", SHAPES)
def test_proximal_map_beats_every_perturbation(name, shape, rng):
    prox, penalty = PROXIMAL_MAPS[name]
    A, t = rng.standard_normal(shape), 0.7

    def objective(Z):
        return t * penalty(Z) + 0.5 * np.sum((Z - A) ** 2)

    best = prox(A, t)
    for size in (1e-4, 1e-2, 1):
        for _ in range(10):
            assert objective(best) <= objective(best + size * rng.standard_normal(shape)) + 1e-12
    assert objective(best) <= objective(np.zeros(shape)) + 1e-12


@pytest.mark.parametrize("name", PROXIMAL_MAPS)
@given(matrix_pairs, thresholds)
def test_proximal_map_is_nonexpansive(name, pair, t):
    prox, _ = PROXIMAL_MAPS[name]
    A, B = pair
    assert np.linalg.norm(prox(A, t) - prox(B, t)) <= np.linalg.norm(A - B) + 1e-8


# Projections -------------------------------------------------------------------------------------


@given(matrices)
def test_simplex_projection_is_feasible(A):
    W = project_simplex(A)
    assert (W >= 0).all()
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("name", PROJECTIONS)
@given(matrices)
def test_projection_is_idempotent(name, A):
    project = PROJECTIONS[name]
    np.testing.assert_allclose(project(project(A)), project(A), atol=1e-12)


@pytest.mark.parametrize("name", PROJECTIONS)
@given(matrix_pairs)
def test_projection_is_nonexpansive(name, pair):
    project = PROJECTIONS[name]
    assert np.linalg.norm(project(pair[0]) - project(pair[1])) <= np.linalg.norm(pair[0] - pair[1]) + 1e-9


@given(matrices, numbers)
def test_simplex_projection_ignores_a_shift(A, shift):
    np.testing.assert_allclose(project_simplex(A + shift), project_simplex(A), atol=1e-10)


@given(arrays(float, st.integers(1, 8), elements=numbers))
def test_simplex_projection_satisfies_the_optimality_conditions(v):
    w = project_simplex(v)
    theta = np.max(v - w)  # v - w = theta on the support, and v <= theta off it
    np.testing.assert_allclose((v - w)[w > 1e-9], theta, atol=1e-9)


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


@pytest.mark.parametrize("huge", [1e17, 1e20, 1e300])
def test_simplex_projection_of_huge_values_picks_the_largest(huge):
    np.testing.assert_array_equal(project_simplex(np.array([0.0, huge, -huge])), [0, 1, 0])
    np.testing.assert_array_equal(project_simplex(np.array([huge, huge])), [0.5, 0.5])


@given(matrices)
def test_nonnegative_projection_is_the_positive_part(A):
    np.testing.assert_array_equal(project_nonnegative(A), np.where(A > 0, A, 0))


@pytest.mark.parametrize("shape", [(6, 6), (40, 3), (5, 1)])
def test_orthonormal_projection_is_the_polar_factor_and_idempotent(shape, rng):
    A = rng.standard_normal(shape)
    Q = project_orthonormal(A)
    np.testing.assert_allclose(Q.T @ Q, np.eye(shape[1]), atol=1e-12)
    np.testing.assert_allclose(Q, scipy.linalg.polar(A)[0], atol=1e-10)
    np.testing.assert_allclose(project_orthonormal(Q), Q, atol=1e-12)


@pytest.mark.parametrize("shape", [(6, 6), (20, 3)])
def test_orthonormal_projection_beats_other_orthonormal_matrices(shape, rng):
    A = rng.standard_normal(shape)
    Q = project_orthonormal(A)
    for size in (1e-3, 0.1, 10):
        for _ in range(20):
            other, _ = np.linalg.qr(Q + size * rng.standard_normal(shape))
            other = fix_columns(other, Q)
            assert np.linalg.norm(Q - A) <= np.linalg.norm(other - A) + 1e-12


def fix_columns(A, like):
    return A * np.where((A * like).sum(axis=0) < 0, -1, 1)


def test_procrustes_finds_the_rotation_back(rng):
    A = rng.standard_normal((20, 4))
    rotation, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    np.testing.assert_allclose(procrustes(A, A @ rotation), rotation, atol=1e-12)


def test_procrustes_agrees_with_scipy_and_beats_random_rotations(rng):
    A, B = rng.standard_normal((2, 15, 4))
    Q = procrustes(A, B)
    np.testing.assert_allclose(Q, scipy.linalg.orthogonal_procrustes(A, B)[0], atol=1e-12)
    for _ in range(50):
        other, _ = np.linalg.qr(rng.standard_normal((4, 4)))
        assert np.linalg.norm(A @ Q - B) <= np.linalg.norm(A @ other - B)


@pytest.mark.parametrize(
    "kernel",
    [
        lambda A: soft_threshold(A, 0.5),
        lambda A: singular_value_threshold(A, 0.5),
        project_simplex,
        project_nonnegative,
        project_orthonormal,
    ],
)
def test_kernels_keep_float32_and_leave_their_input_alone(kernel, rng):
    A = rng.standard_normal((9, 4)).astype(np.float32)
    before = A.copy()
    assert kernel(A).dtype == np.float32
    np.testing.assert_array_equal(A, before)


def span(A):
    return A @ np.linalg.pinv(A)


@pytest.mark.parametrize(
    "A",
    [
        np.random.default_rng(0).standard_normal((20, 4)),
        np.random.default_rng(1).standard_normal((20, 4)) * [1e-150, 1, 1e150, 7],
        np.linalg.qr(np.random.default_rng(2).standard_normal((9, 3)))[0],
        np.vander(np.linspace(1, 2, 15), 4),  # nearly dependent columns: QR takes over
        np.ones((5, 1)),
    ],
    ids=["random", "all magnitudes", "orthonormal", "ill conditioned", "one column"],
)
def test_orthonormal_columns_span_what_they_did(A):
    before = A.copy()
    U = orthonormal_columns(A)
    np.testing.assert_allclose(U.T @ U, np.eye(A.shape[1]), atol=1e-12)
    np.testing.assert_allclose(span(U), span(A / np.linalg.norm(A, axis=0)), atol=1e-9)
    np.testing.assert_array_equal(A, before)


@pytest.mark.parametrize("A", [np.zeros((6, 3)), np.eye(6, 3) * [1, 0, 1], np.ones((6, 3))], ids=["0", "column", "1"])
def test_orthonormal_columns_of_too_low_a_rank_are_orthonormal_all_the_same(A):
    U = orthonormal_columns(A)
    np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(U @ (U.T @ A), A, atol=1e-12)


def test_columns_of_any_length_come_to_the_nearest_orthonormal_ones(rng):
    A = np.linalg.qr(rng.standard_normal((30, 5)))[0] + 0.05 * rng.standard_normal((30, 5))
    lengths = [1, 10, 0.1, 3, 1e-5]
    expected = project_orthonormal(A / np.linalg.norm(A, axis=0))
    np.testing.assert_allclose(orthonormal_columns(A * lengths), expected, atol=1e-12)
    assert orthonormal_columns(A.astype(np.float32)).dtype == np.float32


# Linear systems ----------------------------------------------------------------------------------


def positive_definite(n, condition, seed=0):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return (Q * np.geomspace(1, condition, n)) @ Q.T


@pytest.mark.parametrize("condition", [1, 10, 1e4])
def test_conjugate_gradients_agree_with_the_direct_solution(condition, rng):
    A, B = positive_definite(30, condition), rng.standard_normal((30, 4)) * [1, 1e-8, 1e8, 1]
    X = conjugate_gradients(lambda V: A @ V, B, start=np.zeros_like(B), tol=1e-10)
    assert (np.linalg.norm(A @ X - B, axis=0) <= 2e-10 * np.linalg.norm(B, axis=0)).all()
    np.testing.assert_allclose(X, np.linalg.solve(A, B), rtol=1e-5, atol=1e-8 * np.abs(X).max(axis=0).max())


def test_each_column_may_have_a_matrix_of_its_own(rng):
    A, B, shifts = positive_definite(12, 50), rng.standard_normal((12, 3)), np.array([0.0, 1.0, 100.0])
    X = conjugate_gradients(lambda V: A @ V + V * shifts, B, start=rng.standard_normal((12, 3)), tol=1e-12)
    for x, b, shift in zip(X.T, B.T, shifts, strict=True):
        np.testing.assert_allclose(x, np.linalg.solve(A + shift * np.eye(12), b), atol=1e-9)


def test_conjugate_gradients_end_after_as_many_steps_as_there_are_eigenvalues(rng):
    A = np.diag(np.repeat([1.0, 2.0, 5.0], 10))
    B = rng.standard_normal((30, 2))
    X = conjugate_gradients(lambda V: A @ V, B, start=np.zeros_like(B), tol=0, max_iter=3)
    np.testing.assert_allclose(A @ X, B, atol=1e-10)


def test_conjugate_gradients_stay_at_the_solution_and_leave_their_input_alone(rng):
    A, B = positive_definite(10, 5), rng.standard_normal((10, 2))
    start = np.linalg.solve(A, B)
    kept = start.copy(), B.copy()
    calls = []
    X = conjugate_gradients(lambda V: calls.append(1) or A @ V, B, start=start)
    assert len(calls) == 1
    for found, before in zip((X, B), kept, strict=True):
        np.testing.assert_array_equal(found, before)


def test_zero_right_hand_sides_give_zero(rng):
    A, B = positive_definite(10, 5), rng.standard_normal((10, 2)) * [1, 0]
    X = conjugate_gradients(lambda V: A @ V, B, start=np.zeros_like(B))
    assert not X[:, 1].any()
    assert np.isfinite(X).all()
    assert conjugate_gradients(lambda V: V, B.astype(np.float32), start=np.zeros((10, 2), np.float32)).dtype == "f4"


# Eigenvectors ------------------------------------------------------------------------------------


def random_graph(n, density=0.1, seed=0):
    A = sp.random_array((n, n), density=density, rng=np.random.default_rng(seed), format="csr")
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
    w, v = linalg._lanczos(S, k, tol)
    best = np.argmax(w)
    return np.repeat(w[best], k), np.repeat(v[:, [best]], k, axis=1)


def misses_the_second(S, k, tol):
    w, v = np.linalg.eigh(S.toarray())
    keep = [-1, *range(-k - 1, -2)]
    return w[keep], v[:, keep]


WRONG_SOLVERS = [raises, gives_noise, gives_nan, repeats_one_vector, misses_the_second]


@pytest.mark.parametrize("wrong", WRONG_SOLVERS)
def test_a_wrong_solver_is_found_out_and_replaced_by_the_next(wrong, monkeypatch):
    monkeypatch.setattr(linalg, "_SOLVERS", (wrong, linalg._lanczos))
    S = graph("random")
    assert_top_eigenvectors(S, 4, *top_eigenvectors(S, 4))


@pytest.mark.parametrize("wrong", WRONG_SOLVERS)
def test_when_all_solvers_fail_the_error_gives_the_figures(wrong, monkeypatch):
    monkeypatch.setattr(linalg, "_SOLVERS", (wrong,))
    with pytest.raises(np.linalg.LinAlgError, match=r"residual 1e-08 for 4 eigenvectors of a 150 x 150 graph \(last: "):
        top_eigenvectors(graph("random"), 4)


@pytest.mark.parametrize("solver", linalg._SOLVERS)
@pytest.mark.parametrize("name", ["random", "torus"])
def test_every_solver_does_alone(solver, name, monkeypatch):
    monkeypatch.setattr(linalg, "_SOLVERS", (solver,))
    S = graph(name)
    assert_top_eigenvectors(S, 2, *top_eigenvectors(S, 2))


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
    blocks = [random_graph(10_000, 0.0015, seed) for seed in (0, 1)]
    S = normalized_adjacency(sp.csr_array(sp.block_diag(blocks)))
    tracemalloc.start()
    values, vectors = top_eigenvectors(S, 2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_allclose(values, 1, atol=1e-8)
    assert vectors.shape == (20_000, 2)
    assert peak < 200e6  # the dense matrix has 3200e6 bytes
