"""Decide whether the first row of a table holds column names, judging by the rows below it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from manyview.io.words import MISSING, may_name_samples

FEWEST_EVEN = 3  # evenly spaced numbers that are taken for names, such as years
FEWEST_RISING = 6  # rising or falling numbers that are taken for names; one row in 360 rises or falls by chance
FEWEST_CELLS = 3  # values with decimals needed below whole numbers to take the whole numbers for names
Row = Sequence[str]


@dataclass(frozen=True)
class Header:
    """Whether there is a header, and whether that is certain."""

    present: bool
    certain: bool = True

    def tell(self, where: str) -> None:
        """Warn if this is uncertain."""
        if not self.certain:
            warnings.warn(
                f"{where}: the first row may be column names or a sample; it was read as "
                f"{'names' if self.present else 'a sample'}. Set --header to yes or no to decide.",
                stacklevel=2,
            )


def find_header(rows: Sequence[Row], option: str) -> Header:
    """Decide by the words in the first row, or by its numbers if it has no other words."""
    if option != "auto":
        return Header(option == "yes")
    first, rest = rows[0], rows[1:]
    if len(first) == 1:
        return Header(not _is_value(first[0]) and first not in rest)  # a repeated word is a value
    if not all(map(_is_value, first[1:])):
        return Header(True)
    if not _is_number(first[0]) and (may_name_samples(first[0]) or _are_values(rest)):
        return Header(True)
    return _numbers_as_names([_numbers(row) for row in rows], text_first=not _is_value(first[0]))


def _numbers_as_names(rows: list[list[float]], text_first: bool) -> Header:
    """Decide whether the numbers in the first row are names, such as 0, 1, 2, ... or a grid of wavelengths."""
    first, rest = rows[0], [row for row in rows[1:] if row]
    if len(first) < 2 or not rest or len(set(first)) < len(first):
        return Header(False)
    for fewest, looks_so in ((FEWEST_EVEN, _is_even), (FEWEST_RISING, _is_rising)):
        if len(first) >= fewest and looks_so(first) and not all(map(looks_so, rest)):
            return Header(True, certain=not any(map(looks_so, rest)))
    cells = [cell for row in rest for cell in row]
    if all(cell % 1 == 0 for cell in first) and len(cells) >= FEWEST_CELLS and all(cell % 1 for cell in cells):
        return Header(True)
    return Header(False, certain=not (first == [0, 1] or (text_first and len(first) > 2 and _is_rising(first))))


def _is_even(row: list[float]) -> bool:
    """Return whether the numbers rise or fall in equal steps."""
    steps = [b - a for a, b in pairwise(row)]
    return bool(steps) and steps[0] != 0 and all(abs(step - steps[0]) <= 1e-6 * abs(steps[0]) for step in steps)


def _is_rising(row: list[float]) -> bool:
    """Return whether the numbers only rise, or only fall."""
    return all(a < b for a, b in pairwise(row)) or all(a > b for a, b in pairwise(row))


def _numbers(row: Row) -> list[float]:
    """Return the numbers in a row, skipping a first cell that is not a number; empty if other cells are not either."""
    cells = row if _is_number(row[0]) else row[1:]
    return [float(cell) for cell in cells] if all(map(_is_finite, cells)) else []


def _are_values(rows: Sequence[Row]) -> bool:
    """Return whether the first column holds no text."""
    return bool(rows) and all(_is_value(row[0]) for row in rows)


def _is_value(cell: str) -> bool:
    return cell.strip() in MISSING or _is_number(cell)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_finite(cell: str) -> bool:
    return _is_number(cell) and abs(float(cell)) < float("inf")
