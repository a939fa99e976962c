"""Excel workbooks: each sheet is a table."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

from manyview.checks import InputError, quoted
from manyview.io.frames import MISSING, has_header, with_ids
from manyview.io.guards import check_size, reading, require
from manyview.io.raw_tables import RawTable, TableOptions, pick

BYTES_PER_CELL = 16  # a lower bound for the rows that openpyxl returns
HEAD_ROWS = 50


def read_excel(path: Path, keys: tuple[str, ...], options: TableOptions) -> list[RawTable]:
    """Read all non-empty sheets of a workbook, or the sheet named by a key."""
    with reading(path, "an Excel workbook"):
        openpyxl = require("openpyxl", "excel")
        with zipfile.ZipFile(path) as archive:
            check_size(path, sum(info.file_size for info in archive.infolist()))
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheets = {sheet.title: sheet for sheet in book.worksheets}
            chosen = [pick(keys, sheets, path)] if keys else list(sheets)
            grids = {title: _grid(sheets[title], f"{path}::{title}") for title in chosen}
        finally:
            book.close()
    tables = [_table(title, grid, f"{path}::{title}", options) for title, grid in grids.items() if not grid.empty]
    if not tables:
        raise InputError(f"{path} holds no data in {quoted(chosen)}; give a sheet with one row per sample.")
    return tables


def _grid(sheet: Any, where: str) -> pd.DataFrame:
    """Return the cells of a sheet without empty rows and columns; the index holds the row numbers, from 1."""
    sheet.reset_dimensions()  # the declared size may be wrong
    rows, n_cells = [], 0
    for row in sheet.iter_rows(values_only=True):
        n_cells += len(row)
        check_size(where, n_cells * BYTES_PER_CELL)
        rows.append(row)
    grid = pd.DataFrame(rows, dtype=object, index=range(1, len(rows) + 1))
    grid = grid.mask(grid.isin(list(MISSING)))
    return grid.dropna(how="all").dropna(how="all", axis=1)


def _table(title: str, grid: pd.DataFrame, where: str, options: TableOptions) -> RawTable:
    head = grid.head(HEAD_ROWS)
    rows = head.astype(str).where(head.notna(), "").to_numpy().tolist()
    header = has_header(rows, options.header)
    names = [cell.strip() for cell in rows[0]] if header else range(1, grid.shape[1] + 1)
    frame = grid.iloc[int(header) :].set_axis(names, axis=1)
    table = RawTable(title, frame.reset_index(drop=True).infer_objects(), where)
    return with_ids(table.with_row_numbers(frame.index.to_numpy()), (), options)
