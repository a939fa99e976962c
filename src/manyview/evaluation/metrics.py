"""Agreement between two labellings, and between the similarities of views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from manyview.checks import InputError


def _pair(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    a, b = np.asarray(y_true), np.asarray(y_pred)
    if a.ndim != 1 or b.ndim != 1 or len(a) != len(b) or len(a) == 0:
        raise InputError(
            f"Got labels of shapes {a.shape} and {b.shape}; give two 1-D labellings of the same samples, at least one."
        )
    # any values may be labels; scikit-learn warns about those that look like measurements
    return np.unique(a, return_inverse=True)[1], np.unique(b, return_inverse=True)[1]


def clustering_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of correctly labelled samples under the best one-to-one matching of clusters to classes (ACC).

    Parameters
    ----------
    y_true : array (n_samples,)
        Reference labels, of any type.
    y_pred : array (n_samples,)
        Cluster labels; how the clusters are numbered does not matter.
    """
    counts = contingency_matrix(*_pair(y_true, y_pred))
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return float(counts[rows, columns].sum() / counts.sum())


def normalized_mutual_information(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Mutual information divided by the arithmetic mean of the two entropies (NMI).

    Parameters
    ----------
    y_true : array (n_samples,)
        Reference labels, of any type.
    y_pred : array (n_samples,)
        Cluster labels; how the clusters are numbered does not matter.
    """
    return float(normalized_mutual_info_score(*_pair(y_true, y_pred)))


def adjusted_rand_index(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Rand index corrected for chance (ARI).

    Parameters
    ----------
    y_true : array (n_samples,)
        Reference labels, of any type.
    y_pred : array (n_samples,)
        Cluster labels; how the clusters are numbered does not matter.
    """
    return float(adjusted_rand_score(*_pair(y_true, y_pred)))


def purity(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of samples that belong to the majority class of their cluster.

    Parameters
    ----------
    y_true : array (n_samples,)
        Reference labels, of any type.
    y_pred : array (n_samples,)
        Cluster labels; how the clusters are numbered does not matter.
    """
    counts = contingency_matrix(*_pair(y_true, y_pred))
    return float(counts.max(axis=0).sum() / counts.sum())


def pairwise_f_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """F1 score over pairs of samples, where a pair is positive if both samples have the same label.

    Parameters
    ----------
    y_true : array (n_samples,)
        Reference labels, of any type.
    y_pred : array (n_samples,)
        Cluster labels; how the clusters are numbered does not matter.
    """
    (_, wrongly_joined), (wrongly_split, joined) = pair_confusion_matrix(*_pair(y_true, y_pred)).tolist()
    total = 2 * joined + wrongly_joined + wrongly_split
    return 1.0 if total == 0 else 2 * joined / total


def consensus_ratio(similarities: Sequence[Any]) -> float:
    r"""How much the similarities M_i of the views differ in magnitude; 1 is best.

    The mean over pairs i < j of :math:`\max(|M_i|_F, |M_j|_F) / \min(|M_i|_F, |M_j|_F)`. Matrices may be sparse.

    Parameters
    ----------
    similarities : sequence of arrays or sparse arrays (n_samples, n_samples)
        M_i, one per view.
    """
    with np.errstate(over="ignore"):  # reported below
        norms = [float(sp.linalg.norm(M) if sp.issparse(M) else np.linalg.norm(M)) for M in similarities]
    if len(norms) < 2:
        raise InputError(f"Got {len(norms)} similarity matrices; give at least two.")
    if not all(np.isfinite(norms)) or min(norms) == 0:
        raise InputError(f"Similarity matrices have norms {norms}; each must be finite and not 0.")
    return float(np.mean([max(pair) / min(pair) for pair in combinations(norms, 2)]))


METRICS: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "acc": clustering_accuracy,
    "nmi": normalized_mutual_information,
    "ari": adjusted_rand_index,
    "purity": purity,
    "f_score": pairwise_f_score,
}


def score_labels(y_true: ArrayLike, y_pred: ArrayLike) -> dict[str, float]:
    """Return all metrics of two labellings, by short name.

    Parameters
    ----------
    y_true : array (n_samples,)
        Reference labels, of any type.
    y_pred : array (n_samples,)
        Cluster labels; how the clusters are numbered does not matter.
    """
    return {name: metric(y_true, y_pred) for name, metric in METRICS.items()}
