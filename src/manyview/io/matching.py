"""Matching samples across tables by their ids."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from manyview.checks import InputError, quoted
from manyview.io.raw_tables import RawTable
from manyview.typing import Array, Indices
from manyview.views.presence import spread_rows

Indices = Indices

N_SHOWN = 5  # ids in a message


@dataclass(frozen=True)
class MissingSamples:
    """Samples missing from a table.

    Attributes
    ----------
    count : int
        How many.
    first : tuple of str
        The first of their ids.
    """

    count: int
    first: tuple[str, ...]

    def __str__(self) -> str:
        more = f" and {self.count - len(self.first)} more" if self.count > len(self.first) else ""
        return f"{self.count} ({quoted(self.first)}{more})"


@dataclass(frozen=True)
class Matched:
    """Values of several tables for the same samples, the ids (None if there are none), and what each table lacks."""

    arrays: list[Array]
    ids: NDArray[Any] | None
    unmatched: dict[str, MissingSamples]


def match_samples(tables: Sequence[RawTable], samples: str) -> Matched:
    """Put the samples of all tables in the same order.

    With `samples` "all", a sample missing from a table is absent from its view. With "common", it is left out.
    """
    named = [table for table in tables if table.ids is not None]
    if not named:
        _check_equal_lengths(tables)
        if len({table.file for table in tables}) > 1:
            warnings.warn(
                "The files have no sample ids: their rows were matched by position. If they are not in the "
                "same order, add a column of sample ids, or name it with --id-column.",
                stacklevel=3,
            )
        return Matched([table.values for table in tables], None, {})
    ids = pd.unique(np.concatenate([table.ids for table in named]))
    _check_order_is_known(tables, named[0], len(ids))
    found = np.array([find_rows(table, ids, len(ids)) for table in tables])
    _check_overlap(tables, found, ids)
    missing = [missing_samples(rows, ids) for rows in found]
    unmatched = {table.name: some for table, some in zip(tables, missing, strict=True) if some is not None}
    if unmatched:
        _warn_of_alike(ids, found)
    if samples == "common":
        everywhere = (found >= 0).all(axis=0)
        ids, found = ids[everywhere], found[:, everywhere]
        if len(ids) == 0:
            raise InputError(f"No sample is in all of the views {quoted(t.name for t in tables)}; use samples='all'.")
    arrays = [_select_rows(table.values, rows) for table, rows in zip(tables, found, strict=True)]
    return Matched(arrays, ids, unmatched)


def find_rows(table: RawTable, ids: NDArray[Any] | None, n_samples: int) -> Indices:
    """Return the row of each sample in a table, -1 if it is missing; by position if there are no ids."""
    if ids is not None and table.ids is not None:
        return pd.Index(table.ids).get_indexer(pd.Index(ids))
    n_rows = table.values.shape[0]
    if n_rows != n_samples:
        raise InputError(
            f"{table.where} has {n_rows} rows, but there are {n_samples} samples and no ids to match them; give "
            "the same samples, or add ids to every file."
        )
    if ids is not None:
        warnings.warn(f"{table.where} has no sample ids: its rows were matched by position.", stacklevel=2)
    return np.arange(n_rows)


def missing_samples(rows: Indices, ids: NDArray[Any]) -> MissingSamples | None:
    """Return the samples without a row; None if there are none."""
    missing = ids[rows < 0]
    return MissingSamples(len(missing), tuple(missing[:N_SHOWN])) if len(missing) else None


def no_overlap_error(table: RawTable, others: NDArray[Any]) -> InputError:
    """Return the error for a table that shares no sample with the others, with one id from each."""
    own, other, hint = table.ids[0], others[0], "do they name the samples differently?"
    if _is_transposed(table, others):
        hint = "its columns are named like samples: transpose it so that each line is a sample."
    alike = _alike(table.ids, others)
    if alike is not None:
        own, other = map(ascii, alike)
        return InputError(
            f"{table.where} shares no sample id with the other files: it has {own}, they have {other}, which look "
            "alike but are spelled with different characters; write them the same way."
        )
    return InputError(
        f"{table.where} shares no sample id with the other files: it has {own!r}, they have {other!r}; {hint}"
    )


def _alike(ids: NDArray[Any], others: NDArray[Any]) -> tuple[str, str] | None:
    """Return two ids that differ only in spaces, case, invisible characters, or the Unicode form of others."""
    plain = {_plain_form(other): other for other in others}
    return next(((own, plain[form]) for own in ids if (form := _plain_form(own)) in plain), None)


def _plain_form(text: str) -> str:
    visible = (c for c in unicodedata.normalize("NFKC", text).casefold() if unicodedata.category(c) != "Cf")
    return "".join("".join(visible).split())


def _warn_of_alike(ids: NDArray[Any], found: NDArray[Any]) -> None:
    """Warn of ids that differ only in spelling and never occur in the same table."""
    groups: dict[str, list[int]] = {}
    for i in np.flatnonzero((found < 0).any(axis=0)).tolist():
        groups.setdefault(_plain_form(str(ids[i])), []).append(i)
    alike = [group for group in groups.values() if len(group) > 1 and ((found[:, group] >= 0).sum(axis=1) < 2).all()]
    if alike:
        shown = " and ".join(ascii(str(ids[i])) for i in alike[0][:2])
        warnings.warn(
            f"{len(alike)} samples may be the same in several files, under ids that look alike, such as "
            f"{shown}; they were treated as different samples. If they are the same, write their ids the same way.",
            stacklevel=3,
        )


def _check_equal_lengths(tables: Sequence[RawTable]) -> None:
    lengths = [table.values.shape[0] for table in tables]
    for table, length in zip(tables, lengths, strict=True):
        if length != lengths[0]:
            raise InputError(
                f"{table.where} has {length} rows but {tables[0].where} has {lengths[0]}, and there are no ids "
                "to match them; give the same samples in the same order, or add ids."
            )


def _check_order_is_known(tables: Sequence[RawTable], first: RawTable, n_samples: int) -> None:
    """Refuse a table without ids if the others do not all have the same samples."""
    without = next((table for table in tables if table.ids is None), None)
    if without is not None and len(first.ids) < n_samples:
        raise InputError(
            f"{without.where} has no sample ids, and the other files do not have the same samples: {first.where} "
            f"has {len(first.ids)} of {n_samples}. Add ids to it."
        )


def _check_overlap(tables: Sequence[RawTable], found: NDArray[Any], ids: NDArray[Any]) -> None:
    """Refuse a table that shares no sample with any other."""
    has = found >= 0
    shared = has.sum(axis=0) > 1
    alone = [(table, ids[~own]) for table, own in zip(tables, has, strict=True) if not (own & shared).any()]
    if len(tables) > 1 and alone:
        raise no_overlap_error(*next((pair for pair in alone if _is_transposed(*pair)), alone[0]))


def _is_transposed(table: RawTable, ids: NDArray[Any]) -> bool:
    """Return whether the columns are named like samples."""
    return table.features is not None and bool(np.isin(np.asarray(table.features, dtype=str), ids.astype(str)).any())


def _select_rows(values: Array, rows: Indices) -> Array:
    """Return these rows of a table; -1 gives an absent row."""
    if np.array_equal(rows, np.arange(values.shape[0])):
        return values
    present = np.flatnonzero(rows >= 0)
    taken = values[rows[present]]
    return taken if len(present) == len(rows) else spread_rows(taken, present, len(rows))
