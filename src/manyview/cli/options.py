"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from manyview.cli.methods import first_line
from manyview.io import FORMATS
from manyview.io.raw_tables import HEADERS
from manyview.methods import METHODS

RESULTS = "manyview-results"
PANELS = INPUT, METHOD, OUTPUT, REPORT, DASK = "Input", "Method", "Output", "Report", "Dask"


def completing(words: Iterable[str]) -> Callable[[str], list[str]]:
    """Return a function that gives those of the words that begin with a text, for shell completion."""

    def complete(begun: str) -> list[str]:
        return [word for word in words if word.startswith(begun)]

    return complete


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help=f"One table per view, or files with several tables ({', '.join(FORMATS)}). FILE::KEY selects one table in "
        "a file, NAME=FILE names the view.",
        show_default=False,
        rich_help_panel="Files",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help=f"Folder for the results; by default a new one: {RESULTS}, {RESULTS}-2, ...",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Truth = Annotated[Path | None, typer.Option(help="True labels, to score the result.", rich_help_panel=REPORT)]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite existing results in the folder.", rich_help_panel=OUTPUT)
]
Delimiter = Annotated[
    str,
    typer.Option(
        help="Delimiter of text files: a character, or tab, comma, semicolon, pipe, space.", rich_help_panel=INPUT
    ),
]
Header = Annotated[
    str,
    typer.Option(
        help="Whether text files start with a line of column names: yes, no, or auto.",
        autocompletion=completing(HEADERS),
        rich_help_panel=INPUT,
    ),
]
IdColumn = Annotated[
    str, typer.Option(help="Column of sample ids: its name, its number from 1, none, or auto.", rich_help_panel=INPUT)
]
DropText = Annotated[bool, typer.Option("--drop-text", help="Drop columns of text.", rich_help_panel=INPUT)]
Missing = Annotated[
    list[str],
    typer.Option(
        metavar="CODE",
        help="A number or word that means a missing value, such as -999, in views and metadata. May be repeated.",
        rich_help_panel=INPUT,
    ),
]

Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Run on a Dask cluster: local, or a scheduler's tcp://HOST:PORT. Each view is a NAME=PATTERN of Parquet "
        "files; the labels are written in parts by the workers.",
        rich_help_panel=DASK,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Worker processes of --dask local; one per core by default.", rich_help_panel=DASK),
]
Tls = Annotated[
    tuple[Path, Path, Path] | None,
    typer.Option(metavar="CA CERT KEY", help="Files for a TLS connection to the Dask scheduler.", rich_help_panel=DASK),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="With --dask: continue where an earlier run into the same folder stopped.",
        rich_help_panel=DASK,
    ),
]


def complete_method(begun: str) -> list[tuple[str, str]]:
    """Return the method keys that begin with this text, and what they do, for shell completion."""
    found = [(key, cls) for key, cls in METHODS.items() if key.startswith(begun)]
    return [(key, first_line(cls)) for key, cls in found]


def examples(lines: Mapping[str, str]) -> str:
    """Return an example for each group of options, to show below the help."""
    return "\n\n".join(("Examples", *(f"{panel}: {line}" for panel, line in lines.items())))
