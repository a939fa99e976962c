"""`check_views`: the one check that every input passes through."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyview.checks import InputError, quoted
from manyview.typing import Array, is_sparse
from manyview.views.container import Views


def check_views(data: object, *, allow_empty: bool = False) -> Views:
    """Return `data` as `Views` of numbers, NaN where missing, each sample present somewhere, or raise `InputError`.

    A view without any samples is refused as well, unless `allow_empty`.

    Parameters
    ----------
    data : as for `fit`
        Tables, or a collection of them.
    allow_empty : bool, default=False
        Accept views without any samples, as `predict` does.
    """
    views = data if isinstance(data, Views) else Views(data)
    if views.n_samples == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape={views.arrays[0].shape}) while a minimum of 1 is required."
        )
    incomplete = False
    for i, name in enumerate(views.names):
        incomplete |= _check_values(views.arrays[i], name, views.feature_names[i])
    if incomplete:
        _check_present(views, allow_empty)
    return views


def _check_values(array: Array, name: str, feature_names: NDArray[Any] | None) -> bool:
    """Refuse infinities; return whether values are missing."""
    stored = array.data if is_sparse(array) else array
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(stored.sum(dtype=np.float64)):  # one cheap pass settles the usual case
            return False
    infinite = np.isinf(stored)
    if infinite.any():
        columns = array.indices[infinite] if is_sparse(array) else np.nonzero(infinite)[1]
        first = int(columns.min())
        label = first if feature_names is None else f"{feature_names[first]!r}"
        raise InputError(
            f"View {name!r} contains {int(infinite.sum())} infinity values in {len(np.unique(columns))} column(s), "
            f"the first in column {label}. Replace them before clustering, by NaN if the value is unknown."
        )
    return bool(np.isnan(stored).any())


def _check_present(views: Views, allow_empty: bool) -> None:
    present = views.present
    empty = [name for i, name in enumerate(views.names) if not present[:, i].any()]
    if empty and not allow_empty:
        raise InputError(f"View {quoted(empty)} contains only NaN. Remove this view.")
    nowhere = np.flatnonzero(~present.any(axis=1))
    if len(nowhere):
        which = nowhere if views.sample_ids is None else views.sample_ids[nowhere]
        raise InputError(
            f"{len(nowhere)} sample(s) have no value in any view: {quoted(which)}. Remove them: nothing is known "
            "about them."
        )
