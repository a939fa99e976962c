"""How good clusters are: agreement, stability, markers, associations with metadata and survival, comparisons.

To add a score, write a function in `metrics` and add an entry to `METRICS`. Nothing here changes a result or draws.
Experiments over many data sets belong in `experiments`.
"""

from manyview.evaluation.associations import associate
from manyview.evaluation.batches import BatchMixing, mix_batches
from manyview.evaluation.comparison import Comparison, compare_results
from manyview.evaluation.markers import find_markers
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
from manyview.evaluation.survival import Survival, compare_survival

__all__ = [
    "METRICS",
    "BatchMixing",
    "Comparison",
    "Stability",
    "Survival",
    "adjusted_rand_index",
    "assess_stability",
    "associate",
    "clustering_accuracy",
    "compare_results",
    "compare_survival",
    "consensus_ratio",
    "find_markers",
    "mix_batches",
    "normalized_mutual_information",
    "pairwise_f_score",
    "purity",
    "score_labels",
]
