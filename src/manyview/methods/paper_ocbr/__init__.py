"""The paper's own algorithm: Algorithm 1 as printed, and the same with its errata corrected.

Samples are columns here, as in the paper. `lagrangian` holds what both share, `printed` and `corrected` one function
per update equation, `estimator` the parameters. For real work, use `methods/ocbr`.
"""

from manyview.methods.paper_ocbr.estimator import PaperOCBR

__all__ = ["PaperOCBR"]
