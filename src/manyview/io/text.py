"""Delimited text, plain or gzipped: the delimiter, the header and the ids are found in the content."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import numpy as np
import pandas as pd

from manyview.checks import InputError
from manyview.io.frames import MISSING, has_header, id_column, with_ids
from manyview.io.guards import check_size, reading
from manyview.io.reading import Table, TableOptions, stem

DELIMITERS = ("\t", ";", "|", ",", " ")  # in the order in which they are tried; the last stands for runs of blanks
CHUNK = 2**20
HEAD_LINES, HEAD_CHARACTERS = 50, 2**20

_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
_DECIMAL_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
_HUGE_EXPONENTS = re.compile(r"e[+-]?\d{9}"), re.compile(r"E[+-]?\d{9}")  # apart, as a search for one letter is quick


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out; `names` are those of the header, or numbers from 1."""

    path: Path
    delimiter: str
    decimal: str
    header: bool
    names: list[Any]


def read_text(path: Path, keys: tuple[str, ...], options: TableOptions) -> list[Table]:
    """Read a text file as one table; a key is the name of a column."""
    with reading(path, "a table"):
        precision = "round_trip" if _has_huge_exponent(path) else None  # slower, but safe
        layout = _find_layout(path, options)
        frame = _parse(layout, id_column(layout.names, options, str(path)), precision)
    table = Table(stem(path), frame, str(path), place=lambda row: f"line {_line(layout, row)}")
    return [with_ids(table, keys, options)]


