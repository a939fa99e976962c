"""Reading and writing users' files: views, labels, metadata, results, saved models, AnnData and MuData.

To add a format, write a reader in a new file and add an entry to `tables.FORMATS`. Only `annotated` (`manyview.tl`)
clusters: it runs a method on an AnnData or MuData object. The paper's data sets are in `datasets`. Names are imported
on first use, because most readers need pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyview.io.matching import MissingSamples
    from manyview.io.models import load, save
    from manyview.io.raw_tables import TableOptions
    from manyview.io.tables import FORMATS, SAMPLES, LoadedViews, read_labels, read_metadata, read_views
    from manyview.io.writing import check_output, unused_folder, write_files

_HOMES = {
    "matching": ("MissingSamples",),
    "models": ("load", "save"),
    "raw_tables": ("TableOptions",),
    "tables": ("FORMATS", "SAMPLES", "LoadedViews", "read_labels", "read_metadata", "read_views"),
    "writing": ("check_output", "unused_folder", "write_files"),
}

__all__ = [
    "FORMATS",
    "SAMPLES",
    "LoadedViews",
    "MissingSamples",
    "TableOptions",
    "check_output",
    "load",
    "read_labels",
    "read_metadata",
    "read_views",
    "save",
    "unused_folder",
    "write_files",
]


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
