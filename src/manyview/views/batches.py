"""Batches of samples, as users give them: one value per sample."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyview.checks import InputError, InputTypeError, a_type_of, quoted
from manyview.typing import Indices


def batch_codes(batch: Any, n_samples: int, name: str = "batch", ids: NDArray[Any] | None = None) -> Indices:
    """Return batches (any hashable values, one per sample) as numbers from 0; raise if they cannot be used.

    Parameters
    ----------
    batch : array-like (n_samples,)
        One value per sample; None, NaN and other missing values are refused.
    n_samples : int
        The expected number of values.
    name : str
        The name used in error messages.
    ids : array (n_samples,), optional
        Sample ids, for error messages.
    """
    values = _values(batch, name)
    if len(values) != n_samples:
        raise InputError(f"{name} has {len(values)} values for {n_samples} samples; give one per sample.")
    missing = [i for i, value in enumerate(values) if _is_missing(value)]
    if missing:
        first = f"the first at index {missing[0]}" if ids is None else f"such as {str(ids[missing[0]])!r}"
        raise InputError(
            f"{name} is missing for {len(missing)} of {n_samples} samples, {first}; "
            "fill it in, or remove these samples."
        )
    known: dict[Hashable, int] = {}
    codes = np.array([known.setdefault(value, len(known)) for value in values], dtype=np.intp)
    _check_sizes(list(known), np.bincount(codes), name)
    return codes


def _values(batch: Any, name: str) -> list[Hashable]:
    if isinstance(batch, str) or not isinstance(batch, Iterable):
        raise InputTypeError(f"{name}={batch!r} is {a_type_of(batch)}; give a list with one value per sample.")
    values = batch.tolist() if isinstance(batch, np.ndarray) else list(batch)
    odd = next((value for value in values if not isinstance(value, Hashable)), None)
    if odd is not None:
        raise InputTypeError(f"{name} contains {a_type_of(odd)}; give one number or string per sample.")
    return values


def _is_missing(value: Any) -> bool:
    """Recognise None, NaN, and pandas' NaT and NA, without importing pandas."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _check_sizes(values: list[Hashable], sizes: Indices, name: str) -> None:
    if len(sizes) < 2:
        raise InputError(f"{name} has {len(sizes)} batch; give at least two, or none at all.")
    alone = sorted(str(value) for value, size in zip(values, sizes, strict=True) if size == 1)
    if len(alone) == 1:
        raise InputError(
            f"The batch {quoted(alone)} in {name} has one sample; merge it with another batch, or remove it."
        )
    if alone:
        raise InputError(
            f"The batches {quoted(alone)} in {name} have one sample each; merge them with others, or remove them."
        )
