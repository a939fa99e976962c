"""The command line. Exit codes: 0 done, 2 usage or bad input, 130 interrupted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import pandas as pd
import typer

import manyview
from manyview import commands
from manyview.checks import InputError
from manyview.datasets import Dataset, MissingDataError, load_awa, load_nus
from manyview.experiments import commands as experiments
from manyview.io import write_files
from manyview.methods import METHODS
from manyview.terminal import err, out, progress, say, show

app = typer.Typer(
    help="Cluster samples that are described by several views.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # of the click that typer carries, or of click itself


def main(words: list[str] | None = None) -> None:
    """Run the command line; mistakes in words or input are told in one line, without a traceback."""
    try:
        code = app(words, standalone_mode=False)
    except UsageError as error:
        message = error.format_message()  # type: ignore[attr-defined]
        if not message:  # no words at all: the help has been shown
            sys.exit(2)
        fail(f"{message} See 'manyview --help'.")
    except (InputError, OSError) as error:
        fail(str(error))
    sys.exit(code if isinstance(code, int) else 0)


def fail(message: str, code: int = 2) -> NoReturn:
    """Print a one-line error and exit."""
    err.print(f"error: {' '.join(message.split())}", style="red", markup=False, highlight=False)
    sys.exit(code)


@app.callback(invoke_without_command=True)
def options(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Cluster samples that are described by several views."""
    if show_version:
        out.print(f"manyview {manyview.__version__}", highlight=False)
        raise typer.Exit


@app.command()
def methods() -> None:
    """List the clustering methods."""
    show(("key", "name", "what it does"), [(key, cls.__name__, first_line(cls)) for key, cls in METHODS.items()])


@app.command()
def datasets(
    export: Annotated[Path | None, typer.Option(help="Write the digits there: a CSV per view, and labels.csv.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files in the folder.")] = False,
) -> None:
    """List the data sets of the paper, or write the embedded digits as CSV files to try things on."""
    digits = manyview.load_digits(tuple(manyview.DIGITS_VIEWS))
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


@app.command()
def demo(
    out_dir: Annotated[Path, typer.Option("--out", "-o", help="Folder for the labels and the picture.")] = Path(
        "manyview-demo"
    ),
) -> None:
    """Run the main job on embedded data: the UCI digits with a fifth of the entries corrupted."""
    from manyview.demo import NOISE, run_demo, write_demo

    with progress() as tell:
        rows = run_demo(on_row=lambda row: tell(f"{row.name}: ACC {row.acc:.3f}"))
        written = write_demo(rows, out_dir)
    out.print(f"UCI digits, views Fourier + profile correlations, {NOISE:.0%} of the entries corrupted")
    show(
        ("clustered", "ACC", "NMI", "seconds"),
        [(row.name, f"{row.acc:.3f}", f"{row.nmi:.3f}", f"{row.seconds:.2f}") for row in rows],
    )
    say(f"labels: {written[0]}\npicture: {written[1]}")


def as_csv(data: Dataset) -> dict[str, str]:
    """Return a data set as CSV files with sample ids, one per view and one of labels."""
    ids = pd.Index([f"sample{i:04d}" for i in range(data.views.n_samples)], name="id")
    tables = {name: pd.DataFrame(X, index=ids).add_prefix(f"{name}_") for name, X in data.views.items()}
    tables["labels"] = pd.DataFrame({"label": data.labels}, index=ids)
    return {f"{name}.csv": table.to_csv() for name, table in tables.items()}


commands.register(app)  # cluster, predict
experiments.register(app)  # bench, reproduce


def first_line(cls: type) -> str:
    """Return the first sentence of a class's docstring."""
    return (cls.__doc__ or "").strip().splitlines()[0]
