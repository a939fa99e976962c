"""Delimited text, plain or gzipped: the delimiter, the header and the id column are detected."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import numpy as np
import pandas as pd

from manyview.checks import InputError
from manyview.io.frames import id_column, with_ids
from manyview.io.guards import check_size, reading
from manyview.io.header import Header, find_header
from manyview.io.raw_tables import RawTable, TableOptions, stem
from manyview.io.words import MISSING

DELIMITERS = ("\t", ";", "|", ",", " ")  # in the order they are tried; the last means any number of spaces
CHUNK = 2**20
HEAD_LINES, HEAD_CHARACTERS = 50, 2**20

_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
_DECIMAL_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")
_HUGE_EXPONENTS = re.compile(rb"e[+-]?\d{9}"), re.compile(rb"E[+-]?\d{9}")  # two: searching for one letter is fast


@dataclass(frozen=True)
class Layout:
    """The layout of a text file; `names` are the column names, or numbers from 1 if there is no header."""

    path: Path
    delimiter: str
    decimal: str
    header: Header
    names: list[Any]


def read_text(path: Path, keys: tuple[str, ...], options: TableOptions) -> list[RawTable]:
    """Read a text file as one table; a key is the name of a column."""
    with reading(path, "a table"), _CheckedFile(path) as content:
        try:
            text = _decoded(content)
            layout = _find_layout(path, text, options)
            frame = _parse(text, content, layout, id_column(layout.names, options, str(path)))
        except InputError:
            raise
        except Exception:
            _check_encoding(path)
            raise
    layout.header.tell(str(path))
    table = RawTable(stem(path), frame, str(path), locate=lambda row: _place(layout, row))
    return [with_ids(table, keys, options)]


# Bytes ---------------------------------------------------------------------------------------------


class _CheckedFile(io.BufferedIOBase):
    """The bytes of a plain or gzipped text file, checked as they are read, so that the file is read only once.

    Raises on NUL bytes, and when the file expands beyond the free memory. `has_huge_exponent` says whether any word so
    far, such as the id 4e4924939249, is a number that crashes pandas before 3.0; with `stops_at_huge_exponent`, the
    first such word raises.
    """

    def __init__(self, path: Path) -> None:
        self.has_huge_exponent = self.stops_at_huge_exponent = False
        self._path, self._size, self._end = path, 0, b""
        self._file = _open_binary(path)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._size, self._end = 0, b""
        return self._file.seek(offset, whence)

    def read1(self, size: int = -1, /) -> bytes:
        chunk = self._file.read(size)
        self._size += len(chunk)
        check_size(self._path, self._size)
        if b"\0" in chunk:
            raise ValueError("NUL bytes")
        self.has_huge_exponent |= any(exponent.search(self._end + chunk) for exponent in _HUGE_EXPONENTS)
        self._end = chunk[-len("e+123456789") :]
        if self.has_huge_exponent and self.stops_at_huge_exponent:
            raise ValueError("huge exponent")
        return chunk

    def close(self) -> None:
        self._file.close()
        super().close()


def _open_binary(path: Path) -> BinaryIO:
    """Open a file that may be gzipped."""
    return cast(BinaryIO, gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def _decoded(content: Any) -> TextIO:
    return io.TextIOWrapper(content, encoding="utf-8-sig", newline="")


def _check_encoding(path: Path) -> None:
    """Refuse a file that is not UTF-8 text, naming the line."""
    line, decoder, chunk = 1, codecs.getincrementaldecoder("utf-8")(), b"\n"
    with _open_binary(path) as file:
        while chunk:
            chunk = file.read(CHUNK)
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                line += error.object.count(b"\n", 0, error.start)
                raise InputError(f"{path}, line {line}, is not UTF-8 ({error.reason}); save it as UTF-8.") from error
            if b"\0" in chunk:
                line += chunk.count(b"\n", 0, chunk.index(b"\0"))
                raise InputError(f"{path}, line {line}, contains NUL bytes, as binary files do; save it as UTF-8 text.")
            line += chunk.count(b"\n")


# Layout --------------------------------------------------------------------------------------------


def _find_layout(path: Path, text: TextIO, options: TableOptions) -> Layout:
    lines = list(_head(text))
    delimiter = _find_delimiter(lines) if options.delimiter == "auto" else options.delimiter
    rows = [cells for _, cells in _rows(lines, delimiter)]
    if not rows:
        raise InputError(f"{path} is empty; give a table with one line per sample.")
    decimal = _find_decimal(rows, path) if delimiter == ";" else "."
    if decimal == ",":
        rows = [[cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell for cell in row] for row in rows]
    header = find_header(rows, options.header)
    names = _header_names(rows) if header.present else list(range(1, len(rows[0]) + 1))
    return Layout(path, delimiter, decimal, header, names)


def _head(text: TextIO) -> Iterator[str]:
    """Yield the first lines: at least two, and more while their total length is small."""
    seen = 0
    for i, line in enumerate(text):
        if i >= HEAD_LINES or (i >= 2 and seen > HEAD_CHARACTERS):
            return
        seen += len(line)
        yield line


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each line that is not blank."""
    runs = delimiter == " "
    plain = (line.replace("\t", " ").strip() for line in lines) if runs else lines
    reader = csv.reader(plain, delimiter=delimiter, skipinitialspace=True)
    for cells in reader:
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield reader.line_num, cells


