"""OCBR: orthogonal clustering basis reconstruction.

The data pass through these modules: `recovery` and `counts` clean one table, `treated` all views; `layers` builds
graphs from them, `consensus` finds the partition, and `placing` assigns new samples. `settings` holds the constants,
`estimator` the parameters. The paper's own algorithm is in `methods/paper_ocbr`.
"""

from manyview.methods.ocbr.estimator import OCBR

__all__ = ["OCBR"]
