"""How good a clustering is: agreement with known classes (`metrics`), and stability under resampling (`stability`).

A new score is a function in `metrics` and an entry in `METRICS`. Nothing here changes a result. Experiments over many
data sets belong in `experiments`.
"""

from manyview.evaluation.metrics import (
    METRICS,
    adjusted_rand_index,
    clustering_accuracy,
    consensus_ratio,
    normalized_mutual_information,
    pairwise_f_score,
    purity,
    score_labels,
)
from manyview.evaluation.stability import Stability, assess_stability

__all__ = [
    "METRICS",
    "Stability",
    "adjusted_rand_index",
    "assess_stability",
    "clustering_accuracy",
    "consensus_ratio",
    "normalized_mutual_information",
    "pairwise_f_score",
    "purity",
    "score_labels",
]
