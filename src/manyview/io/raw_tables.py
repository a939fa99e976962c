"""What readers take and return: options, and tables with unchecked values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from numbers import Real
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from manyview.checks import InputError, check_choice, quoted, shown

HEADERS = ("auto", "yes", "no")
DELIMITER_WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
ID_KEYS = ("sample_ids", "ids")


@dataclass(frozen=True)
class TableOptions:
    """How to read text files and sheets.

    Parameters
    ----------
    delimiter : "auto" or a character
        Separates the columns of a text file; " " means any number of spaces. "tab", "space", "comma", "semicolon" and
        "pipe" are accepted as well.
    header : "auto", "yes" or "no"
        Whether the first line of a text file or sheet holds column names.
    id_column : "auto", "none", or a column's name or number, counted from 1
        The column of sample ids.
    drop_text_columns : bool
        Drop columns without numbers, instead of refusing the file.
    missing : str, float or sequence of them
        Words and numbers that mean a missing value in this data, such as -999, besides those always recognised.
    """

    delimiter: str = "auto"
    header: str = "auto"
    id_column: str | int = "auto"
    drop_text_columns: bool = False
    missing: Any = ()

    def __post_init__(self) -> None:
        check_choice("header", self.header, HEADERS)
        delimiter = DELIMITER_WORDS.get(self.delimiter, self.delimiter)
        if delimiter != "auto" and (len(delimiter) != 1 or delimiter in '"\r\n' or ord(delimiter) > 127):
            raise InputError(f"delimiter={self.delimiter!r} is not one character; give 'auto', or e.g. ',' or 'tab'.")
        object.__setattr__(self, "delimiter", delimiter)
        object.__setattr__(self, "missing", _codes(self.missing))

    @property
    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults, by name."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}


def _codes(given: Any) -> tuple[str | float, ...]:
    codes = (given,) if isinstance(given, str | Real) else tuple(given)
    for code in codes:
        usable = bool(code.strip()) if isinstance(code, str) else isinstance(code, Real) and math.isfinite(code)
        if not usable:
            raise InputError(f"missing={shown(code)} is no code for missing values; give a word or a finite number.")
    return codes


def _row(index: int) -> str:
    return f"row {index + 1}"


@dataclass(frozen=True)
class RowNumbers:
    """Locates a row in a file with numbered rows, some of which were left out."""

    numbers: NDArray[Any]

    def __call__(self, index: int) -> str:
        """Return the row number, in words."""
        return f"row {self.numbers[index]}"


@dataclass(frozen=True)
class RawTable:
    """A table as read from a file.

    Attributes
    ----------
    name : name of the view
    values : DataFrame, array or sparse matrix, of any type
    where : the file and the key in it, for messages
    ids : sample ids, if the file has them
    features : column names, unless `values` has them
    locate : returns where in the file a row is, for messages
    """

    name: str
    values: Any
    where: str
    ids: Any = None
    features: Any = None
    locate: Callable[[int], str] = _row

    @property
    def file(self) -> str:
        """The file of the table."""
        return self.where.partition("::")[0]

    def with_row_numbers(self, numbers: NDArray[Any]) -> RawTable:
        """Return the table with its row numbers in the file."""
        return replace(self, locate=RowNumbers(numbers))


Reader = Callable[[Path, tuple[str, ...], TableOptions], list[RawTable]]
"""Reads the table of the first key found in the file; without keys, all tables that can be views."""


def pick(keys: Iterable[str], present: Iterable[str], where: str | Path) -> str:
    """Return the first key that is present, or raise an error that lists those that are."""
    keys, present = list(keys), list(present)
    found = next((key for key in keys if key in present), None)
    if found is None:
        raise InputError(f"{where} has no {quoted(keys)}. Choose from: {quoted(present, 20)}.")
    return found


def stem(path: Path) -> str:
    """Return the name of a file without its extension (and without .gz)."""
    return Path(path.name.removesuffix(".gz")).stem
