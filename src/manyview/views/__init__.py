"""What comes in: the `Views` container, and `check_views`, the one gate that every input passes.

A *view* is a table, samples by features. All views have the same samples in the same order. NaN is a missing value. A
sample is *absent* from a view if all of its values there are missing: a row of NaN or, in a sparse view (which does not
store zeros), a row that stores nothing but NaN.

Code that turns users' objects into such tables and checks them belongs here. Files are read in `io`; values are changed
in `preprocessing`.
"""

from manyview.views.container import Views
from manyview.views.conversion import is_table
from manyview.views.gate import check_views
from manyview.views.presence import present_rows, spread_rows

__all__ = ["Views", "check_views", "is_table", "present_rows", "spread_rows"]
