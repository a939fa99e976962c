"""`manyview cluster` on files that are read in blocks of rows, so that they may be larger than memory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from manyview.cli.about_samples import Samples
from manyview.cli.results import (
    MODEL,
    RESULT_FILES,
    DataFacts,
    build_summary,
    label_table,
    outcome_line,
    reading_facts,
    to_json,
)
from manyview.cli.terminal import print_line, print_written, progress
from manyview.evaluation.findings import Findings
from manyview.io import TableOptions, write_files
from manyview.io.models import to_bytes
from manyview.io.results import LABELS, SUMMARY
from manyview.io.row_tables import RowTable, can_read_by_rows, naming_table, open_row_tables
from manyview.methods import MultiViewClusterer

BLOCK = 100_000  # labels written at a time


def reads_by_rows(model: MultiViewClusterer, files: Sequence[str]) -> bool:
    """Return whether landmarks were requested and the files can be read in blocks of rows."""
    return model.get_params().get("strategy") == "landmarks" and can_read_by_rows(files)


def cluster_by_rows(
    model: MultiViewClusterer,
    method: str,
    files: Sequence[str],
    out_dir: Path,
    *,
    options: TableOptions,
    truth: Path | None,
    save: bool,
    force: bool,
) -> None:
    """Cluster, and write labels, summary and model."""
    with progress() as show_status:
        show_status("opening files")
        tables = open_row_tables(files, options)
        n_samples = next(iter(tables.values())).shape[0]
        labels = Samples(_read_ids(tables, n_samples) if truth else None, n_samples, files).truth(truth)
        show_status(f"clustering {n_samples} samples, {len(tables)} views, with {method}, in blocks of rows")
        start = time.perf_counter()
        model.fit(tables)
        seconds = {"fit": round(time.perf_counter() - start, 4)}
        summary = build_summary(model, method, row_facts(model, tables), files, seconds, labels, None, Findings())
        summary |= reading_facts(options)
        contents: dict[str, Any] = {LABELS: label_lines(tables, model.to_frame()), SUMMARY: to_json(summary)}
        if save:
            contents[MODEL] = to_bytes(model)
        show_status("writing labels")
        written = write_files(out_dir, contents, force=force, replaces=RESULT_FILES)
    print_line(outcome_line(model, summary))
    print_written(written)


def row_facts(model: MultiViewClusterer, tables: Mapping[str, RowTable]) -> DataFacts:
    """Return what the summary says about the data."""
    n_samples = next(iter(tables.values())).shape[0]
    n_features = {name: table.shape[1] for name, table in tables.items()}
    n_present = getattr(model, "_n_present", dict.fromkeys(tables, n_samples))
    return DataFacts(n_samples, n_features, n_present, {})


def _read_ids(tables: Mapping[str, RowTable], n_samples: int) -> NDArray[Any] | None:
    """Return the sample ids from the first view that has any."""
    table = naming_table(tables)
    return np.asarray(table.read_ids(0, n_samples)) if table.has_ids else None


def label_lines(tables: Mapping[str, RowTable], frame: pd.DataFrame) -> Iterator[bytes]:
    """Yield the table of labels as CSV, in blocks of lines, with the sample ids from the first view that has any."""
    table = naming_table(tables)
    for start in range(0, len(frame), BLOCK):
        part = frame.iloc[start : start + BLOCK]
        ids = table.read_ids(start, start + len(part))
        yield label_table(part.set_axis(ids), header=start == 0).encode()
