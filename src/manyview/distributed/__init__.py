"""Many machines: the landmark strategy on a Dask cluster.

The mathematics are in `methods.landmarks`; here is how blocks of rows are run on workers, what workers write, and how a
fit goes on after it was cut short. Dask is the extra ``manyview[dask]``: nothing in the core imports this folder.
"""

from manyview.distributed.clusters import connect
from manyview.distributed.rows import DaskRows
from manyview.distributed.tables import as_rows, open_files

__all__ = ["DaskRows", "as_rows", "connect", "open_files"]
