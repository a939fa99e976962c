"""What the command line does on a cluster: cluster or assign the samples in files; workers write the labels."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client

from manyview._version import __version__
from manyview.distributed.rows import DaskResults, DaskRows
from manyview.distributed.tables import file_rows
from manyview.io.checkpoints import FileStages
from manyview.io.row_tables import RowTable, file_stamp, naming_table
from manyview.methods.base import MultiViewClusterer
from manyview.methods.landmarks.blocks import Block, Results
from manyview.methods.landmarks.strategy import LandmarkStrategy
from manyview.methods.result import label_frame
from manyview.partition.membership import Assigned
from manyview.typing import Labels

LABEL_PARTS = "labels.parquet"
CHECKPOINT, UNFINISHED = ".manyview-checkpoint", ".manyview-labels"


@dataclass(eq=False)
class WritingRows(DaskRows):
    """Rows whose labels are written by the workers, one file per partition, into a folder that all can access."""

    folder: Path = field(kw_only=True)
    named: RowTable = field(kw_only=True)
    sizes: Labels | None = None

    @classmethod
    def of(cls, tables: Mapping[str, RowTable], client: Client, out_dir: Path, part_rows: int | None) -> WritingRows:
        """Create them from files and a folder for the results."""
        rows = file_rows(tables, client, part_rows)
        return cls(client, rows.parts, folder=out_dir / UNFINISHED, named=naming_table(tables))

    def join(self, assigned: Results[Assigned]) -> Assigned:
        """Write the labels; return them as dask arrays."""
        assert isinstance(assigned, DaskResults)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        write = partial(write_labels, folder=str(self.folder.absolute()), named=self.named)
        sent = self.send(write)
        futures = [
            self.client.submit(call, sent, future, part.start, part.stop, pure=False)
            for future, part in zip(assigned.futures, self.parts, strict=True)
        ]
        self.sizes = DaskResults(self, self.track(futures)).total().counts
        return super().join(assigned)

    def publish(self, out_dir: Path) -> Path:
        """Move the folder of labels to its final place, in one step."""
        target = out_dir / LABEL_PARTS
        shutil.rmtree(target, ignore_errors=True)
        os.replace(self.folder, target)
        return target

    def clear(self) -> None:
        """Cancel all tasks, and remove incomplete labels."""
        self.cancel()
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True)
class Sizes:
    """How many samples have each label; partitions may lack the last ones."""

    counts: Labels

    def __add__(self, other: Sizes) -> Sizes:
        longer, shorter = sorted((self.counts, other.counts), key=len, reverse=True)
        total = longer.copy()
        total[: len(shorter)] += shorter
        return Sizes(total)


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call, on a worker, the function that was sent to it."""
    return function(*arguments)


def write_labels(assigned: Assigned, start: int, stop: int, folder: str, named: RowTable) -> Sizes:
    """Write the labels of a partition; the file appears when it is complete, and may be written again."""
    ids = named.read_ids(start, stop)
    path = Path(folder) / f"part-{start:012d}.parquet"
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    label_frame(assigned.labels, assigned, ids).reset_index().to_parquet(unfinished, index=False)
    os.replace(unfinished, path)
    return Sizes(np.bincount(assigned.labels))


def cluster_files(
    model: LandmarkStrategy,
    tables: Mapping[str, RowTable],
    client: Client,
    out_dir: Path,
    *,
    resume: bool = False,
    part_rows: int | None = None,
) -> tuple[Labels, Path]:
    """Fit a model to files, write the labels, and return how many samples each cluster has and where the labels are.

    Finished stages are kept in the folder until the fit is done; with `resume` they are used.
    """
    stages = FileStages(out_dir / CHECKPOINT, identity(model, tables), resume=resume)
    rows = WritingRows.of(tables, client, out_dir, part_rows)
    try:
        model._fit_rows(rows, stages)
        written = rows.publish(out_dir)
    except BaseException:
        rows.clear()
        raise
    stages.remove()
    assert rows.sizes is not None
    return rows.sizes, written


def predict_files(
    model: MultiViewClusterer,
    tables: Mapping[str, RowTable],
    client: Client,
    out_dir: Path,
    *,
    part_rows: int | None = None,
) -> tuple[Labels, Path]:
    """Assign the samples in files to the clusters of a model; write and return as `cluster_files` does."""
    rows = WritingRows.of(tables, client, out_dir, part_rows)
    try:
        rows.join(rows.each(partial(predict_block, model=model)))
        written = rows.publish(out_dir)
    except BaseException:
        rows.clear()
        raise
    assert rows.sizes is not None
    return rows.sizes, written


def predict_block(block: Block, model: MultiViewClusterer) -> Assigned:
    """Assign the samples of a block."""
    return model._assign(block.views)


def identity(model: MultiViewClusterer, tables: Mapping[str, RowTable]) -> dict[str, Any]:
    """Return what the result depends on."""
    parameters = {name: repr(value) for name, value in model.get_params(deep=False).items() if name != "callback"}
    files = {path: list(file_stamp(path)) for table in tables.values() for path in table.files}
    shapes = {name: list(table.shape) for name, table in tables.items()}
    return {"files": files, "views": shapes, "parameters": parameters, "method": type(model).__name__,
            "manyview": __version__}  # fmt: skip
