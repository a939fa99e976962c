"""Systems of linear equations whose matrix is known only through products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from manyview.numerics.rows import column_products
from manyview.typing import Dense


def conjugate_gradients(
    matvec: Callable[[Dense], Dense], B: Dense, *, start: Dense, tol: float = 1e-6, max_iter: int = 200
) -> Dense:
    """Solve the symmetric positive definite systems ``matvec(X) = B``, one per column, all at once.

    `matvec` acts on each column separately (and may differ from column to column). Stops when the residual of every
    column is at most `tol` times the length of its right-hand side.
    """
    X = start
    R = B - matvec(X)
    P = R
    square = column_products(R, R)
    goal = tol**2 * column_products(B, B)
    for _ in range(max_iter):
        if np.all(square <= goal):
            break
        AP = matvec(P)
        curvature = column_products(P, AP)
        step = np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0)
        X = X + P * step
        R = R - AP * step
        fresh = column_products(R, R)
        P = R + P * np.divide(fresh, square, out=np.zeros_like(square), where=square > 0)
        square = fresh
    return X
