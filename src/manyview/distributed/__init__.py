"""Many machines: the landmark strategy on a Dask cluster.

The mathematics are in `methods.landmarks`; this folder runs blocks of rows on workers, lets workers write results, and
resumes interrupted fits. Dask is the extra ``manyview[dask]``: nothing in the core imports this folder.
"""

from manyview.distributed.clusters import connect
from manyview.distributed.rows import DaskRows
from manyview.distributed.tables import as_rows, open_files

__all__ = ["DaskRows", "as_rows", "connect", "open_files"]