def _find_delimiter(lines: list[str]) -> str:
    """Return the first delimiter that splits all lines into the same number of cells; otherwise into the most cells."""
    widths = {delimiter: _widths(lines, delimiter) for delimiter in DELIMITERS}
    regular = (delimiter for delimiter, counts in widths.items() if _are_columns(counts))
    most = max((",", "\t", ";", "|"), key=lambda delimiter: max(widths[delimiter], default=0))
    return next(regular, most)


def _widths(lines: list[str], delimiter: str) -> list[int]:
    """Return the number of cells in each line; none if a cell is too long for `csv`, e.g. a line of 9,000 numbers."""
    try:
        return [len(cells) for _, cells in _rows(lines, delimiter)]
    except csv.Error:
        return []


def _are_columns(counts: list[int]) -> bool:
    """Return whether lines with these numbers of cells form a table; R omits the column of row names in its header."""
    return max(counts, default=0) > 1 and len(set(counts[1:])) <= 1 and counts[0] in (counts[-1], counts[-1] - 1)


def _find_decimal(rows: list[list[str]], path: Path) -> str:
    """Return the decimal mark; refuse numbers such as 1,200 if it is unclear whether the comma is one."""
    cells = [cell for row in rows[1:] for cell in row]
    commas = [cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)]
    if not commas or any(map(_DECIMAL_POINT.fullmatch, cells)):
        return "."
    if all(map(_THOUSANDS.fullmatch, commas)):
        raise InputError(
            f"{path}: {commas[0].strip()!r} may be {commas[0].strip().replace(',', '')} or "
            f"{commas[0].strip().replace(',', '.')}; write numbers without commas, or with a decimal point."
        )
    return ","


def _header_names(rows: list[list[str]]) -> list[str]:
    """Return the column names; one is added for R's row names, or for a delimiter at the end of every line."""
    names = [cell.strip() for cell in rows[0]]
    if len(rows) == 1 or len(rows[1]) != len(names) + 1:
        return names
    ends_empty = not any(row[-1].strip() for row in rows[1:])
    return [*names, ""] if ends_empty else ["", *names]


# Values --------------------------------------------------------------------------------------------


def _parse(text: TextIO, content: _CheckedFile, layout: Layout, ids: int | None) -> pd.DataFrame:
    """Parse the file; ids are kept as written, including leading zeros."""
    try:
        frame = _read_csv(text, content, layout, ids)
    except pd.errors.ParserError:
        _check_widths(layout)
        raise
    # pandas fills short lines with NaN, and turns surplus cells of the first line into an index
    if not isinstance(frame.index, pd.RangeIndex) or frame.iloc[:, -1].isna().any():
        _check_widths(layout)
    frame.columns = pd.Index(layout.names)
    blank = [name == "" and frame.iloc[:, i].isna().all() for i, name in enumerate(layout.names)]
    return frame.loc[:, ~np.array(blank)] if any(blank) else frame


def _read_csv(text: TextIO, content: _CheckedFile, layout: Layout, ids: int | None) -> pd.DataFrame:
    """Call pandas with its fast number parser, or with the slower one if a huge exponent would crash the fast one."""
    if not content.has_huge_exponent:
        content.stops_at_huge_exponent = True
        try:
            return _call_pandas(text, layout, ids)
        except ValueError:
            if not content.has_huge_exponent:
                raise
        content.stops_at_huge_exponent = False
    return _call_pandas(text, layout, ids, float_precision="round_trip")


def _call_pandas(text: TextIO, layout: Layout, ids: int | None, **options: Any) -> pd.DataFrame:
    options |= {
        "sep": r"\s+" if layout.delimiter == " " else layout.delimiter,
        "decimal": layout.decimal,
        "header": 0 if layout.header.present else None,
        "names": range(len(layout.names)),
        "dtype": None if ids is None else {ids: str},
        "na_values": list(MISSING),
        "keep_default_na": False,
        "skipinitialspace": True,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.DtypeWarning)
        text.seek(0)
        try:  # parsing in chunks is twice as fast, but a column may hold numbers in one chunk and text in the next
            return pd.read_csv(text, **options)
        except pd.errors.DtypeWarning:
            text.seek(0)
            return pd.read_csv(text, **options, low_memory=False)


def _check_widths(layout: Layout) -> None:
    """Refuse a file whose lines have different numbers of cells."""
    with _decoded(_open_binary(layout.path)) as text:
        for i, (line, cells) in islice(enumerate(_rows(text, layout.delimiter)), int(layout.header.present), None):
            if len(cells) != len(layout.names):
                title = " If the line above it is a title or a comment, delete it." if i == 1 else ""
                raise InputError(
                    f"{layout.path}, line {line}, has {len(cells)} cells, but {len(layout.names)} are expected "
                    f"(delimiter {layout.delimiter!r}); fix the line, or set the delimiter if it is wrong.{title}"
                )


def _place(layout: Layout, row: int) -> str:
    """Return the line of a row, or its row number if the line is unknown: pandas reads files that `csv` cannot."""
    at = row + layout.header.present
    with suppress(csv.Error, StopIteration), _decoded(_open_binary(layout.path)) as text:
        return f"line {next(islice(_rows(text, layout.delimiter), at, None))[0]}"
    return f"row {row + 1}"
