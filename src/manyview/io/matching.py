"""Bringing tables together: samples are matched by their ids; one that a table lacks is absent from it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from manyview.checks import InputError, quoted
from manyview.io.reading import Table
from manyview.typing import Array, Indices
from manyview.views.presence import spread_rows

Rows = Indices

N_SHOWN = 5


@dataclass(frozen=True)
class Absent:
    """Samples that a table lacks: how many, and the ids of the first."""

    count: int
    first: tuple[str, ...]

    def __str__(self) -> str:
        more = f" and {self.count - len(self.first)} more" if self.count > len(self.first) else ""
        return f"{self.count} ({quoted(self.first)}{more})"


def match(tables: Sequence[Table], keep: str) -> tuple[list[Array], NDArray[Any] | None, dict[str, Absent]]:
    """Return the values of all tables for the same samples, the samples' ids, and what each view lacks, by its name.

    `keep` is "all", where a sample that a table lacks is absent from its view, or "common", where it is left out.
    """
    named = [table for table in tables if table.ids is not None]
    if not named:
        _check_equal_lengths(tables)
        return [table.values for table in tables], None, {}
    ids = pd.unique(np.concatenate([table.ids for table in named]))
    _check_order_is_known(tables, named[0], len(ids))
    found = np.array([find_rows(table, ids, len(ids)) for table in tables])
    _check_overlap(tables, found, ids)
    lacking = [absent(rows, ids) for rows in found]
    unmatched = {table.name: some for table, some in zip(tables, lacking, strict=True) if some is not None}
    if keep == "common":
        everywhere = (found >= 0).all(axis=0)
        ids, found = ids[everywhere], found[:, everywhere]
        if len(ids) == 0:
            raise InputError(f"No sample is in all of the views {quoted(t.name for t in tables)}; keep all samples.")
    return [_take(table.values, rows) for table, rows in zip(tables, found, strict=True)], ids, unmatched


def find_rows(table: Table, ids: NDArray[Any] | None, n_samples: int) -> Rows:
    """Return the row of each sample in a table, -1 for those that it lacks; by position where there are no ids."""
    if ids is not None and table.ids is not None:
        return pd.Index(table.ids).get_indexer(pd.Index(ids))
    n_rows = table.values.shape[0]
    if n_rows != n_samples:
        raise InputError(
            f"{table.where} has {n_rows} rows, but there are {n_samples} samples, and no ids to match them by; give "
            "the same samples, or ids everywhere."
        )
    if ids is not None:
        warnings.warn(f"{table.where} has no sample ids: its rows were matched by their position.", stacklevel=2)
    return np.arange(n_rows)


def absent(rows: Rows, ids: NDArray[Any]) -> Absent | None:
    """Return which samples have no row, if any."""
    lacking = ids[rows < 0]
    return Absent(len(lacking), tuple(lacking[:N_SHOWN])) if len(lacking) else None


def no_overlap(table: Table, others: NDArray[Any]) -> InputError:
    """Return the error that a table and others name different samples, with an example of each."""
    hint = "are the samples named differently?"
    if _lies_on_its_side(table, others):
        hint = "its columns do: transpose it, so that each line is a sample."
    return InputError(
        f"{table.where} names no sample that the others do: {table.ids[0]!r} is one of its ids, {others[0]!r} one of "
        f"the others'; {hint}"
    )


def _check_equal_lengths(tables: Sequence[Table]) -> None:
    lengths = [table.values.shape[0] for table in tables]
    for table, length in zip(tables, lengths, strict=True):
        if length != lengths[0]:
            raise InputError(
                f"{table.where} has {length} rows and {tables[0].where} {lengths[0]}, and no ids to match them by; "
                "give the same samples in the same order, or ids."
            )


def _check_order_is_known(tables: Sequence[Table], first: Table, n_samples: int) -> None:
    """Refuse a table without ids beside others of which the first does not name all samples."""
    without = next((table for table in tables if table.ids is None), None)
    if without is not None and len(first.ids) < n_samples:
        raise InputError(
            f"{without.where} has no sample ids, and the others do not hold the same samples: {first.where} "
            f"{len(first.ids)} of {n_samples}. Add ids to it."
        )


def _check_overlap(tables: Sequence[Table], found: NDArray[Any], ids: NDArray[Any]) -> None:
    """Refuse a table that shares no sample with any other."""
    has = found >= 0
    shared = has.sum(axis=0) > 1
    alone = [(table, ids[~own]) for table, own in zip(tables, has, strict=True) if not (own & shared).any()]
    if len(tables) > 1 and alone:
        raise no_overlap(*next((pair for pair in alone if _lies_on_its_side(*pair)), alone[0]))


def _lies_on_its_side(table: Table, ids: NDArray[Any]) -> bool:
    """Whether the columns are named as samples are."""
    return table.features is not None and bool(np.isin(np.asarray(table.features, dtype=str), ids.astype(str)).any())


def _take(values: Array, rows: Rows) -> Array:
    """Return these rows of a table, an absent one for -1."""
    if np.array_equal(rows, np.arange(values.shape[0])):
        return values
    present = np.flatnonzero(rows >= 0)
    taken = values[rows[present]]
    return taken if len(present) == len(rows) else spread_rows(taken, present, len(rows))
