"""The folder where users keep data sets that cannot be distributed with the package."""

from __future__ import annotations

import os
from pathlib import Path

from manyview.checks import InputError

VARIABLE = "MANYVIEW_DATA"


class MissingDataError(InputError):
    """A data set was not found; the message says where to get it and where to put it."""


def data_folder(given: str | Path | None, what: str) -> Path:
    """Return the data folder: the given one, otherwise the one in the environment variable MANYVIEW_DATA."""
    chosen = given or os.environ.get(VARIABLE)
    if not chosen:
        raise MissingDataError(f"{what} No data folder is set: give --data FOLDER, or set {VARIABLE}=FOLDER.")
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        raise MissingDataError(f"{what} The data folder {folder} was not found.")
    return folder


def find_folder(folder: Path, *names: str) -> Path | None:
    """Return the first folder with one of these names, ignoring case, up to two levels below `folder`."""
    wanted = {name.lower() for name in names}
    levels = [folder, *folder.glob("*"), *folder.glob("*/*")]
    return next((path for path in sorted(levels) if path.name.lower() in wanted and path.is_dir()), None)
