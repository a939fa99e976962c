"""The systems, one file each, and the registry that maps keys to classes."""

from manyview.checks import check_choice
from manyview.methods.base import MultiViewClusterer
from manyview.methods.mfmsc import MFMSC

METHODS: dict[str, type[MultiViewClusterer]] = {"mfmsc": MFMSC}
"""Key, as used on the command line and in result tables, to estimator class."""


def get_method(key: str) -> type[MultiViewClusterer]:
    """Return the estimator class registered under `key`."""
    return METHODS[check_choice("method", key, tuple(METHODS))]


__all__ = ["METHODS", "MFMSC", "MultiViewClusterer", "get_method"]
