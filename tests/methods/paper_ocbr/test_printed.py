"""Algorithm 1 as printed: the vectorised updates say what the printed equations say, errors and all."""

import numpy as np
import pytest

from manyview.graphs.affinity import adaptive_graph
from manyview.graphs.laplacian import laplacian
from manyview.methods.paper_ocbr import printed
from manyview.methods.paper_ocbr.printed import View
from manyview.numerics.projections import project_orthonormal

LAM2, BETA, MU = 0.7, 0.25, 0.4
N, D, C = 9, 6, 3


@pytest.fixture
def view():
    rng = np.random.default_rng(0)
    state = View(rng.standard_normal((D, N)), project_orthonormal(rng.standard_normal((N, C))), np.zeros((D, N)))
    for name in ("E", "D", "G", "K1", "K2", "K3"):
        setattr(state, name, rng.standard_normal(getattr(state, name).shape))
    state.W = adaptive_graph(state.U, 3)
    return state


def test_rows_are_updated_by_the_printed_equation(view):
    rng = np.random.default_rng(1)
    others = rng.standard_normal((N, C))
    found = printed.update_rows(view, others, LAM2, BETA, MU)
    L, XtX = laplacian(view.W).toarray(), view.X.T @ view.X
    for row in range(N):
        R = (1 + MU + sum(LAM2 * L[k, row] - MU * XtX[k, row] for k in range(N))) * np.eye(C)
        T = view.X.T[row] @ view.K3 + MU * (view.G[row] - view.E.T[row] @ view.D) - view.K2[row]
        T = T - view.K1.T[row] @ view.D
        expected = (T + BETA * others[row]) @ np.linalg.inv(R + view.D.T @ view.D)
        np.testing.assert_allclose(found[row], expected, atol=1e-8)


def test_the_graph_term_disappears_from_the_printed_row_update(view):
    """Erratum 2: the columns of a Laplacian sum to 0, so lambda_2 has no effect."""
    others = np.zeros((N, C))
    with_graph = printed.update_rows(view, others, LAM2, BETA, MU)
    np.testing.assert_allclose(with_graph, printed.update_rows(view, others, 0.0, BETA, MU), atol=1e-10)


def test_the_printed_sign_loses_negative_errors():
    """Erratum 6: the sign is printed as 0 for negative entries."""
    found = printed.positive_soft_threshold(np.array([-3.0, -0.5, 0.5, 3.0]), 1.0)
    np.testing.assert_array_equal(found, [0, 0, 0, 2])


def test_D_is_updated_by_the_printed_equation(view):
    U = view.U
    expected = (view.K1 @ U - view.K3 + MU * (2 * view.X - view.E) @ U) @ np.linalg.inv(np.eye(C) + U.T @ U) / MU
    np.testing.assert_allclose(printed.update_D(view, MU), expected, atol=1e-10)
