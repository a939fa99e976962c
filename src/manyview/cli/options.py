"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manyview.io import (
    FORMATS,
)

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES...",
        help=f"One table per view, or files that hold several ({', '.join(FORMATS)}). FILE::KEY picks what is in a "
        "file, NAME=FILE names the view.",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")]
Truth = Annotated[Path | None, typer.Option(help="True labels, to score the result against.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite results in the folder.")]
Delimiter = Annotated[str, typer.Option(help="Of text files: a character, or tab, comma, semicolon, pipe, space.")]
Header = Annotated[str, typer.Option(help="Whether text files have a line of column names: yes, no, or auto.")]
IdColumn = Annotated[str, typer.Option(help="Column of sample ids: its name, its number from 1, none, or auto.")]
DropText = Annotated[bool, typer.Option("--drop-text", help="Leave out columns of text.")]
