"""Users' files and objects: reading views, labels and metadata, writing results, saved models, AnnData and MuData.

A new format is a reader in a file of its own and an entry in `tables.FORMATS`. Nothing here clusters; the data sets of
the paper are in `datasets`. Names are loaded when they are asked for, as most readers need pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyview.io.matching import Absent
    from manyview.io.models import load, save
    from manyview.io.reading import TableOptions
    from manyview.io.tables import FORMATS, KEEP, Loaded, read_labels, read_metadata, read_views
    from manyview.io.writing import check_output, write_files

_HOMES = {
    "matching": ("Absent",),
    "models": ("load", "save"),
    "reading": ("TableOptions",),
    "tables": ("FORMATS", "KEEP", "Loaded", "read_labels", "read_metadata", "read_views"),
    "writing": ("check_output", "write_files"),
}

__all__ = [
    "FORMATS",
    "KEEP",
    "Absent",
    "Loaded",
    "TableOptions",
    "check_output",
    "load",
    "read_labels",
    "read_metadata",
    "read_views",
    "save",
    "write_files",
]


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
