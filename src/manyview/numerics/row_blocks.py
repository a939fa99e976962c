"""Rows of a large table, some at a time."""

from __future__ import annotations


def row_blocks(n_rows: int, n_columns: int, most_entries: int) -> list[slice]:
    """Return slices that cover all rows, each of at most so many entries, or of one row."""
    step = max(1, most_entries // max(n_columns, 1))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
