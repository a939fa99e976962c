"""The systems, one file each, and the registry that maps keys to classes."""

from manyview.checks import check_choice
from manyview.methods.base import MultiViewClusterer
from manyview.methods.ccamsc import CCAMSC
from manyview.methods.cotraining import CoTraining
from manyview.methods.lowrank.lrrgl import LRRGL
from manyview.methods.lowrank.rlrr import RLRR
from manyview.methods.maasc import MAASC
from manyview.methods.mfmsc import MFMSC
from manyview.methods.ocbr import OCBR

METHODS: dict[str, type[MultiViewClusterer]] = {
    "mfmsc": MFMSC,
    "maasc": MAASC,
    "ccamsc": CCAMSC,
    "cotraining": CoTraining,
    "rlrr": RLRR,
    "lrrgl": LRRGL,
    "ocbr": OCBR,
}
"""Key, as used on the command line and in result tables, to estimator class."""


def get_method(key: str) -> type[MultiViewClusterer]:
    """Return the estimator class registered under `key`."""
    return METHODS[check_choice("method", key, tuple(METHODS))]


__all__ = [
    "CCAMSC",
    "LRRGL",
    "MAASC",
    "METHODS",
    "MFMSC",
    "OCBR",
    "RLRR",
    "CoTraining",
    "MultiViewClusterer",
    "get_method",
]
