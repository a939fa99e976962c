"""Users' files: reading views and labels, writing results."""

from manyview.io.results import check_output, write_files
from manyview.io.tables import FORMATS, read_labels, read_views

__all__ = ["FORMATS", "check_output", "read_labels", "read_views", "write_files"]
