"""`manyview datasets`: list the data sets, and export the embedded one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from manyview.checks import check_choice
from manyview.cli.options import completing
from manyview.cli.terminal import print_table, print_written
from manyview.datasets import DIGITS_VIEWS, Dataset, MissingDataError, load_awa, load_digits, load_nus, make_tumours
from manyview.io.writing import check_output, csv_text, write_files


def all_digits() -> Dataset:
    """Return the digits with all their views."""
    return load_digits(tuple(DIGITS_VIEWS))


EXPORTED: dict[str, Callable[[], Dataset]] = {"digits": all_digits, "tumours": make_tumours}


def datasets(
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write a data set to this folder: one CSV file per view, labels.csv, and metadata.csv if it has any."
        ),
    ] = None,
    name: Annotated[
        str,
        typer.Option(
            help=f"The data set to export: {', '.join(EXPORTED)}.",
            autocompletion=completing(EXPORTED),
        ),
    ] = "digits",
    force: Annotated[bool, typer.Option("--force", help="Overwrite files in the folder.")] = False,
) -> None:
    """List the data sets, or export one as CSV files to experiment with."""
    check_choice("--name", name, tuple(EXPORTED))
    if export is not None:
        check_output(export, (), force=force)
        written = write_files(export, as_csv(EXPORTED[name]()), force=force)
        print_written(written)
        return
    rows = [dataset_row(all_digits(), "embedded"), dataset_row(make_tumours(), "generated")]
    rows += [local_dataset_row("awa", load_awa), local_dataset_row("nus", load_nus)]
    print_table(("name", "where", "shape", "description"), rows)


def dataset_row(data: Dataset, where: str) -> tuple[str, ...]:
    """Return the row of the table for a data set."""
    views = ", ".join(f"{name} {X.shape[1]}" for name, X in data.views.items())
    shape = f"{data.views.n_samples} samples, {data.n_classes} classes; views: {views}"
    return data.name, where, shape, data.description


def local_dataset_row(name: str, load: Callable[[], Dataset]) -> tuple[str, ...]:
    """Return the row for a data set that is not embedded; if the data are not found, the row says how to get them."""
    try:
        return dataset_row(load(), "data folder")
    except MissingDataError as error:
        return name, "not found", "", str(error)


def as_csv(data: Dataset) -> dict[str, str]:
    """Return a data set as CSV files with sample ids: views (without absent samples), labels and metadata."""
    known = data.views.sample_ids
    ids = pd.Index([f"sample{i:04d}" for i in range(len(data.labels))] if known is None else known, name="id")
    tables = {}
    for i, (name, X) in enumerate(data.views.items()):
        features = data.views.feature_names[i]
        columns = [f"{name}_{j}" for j in range(X.shape[1])] if features is None else features
        tables[name] = pd.DataFrame(X, index=ids, columns=columns).dropna(how="all")
    tables["labels"] = pd.DataFrame({"label": data.labels}, index=ids)
    if data.metadata is not None:
        tables["metadata"] = data.metadata.rename_axis(index="id")
    return {f"{name}.csv": csv_text(table) for name, table in tables.items()}
