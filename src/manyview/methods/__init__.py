"""The clustering methods: one file or folder each, and the registry that maps keys to classes.

To add a method, derive a class from `base.MultiViewClusterer` and add a line to `METHODS`; the command line, the tests
over all methods and the tables find it by its key. Graphs, cuts and scaling shared by several methods belong in lower
layers; reading files and drawing belong in higher ones.
"""

from manyview.checks import check_choice, helped_by
from manyview.methods.base import MultiViewClusterer
from manyview.methods.ccamsc import CCAMSC
from manyview.methods.cotraining import CoTraining
from manyview.methods.lowrank.lrrgl import LRRGL
from manyview.methods.lowrank.rlrr import RLRR
from manyview.methods.lowrank.rmsc import RMSC
from manyview.methods.maasc import MAASC
from manyview.methods.mfmsc import MFMSC
from manyview.methods.ocbr import OCBR
from manyview.methods.paper_ocbr import PaperOCBR

METHODS: dict[str, type[MultiViewClusterer]] = {
    "mfmsc": MFMSC,
    "maasc": MAASC,
    "ccamsc": CCAMSC,
    "cotraining": CoTraining,
    "rlrr": RLRR,
    "rmsc": RMSC,
    "lrrgl": LRRGL,
    "paper-ocbr": PaperOCBR,
    "ocbr": OCBR,
}
"""Maps the key used on the command line and in result tables to the estimator class."""


@helped_by("methods")
def get_method(key: str) -> type[MultiViewClusterer]:
    """Return the estimator class registered under `key`.

    Parameters
    ----------
    key : str
        The key as listed by ``manyview methods``, for instance "ocbr".
    """
    return METHODS[check_choice("method", key, tuple(METHODS))]


__all__ = [
    "CCAMSC",
    "LRRGL",
    "MAASC",
    "METHODS",
    "MFMSC",
    "OCBR",
    "RLRR",
    "RMSC",
    "CoTraining",
    "MultiViewClusterer",
    "PaperOCBR",
    "get_method",
]
