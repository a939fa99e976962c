"""What the commands share on the terminal: consoles, tables, and the progress display."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from manyview.checks import printable
from manyview.numerics.progress import watched_by

out, err = Console(soft_wrap=True), Console(stderr=True, soft_wrap=True)


def print_line(text: str) -> None:
    """Print a line literally, without interpreting markup or control characters."""
    out.print(printable(text, keep="\n"), highlight=False, markup=False)


def print_written(paths: Sequence[Path]) -> None:
    """Print which files were written."""
    print_line("wrote " + ", ".join(map(str, paths)))


def print_note(text: str) -> None:
    """Print a note or a warning on stderr."""
    err.print(printable(text, keep="\n"), style="yellow", markup=False, highlight=False)


def print_table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Print a table: with borders on a terminal, as aligned columns in a pipe."""
    if not out.is_terminal:
        widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
        for row in (columns, *rows):
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            print_line(line.rstrip())
        return
    table = Table(*columns)
    for row in rows:
        table.add_row(*row)
    out.print(table)


@contextmanager
def display(*columns: ProgressColumn) -> Iterator[Progress]:
    """Show progress while the block runs, on a terminal only; otherwise old versions of rich print empty lines."""
    bar = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    with nullcontext() if bar.disable else bar:
        yield bar


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Show the current step, its progress and the time left, on a terminal only.

    Warnings are printed at the end, one line each, on stderr.
    """
    how_far = TextColumn("{task.fields[how_far]}", style="dim")
    columns = SpinnerColumn(), TextColumn("{task.description}"), how_far, TimeElapsedColumn()
    with warnings.catch_warnings(record=True) as caught, display(*columns) as bar:
        warnings.simplefilter("always")
        task = bar.add_task("starting", how_far="")
        with watched_by(lambda step: bar.update(task, how_far=str(step))):
            yield lambda text: bar.update(task, description=text, how_far="")
    for warning in dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning)):
        print_note(f"warning: {warning}")
