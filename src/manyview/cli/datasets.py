"""`manyview datasets`: the data sets of the paper, and the embedded one as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from manyview.cli.terminal import say, show
from manyview.datasets import DIGITS_VIEWS, Dataset, MissingDataError, load_awa, load_digits, load_nus
from manyview.io.writing import write_files


def datasets(
    export: Annotated[Path | None, typer.Option(help="Write the digits there: a CSV per view, and labels.csv.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files in the folder.")] = False,
) -> None:
    """List the data sets of the paper, or write the embedded digits as CSV files to try things on."""
    digits = load_digits(tuple(DIGITS_VIEWS))
    if export is not None:
        written = write_files(export, as_csv(digits), force=force)
        say("wrote " + ", ".join(map(str, written)))
        return
    rows = [described(digits, "embedded"), found_or_not("awa", load_awa), found_or_not("nus", load_nus)]
    show(("name", "where", "shape", "description"), rows)


def described(data: Dataset, where: str) -> tuple[str, ...]:
    """Return the line about a data set."""
    views = ", ".join(f"{name} {X.shape[1]}" for name, X in data.views.items())
    shape = f"{data.views.n_samples} samples, {data.n_classes} classes; views: {views}"
    return data.name, where, shape, data.description


def found_or_not(name: str, load: Callable[[], Dataset]) -> tuple[str, ...]:
    """Return the line about a data set that users have to get themselves, or how to get it."""
    try:
        return described(load(), "data folder")
    except MissingDataError as error:
        return name, "not there", "", str(error)


def as_csv(data: Dataset) -> dict[str, str]:
    """Return a data set as CSV files with sample ids, one per view and one of labels."""
    ids = pd.Index([f"sample{i:04d}" for i in range(data.views.n_samples)], name="id")
    tables = {name: pd.DataFrame(X, index=ids).add_prefix(f"{name}_") for name, X in data.views.items()}
    tables["labels"] = pd.DataFrame({"label": data.labels}, index=ids)
    return {f"{name}.csv": table.to_csv() for name, table in tables.items()}
