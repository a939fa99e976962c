"""Clustering of samples described by several views.

Names are imported on first use, so that a process which only reads a file starts quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from manyview._version import __version__

if TYPE_CHECKING:
    from manyview.checks import InputError
    from manyview.datasets import DIGITS_VIEWS, Dataset, load_digits, make_views
    from manyview.evaluation.metrics import (
        adjusted_rand_index,
        clustering_accuracy,
        consensus_ratio,
        normalized_mutual_information,
        pairwise_f_score,
        purity,
        score_labels,
    )
    from manyview.evaluation.stability import Stability, assess_stability
    from manyview.io import annotated as tl
    from manyview.io.models import load, save
    from manyview.methods import (
        CCAMSC,
        LRRGL,
        MAASC,
        METHODS,
        MFMSC,
        OCBR,
        RLRR,
        RMSC,
        CoTraining,
        PaperOCBR,
        get_method,
    )
    from manyview.views.container import Views
    from manyview.views.gate import check_views

_HOMES = {
    "checks": ("InputError",),
    "datasets": ("DIGITS_VIEWS", "Dataset", "load_digits", "make_views"),
    "evaluation.metrics": (
        "adjusted_rand_index",
        "clustering_accuracy",
        "consensus_ratio",
        "normalized_mutual_information",
        "pairwise_f_score",
        "purity",
        "score_labels",
    ),
    "evaluation.stability": ("Stability", "assess_stability"),
    "io.models": ("load", "save"),
    "methods": (
        "CCAMSC",
        "LRRGL",
        "MAASC",
        "METHODS",
        "MFMSC",
        "OCBR",
        "RLRR",
        "RMSC",
        "CoTraining",
        "PaperOCBR",
        "get_method",
    ),
    "views.container": ("Views",),
    "views.gate": ("check_views",),
}
_FOLDERS = ("datasets", "evaluation", "experiments", "graphs", "io", "methods", "partition", "preprocessing", "report")
_MODULES = {"tl": "io.annotated"} | {name: name for name in (*_FOLDERS, "numerics", "views")}

__all__ = [
    "CCAMSC",
    "DIGITS_VIEWS",
    "LRRGL",
    "MAASC",
    "METHODS",
    "MFMSC",
    "OCBR",
    "RLRR",
    "RMSC",
    "CoTraining",
    "Dataset",
    "InputError",
    "PaperOCBR",
    "Stability",
    "Views",
    "__version__",
    "adjusted_rand_index",
    "assess_stability",
    "check_views",
    "clustering_accuracy",
    "consensus_ratio",
    "get_method",
    "load",
    "load_digits",
    "make_views",
    "normalized_mutual_information",
    "pairwise_f_score",
    "purity",
    "save",
    "score_labels",
    "tl",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{_MODULES[name]}")
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return __all__
