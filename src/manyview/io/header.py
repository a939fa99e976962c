"""Decide whether the first row of a table holds column names, judging by the rows below it."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from manyview.io.words import MISSING, may_name_samples

FEWEST_EVEN, ENOUGH_EVEN = 3, 5  # evenly spaced numbers that are taken for names, such as years; without a doubt
FEWEST_RISING = 6  # rising or falling numbers that are taken for names; one row in 360 rises or falls by chance
FEWEST_CELLS = 3  # words below a number needed to take the number for a name; numbers, to compare their range
MOST_CELLS = 1000  # of a row that are compared
UNLIKELY, IMPOSSIBLE = 0.05, 0.001  # chances that a sample looks like names: below these it is doubted, or ruled out
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
    if len(first) == 1 and not _is_value(first[0]):
        return Header(first not in rest)  # a repeated word is a value
    if not all(map(_is_value, first[1:])):
        return Header(True)
    if _is_above_words(first, rest):
        return Header(True, certain=_is_even(_numbers(first)))
    if not _is_number(first[0]) and (may_name_samples(first[0]) or _are_values(rest)):
        return Header(True)
    return _numbers_as_names(rows)


def _is_above_words(first: Row, rest: Sequence[Row]) -> bool:
    """Return whether a number in the first row is followed only by words in its column; the first column may be ids."""
    columns = [[row[j] for row in rest if j < len(row)] for j, cell in enumerate(first) if j and _is_number(cell)]
    return any(len(column) >= FEWEST_CELLS and not any(map(_is_value, column)) for column in columns)


def _numbers_as_names(rows: Sequence[Row]) -> Header:
    """Decide whether the numbers in the first row are names, such as 0, 1, 2, ... or a grid of wavelengths."""
    first, *rest = (_numbers(row) for row in rows)
    rest = [row for row in rest if row]
    if not first or not rest or len(set(first)) < len(first):
        return Header(False)
    of_digits = _chance_of_digits(rows)
    for fewest, enough, looks_so in ((FEWEST_EVEN, ENOUGH_EVEN, _is_even), (FEWEST_RISING, FEWEST_RISING, _is_rising)):
        if len(first) >= fewest and looks_so(first) and not all(map(looks_so, rest)):
            telling = len(first) >= enough or of_digits < IMPOSSIBLE
            return Header(True, certain=telling and not any(map(looks_so, rest)))
    chance = of_digits * _chance_of_order(first, rest) * _chance_of_range(first, rest)
    chance *= _chance_of_id([row[0] for row in rows])
    text_first = not _is_value(rows[0][0])
    doubtful = first == [0, 1] or (text_first and len(first) > 2 and _is_rising(first)) or chance < UNLIKELY
    return Header(chance < IMPOSSIBLE, certain=chance < IMPOSSIBLE or not doubtful)


# The chance that a sample looks like this in the first row, if the order of the samples means nothing ------------


def _chance_of_order(first: list[float], rest: list[list[float]]) -> float:
    """Return the chance that as many numbers rise or fall."""
    orderly = _is_rising(first) and not all(map(_is_rising, rest))
    return 2 / math.factorial(min(max(len(first), 2), FEWEST_RISING)) if orderly else 1.0


def _chance_of_range(first: list[float], rest: list[list[float]]) -> float:
    """Return the chance that a row is beyond all others in every column; columns may rise and fall together."""
    rows = [row for row in rest if len(row) == len(first)]
    columns = zip(*rows, strict=True)
    beyond = [not min(column) <= number <= max(column) for number, column in zip(first, columns, strict=False)]
    return 1 / (1 + len(rows)) if len(beyond) >= FEWEST_CELLS and all(beyond) else 1.0


def _chance_of_digits(rows: Sequence[Row]) -> float:
    """Return the chance that all numbers of a row are whole, or have as few digits: numbers as names are short."""
    first, *rest = ([cell.strip() for cell in row[:MOST_CELLS] if _is_finite(cell)] for row in rows)
    cells = [cell for row in rest for cell in row]
    if all(map(_is_whole, first)):
        alike = sum(map(_is_whole, cells))
    else:
        most = max(map(_n_digits, first))
        alike = sum(_n_digits(cell) <= most for cell in cells)
    return float(((1 + alike) / (2 + len(cells))) ** len(first))


def _chance_of_id(column: list[str]) -> float:
    """Return the chance that the first id alone differs from the pattern of the others, such as letters and digits."""
    first, *rest = (re.sub(r"\d+", "0", re.sub(r"[^\W\d]+", "a", cell.strip())) for cell in column)
    odd = not _is_value(column[0]) and len(set(rest)) == 1 and first != rest[0]
    return 1 / (1 + len(rest)) if odd else 1.0


def _n_digits(cell: str) -> int:
    """Return how many digits a number is written with, without zeros at either end."""
    return len(re.sub(r"[eE].*|\D", "", cell).strip("0"))


def _is_whole(cell: str) -> bool:
    return float(cell) % 1 == 0


def _is_even(row: list[float]) -> bool:
    """Return whether the numbers rise or fall in equal steps."""
    steps = [b - a for a, b in pairwise(row)]
    return bool(steps) and steps[0] != 0 and all(abs(step - steps[0]) <= 1e-6 * abs(steps[0]) for step in steps)


def _is_rising(row: list[float]) -> bool:
    """Return whether the numbers only rise, or only fall."""
    return all(a < b for a, b in pairwise(row)) or all(a > b for a, b in pairwise(row))


def _numbers(row: Row) -> list[float]:
    """Return the numbers in a row, without missing ones and a text in the first cell; none if others are text."""
    cells = [cell for cell in (row if _is_number(row[0]) else row[1:]) if cell.strip() not in MISSING]
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
