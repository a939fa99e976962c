"""Products and order of the rows of tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from manyview.typing import Dense, Indices


def row_products(A: Dense, B: Dense) -> Dense:
    """Return the scalar product of each row of A with that of B; of A with itself, the squared lengths."""
    products: Dense = np.einsum("ij,ij->i", A, B)
    return products


def column_products(A: Dense, B: Dense) -> Dense:
    """Return the scalar product of each column of A with that of B."""
    products: Dense = np.einsum("ij,ij->j", A, B)
    return products


def ascending(values: Any) -> Indices:
    """Return the order that sorts values, or each row of a table; equal ones stay in the order they have."""
    return np.argsort(values, kind="stable")
