"""Tables passed on by the process that read them: DataFrames become arrays and lists of plain values."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.io.guards import check_sparse
from manyview.io.raw_tables import RawTable, RowNumbers

NUMBERS, TEXTS = "biufc", "US"  # kinds of arrays that can be stored without pickle


def pack_table(table: RawTable) -> dict[str, Any]:
    """Return a table as arrays, sparse matrices and plain values, which `manyview.io.encoding` can encode."""
    return {
        "name": table.name,
        "where": table.where,
        "values": _packed(table.values, table.where),
        "ids": None if table.ids is None else _plain(table.ids),
        "features": None if table.features is None else _plain(table.features),
        "rows": table.locate.numbers if isinstance(table.locate, RowNumbers) else None,
    }


def unpack_table(parts: dict[str, Any]) -> RawTable:
    """Return the table that `pack_table` took apart."""
    values, rows = parts.pop("values"), parts.pop("rows")
    table = RawTable(**parts, values=_frame(**values) if isinstance(values, dict) else values)
    return table if rows is None else table.with_row_numbers(rows)


def _packed(values: Any, where: str) -> Any:
    if sp.issparse(values):
        check_sparse(values, where)
        return sp.csr_array(values)
    if not hasattr(values, "columns"):
        return _plain(values)
    same_type: dict[Any, list[int]] = {}
    for i, dtype in enumerate(values.dtypes):
        same_type.setdefault(dtype if isinstance(dtype, np.dtype) and dtype.kind in NUMBERS else None, []).append(i)
    blocks = [
        (at, [_plain(values.iloc[:, i]) for i in at] if dtype is None else values.iloc[:, at].to_numpy())
        for dtype, at in same_type.items()
    ]
    return {"names": _plain(values.columns), "blocks": blocks}


def _frame(names: NDArray[Any], blocks: list[tuple[list[int], Any]]) -> Any:
    """Put columns together: each block holds their positions, and a matrix or a list of columns."""
    import pandas as pd  # not at the top: a process that only reads arrays does not need it

    columns = {i: column for at, block in blocks for i, column in zip(at, _columns(block), strict=True)}
    frame = pd.DataFrame({i: columns[i] for i in sorted(columns)}).infer_objects()
    return frame.set_axis(pd.Index(names), axis=1)


def _columns(block: Any) -> Any:
    return block.T if isinstance(block, np.ndarray) else block


def _plain(values: Any) -> NDArray[Any]:
    """Return an array of numbers or text as it is; other values as numbers, text, or None if they are missing."""
    array = np.asarray(values)
    if array.dtype.kind in NUMBERS + TEXTS:
        return array
    import pandas as pd

    array = array if array.dtype == object else np.asarray(pd.Series(values).astype(object))
    plain = [value if isinstance(value, bool | int | float | str) else str(value) for value in array.ravel()]
    missing = np.ravel(pd.isna(array))
    result = np.empty(array.size, dtype=object)
    result[:] = [None if lost else value for value, lost in zip(plain, missing, strict=True)]
    return result