def _open_binary(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def _open_text(path: Path) -> TextIO:
    return io.TextIOWrapper(_open_binary(path), encoding="utf-8-sig")


def _chunks(path: Path) -> Iterator[str]:
    """Give the text by pieces; refuse a file that is none or expands beyond memory, and say in which line."""
    size, line, decoder, chunk = 0, 1, codecs.getincrementaldecoder("utf-8")(), b"\n"
    with _open_binary(path) as file:
        while chunk:
            chunk = file.read(CHUNK)
            size += len(chunk)
            check_size(path, size)
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                line += error.object.count(b"\n", 0, error.start)
                raise InputError(f"{path}, line {line}, is not UTF-8 ({error.reason}); save it as such.") from error
            if "\0" in text:
                line += text.count("\n", 0, text.index("\0"))
                raise InputError(f"{path}, line {line}, holds NUL bytes, as binary files do; save it as UTF-8 text.")
            line += chunk.count(b"\n")
            yield text


def _has_huge_exponent(path: Path) -> bool:
    """Whether a word in the text, such as the id 4e4924939249, is a number that makes pandas before 3.0 crash."""
    found, before = False, ""
    for text in _chunks(path):
        found = found or any(exponent.search(before + text) for exponent in _HUGE_EXPONENTS)
        before = text[-len("e+123456789") :]
    return found


# Layout --------------------------------------------------------------------------------------------


def _find_layout(path: Path, options: TableOptions) -> Layout:
    with _open_text(path) as file:
        lines = list(_head(file))
    delimiter = _find_delimiter(lines) if options.delimiter == "auto" else options.delimiter
    rows = [cells for _, cells in _rows(lines, delimiter)]
    if not rows:
        raise InputError(f"{path} is empty; give a table with a line per sample.")
    decimal = _find_decimal(rows) if delimiter == ";" else "."
    if decimal == ",":
        rows = [[cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell for cell in row] for row in rows]
    header = has_header(rows, options.header)
    names = _header_names(rows) if header else list(range(1, len(rows[0]) + 1))
    return Layout(path, delimiter, decimal, header, names)


def _head(file: TextIO) -> Iterator[str]:
    """Give the first lines: two at least, and as many more as are not too long."""
    seen = 0
    for i, line in enumerate(file):
        if i >= HEAD_LINES or (i >= 2 and seen > HEAD_CHARACTERS):
            return
        seen += len(line)
        yield line


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Give the cells of each line that is not blank, with the line's number."""
    runs = delimiter == " "
    plain = (line.replace("\t", " ").strip() for line in lines) if runs else lines
    reader = csv.reader(plain, delimiter=delimiter, skipinitialspace=True)
    for cells in reader:
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield reader.line_num, cells


def _find_delimiter(lines: list[str]) -> str:
    """Return the first delimiter that cuts all lines into equally many columns; failing that, into the most."""
    widths = {delimiter: [len(cells) for _, cells in _rows(lines, delimiter)] for delimiter in DELIMITERS}
    regular = (delimiter for delimiter, counts in widths.items() if _are_columns(counts))
    most = max((",", "\t", ";", "|"), key=lambda delimiter: max(widths[delimiter], default=0))
    return next(regular, most)


def _are_columns(counts: list[int]) -> bool:
    """Whether lines of so many cells make a table; R leaves the column of row names out of its header."""
    return len(set(counts[1:])) <= 1 and max(counts, default=0) > 1 and counts[0] in (counts[-1], counts[-1] - 1)


def _find_decimal(rows: list[list[str]]) -> str:
    cells = [cell for row in rows[1:] for cell in row]
    has_commas = any(map(_DECIMAL_COMMA.fullmatch, cells))
    return "," if has_commas and not any(map(_DECIMAL_POINT.fullmatch, cells)) else "."


def _header_names(rows: list[list[str]]) -> list[str]:
    """Return the columns' names; R has none for its row names, and a delimiter at the end of lines begs for one."""
    names = [cell.strip() for cell in rows[0]]
    if len(rows) == 1 or len(rows[1]) != len(names) + 1:
        return names
    ends_empty = not any(row[-1].strip() for row in rows[1:])
    return [*names, ""] if ends_empty else ["", *names]


# Values --------------------------------------------------------------------------------------------


def _parse(layout: Layout, ids: int | None, precision: str | None) -> pd.DataFrame:
    """Parse the file; ids stay as they are written, zeros in front included."""
    try:
        frame = _read_csv(layout, ids, precision)
    except pd.errors.ParserError:
        _check_widths(layout)
        raise
    # pandas fills short lines up with NaN, and makes an index of what is too much in the first
    if not isinstance(frame.index, pd.RangeIndex) or frame.iloc[:, -1].isna().any():
        _check_widths(layout)
    frame.columns = pd.Index(layout.names)
    blank = [name == "" and frame.iloc[:, i].isna().all() for i, name in enumerate(layout.names)]
    return frame.loc[:, ~np.array(blank)] if any(blank) else frame


def _read_csv(layout: Layout, ids: int | None, precision: str | None) -> pd.DataFrame:
    arguments: dict[str, Any] = {
        "sep": r"\s+" if layout.delimiter == " " else layout.delimiter,
        "decimal": layout.decimal,
        "float_precision": precision,
        "header": 0 if layout.header else None,
        "names": range(len(layout.names)),
        "dtype": None if ids is None else {ids: str},
        "na_values": list(MISSING),
        "keep_default_na": False,
        "skipinitialspace": True,
        "encoding": "utf-8-sig",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.DtypeWarning)
        try:  # by chunks is twice as fast, but a column may be numbers in one and text in the next
            return pd.read_csv(layout.path, **arguments)
        except pd.errors.DtypeWarning:
            return pd.read_csv(layout.path, **arguments, low_memory=False)


def _check_widths(layout: Layout) -> None:
    """Refuse a file whose lines do not all have as many cells."""
    with _open_text(layout.path) as file:
        for line, cells in islice(_rows(file, layout.delimiter), int(layout.header), None):
            if len(cells) != len(layout.names):
                raise InputError(
                    f"{layout.path}, line {line}, has {len(cells)} cells where {len(layout.names)} are expected "
                    f"(delimiter {layout.delimiter!r}); complete it, or give the delimiter if that is wrong."
                )


def _line(layout: Layout, row: int) -> int:
    """Return the number of the line that a row comes from."""
    with _open_text(layout.path) as file:
        return next(islice(_rows(file, layout.delimiter), row + layout.header, None))[0]
