"""Bringing views to a common scale before they are compared.

Dense features are standardised. Sparse views (counts, text) keep their zeros: each row is scaled
to the same length, so that distances compare directions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from manyview.checks import InputError, check_choice, quoted
from manyview.views import Array, Views

Scaling: TypeAlias = str | Mapping[str, str] | Sequence[str]
SCALINGS = ("auto", "standard", "unit", "none")


def scale_views(views: Views, scaling: Scaling = "auto") -> tuple[list[Array], dict[str, str]]:
    """Scale every view; also return which way was used for each, by name.

    Parameters
    ----------
    views : Views
    scaling : {"auto", "standard", "unit", "none"}, or one of these per view (mapping by name, or sequence)
        "auto" is "unit" for sparse views (see `is_sparse_view`) and "standard" for the others.
    """
    chosen = _one_per_view(views, scaling)
    used = {name: resolve_scaling(X, chosen[name]) for name, X in views.items()}
    return [SCALE[used[name]](X) for name, X in views.items()], used


def resolve_scaling(X: Array, scaling: str) -> str:
    """Turn "auto" into the scaling that fits this view."""
    check_choice("scaling", scaling, SCALINGS)
    if scaling == "auto":
        return "unit" if is_sparse_view(X) else "standard"
    return scaling


def is_sparse_view(X: Array) -> bool:
    """Whether a view is sparse data such as counts or text: a scipy sparse matrix, or mostly zeros."""
    return sp.issparse(X) or np.count_nonzero(X) < 0.5 * X.size


def standardize(X: Array) -> Array:
    """Centre each column and divide it by its standard deviation; constant columns become 0.

    Columns are first divided by their largest magnitude, so that squares of huge (1e300) or tiny
    values neither overflow nor vanish.
    """
    if sp.issparse(X):
        raise InputError(
            "scaling='standard' would fill in the zeros of a scipy sparse view; use scaling='unit', or pass "
            "the view as a dense array."
        )
    largest = np.abs(X).max(axis=0)
    Y = X / np.where(largest > 0, largest, 1)
    Y -= Y.mean(axis=0)
    sd = Y.std(axis=0)
    varies = sd > 10 * np.finfo(Y.dtype).eps
    Y *= np.where(varies, 1 / np.where(varies, sd, 1), 0).astype(Y.dtype)
    return Y


def unit_rows(X: Array) -> Array:
    """Scale each row to length sqrt(d); zero rows stay zero.

    A standardised row has this length on average, so views scaled in the two ways can be laid side by side.
    """
    magnitude = abs(X).max(axis=1)
    largest = magnitude.toarray().ravel() if sp.issparse(magnitude) else magnitude
    Y = _divide_rows(X, largest)
    squares = Y.power(2).sum(axis=1) if sp.issparse(Y) else np.einsum("ij,ij->i", Y, Y)
    return _divide_rows(Y, np.sqrt(np.asarray(squares).ravel() / X.shape[1]))


def _divide_rows(X: Array, lengths: Array) -> Array:
    divisor = np.where(lengths > 0, lengths, 1).astype(X.dtype)
    if sp.issparse(X):
        return sp.csr_array((X.data / np.repeat(divisor, np.diff(X.indptr)), X.indices, X.indptr), X.shape)
    return X / divisor[:, None]


SCALE = {"standard": standardize, "unit": unit_rows, "none": lambda X: X}


def _one_per_view(views: Views, scaling: Scaling) -> dict[str, str]:
    if isinstance(scaling, str):
        return dict.fromkeys(views.names, scaling)
    if isinstance(scaling, Mapping):
        unknown = [name for name in scaling if name not in views.names]
        if unknown:
            raise InputError(f"scaling names no view {quoted(unknown)}; the views are {quoted(views.names)}.")
        return {name: scaling.get(name, "auto") for name in views.names}
    if len(scaling) != views.n_views:
        raise InputError(f"scaling has {len(scaling)} entries for {views.n_views} views; give one per view.")
    return dict(zip(views.names, scaling, strict=True))
