"""Clustering of samples that are described by several views."""

from manyview._version import __version__
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
from manyview.methods import CCAMSC, LRRGL, MAASC, METHODS, MFMSC, OCBR, RLRR, RMSC, CoTraining, PaperOCBR, get_method
from manyview.views.container import Views
from manyview.views.gate import check_views

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
