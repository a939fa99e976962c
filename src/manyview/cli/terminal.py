"""What the commands share on the terminal: the consoles, tables, and the display of progress."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

out, err = Console(soft_wrap=True), Console(stderr=True, soft_wrap=True)


def say(text: str) -> None:
    """Print a line of text as it is, whatever is in it."""
    out.print(text, highlight=False, markup=False)


def note(text: str) -> None:
    """Print a line on stderr about something that went otherwise than expected."""
    err.print(text, style="yellow", markup=False, highlight=False)


def show(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Print a table: drawn on a terminal, as plain aligned columns in a pipe."""
    if not out.is_terminal:
        widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
        for row in (columns, *rows):
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            say(line.rstrip())
        return
    table = Table(*columns)
    for row in rows:
        table.add_row(*row)
    out.print(table)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Show what is being done, on a terminal only; warnings become one-line notes on stderr."""
    with (
        warnings.catch_warnings(record=True) as caught,
        Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=err,
            transient=True,
            disable=not err.is_terminal,
        ) as bar,
    ):
        warnings.simplefilter("always")
        task = bar.add_task("starting")
        yield lambda text: bar.update(task, description=text)
    for warning in dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning)):
        note(f"warning: {warning}")
