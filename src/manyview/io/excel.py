"""Excel workbooks: each sheet is a table."""

from __future__ import annotations

import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

from manyview.checks import InputError, quoted, shown
from manyview.io.frames import with_ids
from manyview.io.guards import check_size, reading, require
from manyview.io.header import find_header
from manyview.io.raw_tables import RawTable, TableOptions, pick
from manyview.io.words import MISSING

BYTES_PER_CELL = 16  # a lower bound for the rows that openpyxl returns
CELLS_PER_CHECK = 2**16
LAST_ROW = 1_048_576  # the limit of Excel
HEAD_ROWS = 50


def read_excel(path: Path, keys: tuple[str, ...], options: TableOptions) -> list[RawTable]:
    """Read all non-empty sheets of a workbook that are not hidden, or the sheet named by a key."""
    with reading(path, "an Excel workbook"):
        openpyxl = require("openpyxl", "excel")
        with zipfile.ZipFile(path) as archive:
            check_size(path, sum(info.file_size for info in archive.infolist()))
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheets = {sheet.title: sheet for sheet in book.worksheets}
            hidden = [] if keys else [title for title, sheet in sheets.items() if sheet.sheet_state != "visible"]
            chosen = [pick(keys, sheets, path)] if keys else [title for title in sheets if title not in hidden]
            grids = {title: _grid(sheets[title], f"{path}::{title}") for title in chosen}
        finally:
            book.close()
        _check_formulas(path, grids)
    _tell_hidden_cells(path)
    if hidden:
        warnings.warn(f"{path}: left out hidden sheets {quoted(hidden)}; choose one with ::NAME.", stacklevel=2)
    tables = [_table(title, grid, f"{path}::{title}", options) for title, grid in grids.items() if not grid.empty]
    if not tables:
        raise InputError(f"{path} has no data in {quoted(chosen)}; give a sheet with one row per sample.")
    return tables


def _grid(sheet: Any, where: str) -> pd.DataFrame:
    """Return the cells of a sheet without empty rows and columns; the index holds the row numbers, from 1."""
    sheet.reset_dimensions()  # the declared size may be wrong
    rows: list[tuple[Any, ...]] = []
    n_cells = checked = 0
    for row in sheet.iter_rows(values_only=True):
        if len(rows) == LAST_ROW:
            raise InputError(f"{where} has a cell below row {LAST_ROW:,}, the last row in Excel; save it from Excel.")
        n_cells += len(row)
        if n_cells > checked + CELLS_PER_CHECK:
            checked = n_cells
            check_size(where, n_cells * BYTES_PER_CELL)
        rows.append(row)
    grid = pd.DataFrame(rows, dtype=object, index=range(1, len(rows) + 1))
    grid = grid.mask(grid.isin(list(MISSING)))
    return grid.dropna(how="all").dropna(how="all", axis=1)


def _any_sheet_has(path: Path, pattern: bytes) -> bool:
    """Return whether the XML of some sheet matches a pattern."""
    with zipfile.ZipFile(path) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        return any(re.search(pattern, archive.read(name)) for name in sheets)


def _tell_hidden_cells(path: Path) -> None:
    """Warn of hidden rows and columns, such as those that a filter hides: they were read like the others."""
    if _any_sheet_has(path, rb'<(row|col)\b[^>]*\bhidden="(1|true)"'):
        warnings.warn(
            f"{path}: hidden rows or columns were read as well; delete them if they are not data.", stacklevel=2
        )


def _check_formulas(path: Path, grids: dict[str, pd.DataFrame]) -> None:
    """Refuse formulas without stored values, which programs other than Excel may write."""
    if not _any_sheet_has(path, b"<f"):
        return
    book = require("openpyxl", "excel").load_workbook(path, read_only=True)
    try:
        for title, grid in grids.items():
            sheet = book[title]
            sheet.reset_dimensions()
            for cell in (cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"):
                known = cell.row in grid.index and cell.column - 1 in grid.columns
                if not known or grid[cell.column - 1].isna()[cell.row]:
                    raise InputError(
                        f"{path}::{title}, cell {cell.coordinate}: the formula {shown(cell.value)} has no stored "
                        "value; open the file in Excel and save it."
                    )
    finally:
        book.close()


def _tell_stray_cells(frame: pd.DataFrame, where: str) -> None:
    """Warn of columns without a name and of rows with a single value: they may be notes next to the table."""
    unnamed = [i for i, name in enumerate(frame.columns) if i and name == ""]
    if unnamed:
        filled = int(frame.iloc[:, unnamed[0]].notna().sum())
        warnings.warn(
            f"{where}: a column without a name, with {filled} of {len(frame)} values, was read as a feature; delete it "
            "if it is not one.",
            stacklevel=2,
        )
    lonely = frame.index[frame.notna().sum(axis=1) == 1]
    if len(lonely) and frame.shape[1] > 2:
        warnings.warn(f"{where}: row {lonely[0]} has only one value; delete it if it is not a sample.", stacklevel=2)


def _table(title: str, grid: pd.DataFrame, where: str, options: TableOptions) -> RawTable:
    head = grid.head(HEAD_ROWS)
    rows = head.astype(str).where(head.notna(), "").to_numpy().tolist()
    header = find_header(rows, options.header)
    header.tell(where)
    names = [cell.strip() for cell in rows[0]] if header.present else range(1, grid.shape[1] + 1)
    frame = grid.iloc[int(header.present) :].set_axis(names, axis=1)
    _tell_stray_cells(frame, where)
    table = RawTable(title, frame.reset_index(drop=True).infer_objects(), where)
    return with_ids(table.with_row_numbers(frame.index.to_numpy()), (), options)
