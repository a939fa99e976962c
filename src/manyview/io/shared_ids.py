"""Sample ids without a telling name: a column that shares its values with a column, or the ids, of another file."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from manyview.io.frames import can_name_samples, normalize_ids, take_ids
from manyview.io.raw_tables import RawTable

LEAST_SHARED = 0.5  # of the values of the shorter column
FEWEST_NUMBERS = 5  # whole numbers must share this many values; a few can agree by chance
MOST_FILLED = 0.1  # of the range of whole numbers; features under other names agree by chance if they fill more


@dataclass(frozen=True)
class _Column:
    """A column that can be ids: its position in its table, its name, and its values as ids."""

    at: int
    name: str
    values: frozenset[str]


def find_shared_ids(tables: Sequence[RawTable], known: Any = None) -> list[RawTable]:
    """Give ids to tables without any, if a column has the same unique texts or whole numbers as another table.

    Columns are compared if they have the same name, if both come first, or if they are texts or widely scattered
    numbers, which do not agree by chance. `known` are ids from elsewhere.
    """
    ids = [frozenset(normalize_ids(table.ids)) for table in tables if table.ids is not None]
    ids += [] if known is None else [frozenset(normalize_ids(known))]
    candidates = [_candidates(table) for table in tables]
    found = [
        next((column for column in columns if _is_shared(column, ids, candidates[:i] + candidates[i + 1 :])), None)
        for i, columns in enumerate(candidates)
    ]
    _tell([f"{column.name!r} of {table.where}" for table, column in zip(tables, found, strict=True) if column])
    return [
        table if column is None else take_ids(table, column.at) for table, column in zip(tables, found, strict=True)
    ]


def _tell(columns: list[str]) -> None:
    if not columns:
        return
    said = "has the values of the sample ids, and was" if len(columns) == 1 else "have the same values, and were"
    warnings.warn(
        f"{' and '.join(columns)} {said} taken for sample ids. If this is wrong, set --id-column to "
        "another column, or to none.",
        stacklevel=4,
    )


def _candidates(table: RawTable) -> list[_Column]:
    frame = table.values
    if table.ids is not None or not isinstance(frame, pd.DataFrame) or frame.shape[1] < 2:
        return []
    return [
        _Column(i, str(name), frozenset(normalize_ids(frame.iloc[:, i])))
        for i, name in enumerate(frame.columns)
        if can_name_samples(frame.iloc[:, i]) and frame.iloc[:, i].is_unique
    ]


def _is_shared(column: _Column, ids: list[frozenset[str]], others: list[list[_Column]]) -> bool:
    """Return whether some ids, or a column of another table, have the same values."""
    telling = _is_scattered(column.values)
    columns = (c for group in others for c in group)
    alike = (c.values for c in columns if telling or column.name == c.name or column.at == c.at == 0)
    return any(_share(column.values, values) for values in (*ids, *alike))


def _is_scattered(values: frozenset[str]) -> bool:
    """Return whether the values are texts, or numbers with wide gaps."""
    if not _are_numbers(values):
        return True
    numbers = [float(value) for value in values]
    return len(numbers) <= MOST_FILLED * (max(numbers) - min(numbers))


def _share(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = one & other
    enough = len(shared) >= FEWEST_NUMBERS or not _are_numbers(shared)
    return enough and len(shared) >= LEAST_SHARED * min(len(one), len(other))


def _are_numbers(values: frozenset[str]) -> bool:
    return all(value.lstrip("+-").isdecimal() for value in values)
