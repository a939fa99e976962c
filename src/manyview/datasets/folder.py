"""The folder in which users keep data sets that cannot be shipped."""

from __future__ import annotations

import os
from pathlib import Path

from manyview.checks import InputError

VARIABLE = "MANYVIEW_DATA"


class MissingDataError(InputError):
    """A data set is not in the data folder; the message says where to get it and where to put it."""


def data_folder(given: str | Path | None, what: str) -> Path:
    """Return the data folder: the one given, else that of the environment variable MANYVIEW_DATA."""
    chosen = given or os.environ.get(VARIABLE)
    if not chosen:
        raise MissingDataError(f"{what} No data folder is set: give --data FOLDER, or set {VARIABLE}=FOLDER.")
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        raise MissingDataError(f"{what} The data folder {folder} is not there.")
    return folder


def below(folder: Path, *names: str) -> Path | None:
    """Return the first folder of one of these names (in any case) in `folder` or one or two levels under it."""
    wanted = {name.lower() for name in names}
    levels = [folder, *folder.glob("*"), *folder.glob("*/*")]
    return next((path for path in sorted(levels) if path.name.lower() in wanted and path.is_dir()), None)
