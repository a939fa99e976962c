"""OCBR: orthogonal clustering basis reconstruction.

The way of the data: `recovery` and `counts` clean one table, `recovered` all views; `layers` makes graphs of them,
`consensus` finds the partition, `placing` puts new samples into it. `settings` holds the constants, `estimator` the
parameters. The paper's own algorithm is in `methods/paper_ocbr`.
"""

from manyview.methods.ocbr.estimator import OCBR

__all__ = ["OCBR"]
