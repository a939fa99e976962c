"""What the readers of tables take and give: options, and tables whose values have not been looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manyview.checks import InputError, check_choice, quoted

HEADERS = ("auto", "yes", "no")
DELIMITER_WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
ID_KEYS = ("sample_ids", "ids")


@dataclass(frozen=True)
class TableOptions:
    """How to read tables, where a file does not say so itself.

    Parameters
    ----------
    delimiter : "auto" or a character
        What separates columns in a text file; " " stands for runs of blanks. "tab", "space", "comma", "semicolon"
        and "pipe" are understood as well.
    header : "auto", "yes" or "no"
        Whether the first line of a text file or sheet names the columns.
    id_column : "auto", "none", or a column's name or number, counted from 1
        Which column names the samples.
    drop_text_columns : bool
        Leave out columns that hold no number, rather than refuse the file.
    """

    delimiter: str = "auto"
    header: str = "auto"
    id_column: str | int = "auto"
    drop_text_columns: bool = False

    def __post_init__(self) -> None:
        check_choice("header", self.header, HEADERS)
        delimiter = DELIMITER_WORDS.get(self.delimiter, self.delimiter)
        if delimiter != "auto" and (len(delimiter) != 1 or delimiter in '"\r\n' or ord(delimiter) > 127):
            raise InputError(f"delimiter={self.delimiter!r} is not one character; give 'auto', or e.g. ',' or 'tab'.")
        object.__setattr__(self, "delimiter", delimiter)


def _row(index: int) -> str:
    return f"row {index + 1}"


@dataclass(frozen=True)
class Table:
    """A table as read.

    Attributes
    ----------
    name : what a view of it is called
    values : DataFrame, array or sparse matrix, of any type
    where : the file, and the key in it, for messages
    ids : names of the samples, if the file has them
    features : names of the columns, where `values` does not carry them
    place : says where in the file a row is, for messages
    """

    name: str
    values: Any
    where: str
    ids: Any = None
    features: Any = None
    place: Callable[[int], str] = _row


Reader = Callable[[Path, tuple[str, ...], TableOptions], list[Table]]
"""Reads the first of some keys that a file has; without keys, all tables of the file that can be views."""


def pick(keys: Iterable[str], present: Iterable[str], where: str | Path) -> str:
    """Return the first of the keys that is present, or raise with a list of those that are."""
    keys, present = list(keys), list(present)
    found = next((key for key in keys if key in present), None)
    if found is None:
        raise InputError(f"{where} holds no {quoted(keys)}. Choose from: {quoted(present, 20)}.")
    return found


def stem(path: Path) -> str:
    """Return the name of a file without its ending, of which .gz is a part."""
    return Path(path.name.removesuffix(".gz")).stem


def shown(value: object, limit: int = 40) -> str:
    """Write a value for a message, cut where it goes on for too long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= limit else f"{text[:limit]}..."
