"""The types that annotations share: arrays, sparse graphs, seeds."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Dense: TypeAlias = NDArray[np.floating[Any]]
"""A dense array of floating-point numbers."""

Array: TypeAlias = Dense | sp.csr_array
"""A dense 2-D floating-point array or a scipy CSR array: what the gate lets through."""

Graph: TypeAlias = sp.csr_array
"""A symmetric, non-negative affinity (n x n) with an empty diagonal."""

Indices: TypeAlias = NDArray[np.integer[Any]]
Labels: TypeAlias = NDArray[np.integer[Any]]
Mask: TypeAlias = NDArray[np.bool_]

Seed: TypeAlias = int | np.random.RandomState | None
"""What scikit-learn accepts as random_state."""


def is_sparse(table: object) -> TypeGuard[Any]:
    """Return whether a table is a scipy sparse matrix or array, in a form that the type checker understands."""
    return bool(sp.issparse(table))
