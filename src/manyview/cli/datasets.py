"""`manyview datasets`: list the data sets, and export the embedded one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from manyview.cli.terminal import print_table, print_written
from manyview.datasets import DIGITS_VIEWS, Dataset, MissingDataError, load_awa, load_digits, load_nus
from manyview.io.writing import write_files


def datasets(
    export: Annotated[
        Path | None, typer.Option(help="Write the digits to this folder: a CSV file per view, and labels.csv.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files in the folder.")] = False,
) -> None:
    """List the data sets of the paper, or export the embedded digits as CSV files to experiment with."""
    digits = load_digits(tuple(DIGITS_VIEWS))
    if export is not None:
        written = write_files(export, as_csv(digits), force=force)
        print_written(written)
        return
    rows = [dataset_row(digits, "embedded"), local_dataset_row("awa", load_awa), local_dataset_row("nus", load_nus)]
    print_table(("name", "where", "shape", "description"), rows)


def dataset_row(data: Dataset, where: str) -> tuple[str, ...]:
    """Return the row of the table for a data set."""
    views = ", ".join(f"{name} {X.shape[1]}" for name, X in data.views.items())
    shape = f"{data.views.n_samples} samples, {data.n_classes} classes; views: {views}"
    return data.name, where, shape, data.description


def local_dataset_row(name: str, load: Callable[[], Dataset]) -> tuple[str, ...]:
    """Return the row for a data set that is not embedded; if it is not found, it says how to get it."""
    try:
        return dataset_row(load(), "data folder")
    except MissingDataError as error:
        return name, "not found", "", str(error)


def as_csv(data: Dataset) -> dict[str, str]:
    """Return a data set as CSV files with sample ids, one per view and one of labels."""
    ids = pd.Index([f"sample{i:04d}" for i in range(data.views.n_samples)], name="id")
    tables = {name: pd.DataFrame(X, index=ids).add_prefix(f"{name}_") for name, X in data.views.items()}
    tables["labels"] = pd.DataFrame({"label": data.labels}, index=ids)
    return {f"{name}.csv": table.to_csv() for name, table in tables.items()}
