"""Parquet files."""

from __future__ import annotations

from pathlib import Path

from manyview.io.frames import with_ids
from manyview.io.guards import check_size, reading, require
from manyview.io.raw_tables import RawTable, TableOptions


def read_parquet(path: Path, keys: tuple[str, ...], options: TableOptions) -> list[RawTable]:
    """Read a Parquet file as one table; a key is the name of a column."""
    with reading(path, "a Parquet file"):
        parquet = require("pyarrow.parquet", "parquet")
        with parquet.ParquetFile(path) as file:
            check_size(path, 8 * file.metadata.num_rows * file.metadata.num_columns)
            frame = file.read().to_pandas()
    return [with_ids(RawTable(path.stem, frame, str(path)), keys, options)]
