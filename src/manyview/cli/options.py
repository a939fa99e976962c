"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manyview.io import FORMATS

RESULTS = "manyview-results"

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES...",
        help=f"One table per view, or files with several tables ({', '.join(FORMATS)}). FILE::KEY selects one table of "
        "a file, NAME=FILE names the view.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help=f"Folder for the results; by default a new one: {RESULTS}, {RESULTS}-2, ...",
        show_default=False,
    ),
]
Truth = Annotated[Path | None, typer.Option(help="True labels, to score the result.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing results in the folder.")]
Delimiter = Annotated[
    str, typer.Option(help="Delimiter of text files: a character, or tab, comma, semicolon, pipe, space.")
]
Header = Annotated[str, typer.Option(help="Whether text files start with a line of column names: yes, no, or auto.")]
IdColumn = Annotated[str, typer.Option(help="Column of sample ids: its name, its number from 1, none, or auto.")]
DropText = Annotated[bool, typer.Option("--drop-text", help="Drop columns of text.")]
