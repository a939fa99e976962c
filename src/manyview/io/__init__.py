"""Users' files: reading views, labels and metadata, writing results."""

from manyview.io.matching import Absent
from manyview.io.reading import TableOptions
from manyview.io.results import check_output, write_files
from manyview.io.tables import FORMATS, KEEP, Loaded, read_labels, read_metadata, read_views

__all__ = [
    "FORMATS",
    "KEEP",
    "Absent",
    "Loaded",
    "TableOptions",
    "check_output",
    "read_labels",
    "read_metadata",
    "read_views",
    "write_files",
]
