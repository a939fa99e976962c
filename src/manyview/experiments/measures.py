"""Scores of a fitted model beyond its labels: how much the views' similarities differ in magnitude."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manyview.checks import InputError
from manyview.evaluation.metrics import consensus_ratio

NAMES = {"consensus": "consensus ratio", "consensus_basis": "consensus ratio of U_iU_i'"}


def consensus_scores(model: Any) -> dict[str, float]:
    """Consensus ratio of what a model learnt per view: Z_i or W_i, and U_iU_i' where there are bases.

    Nothing n x n is formed: |U U'|_F = |U'U|_F, and |L R|_F^2 = Tr (L'L)(RR') for a Z in factors.
    """
    scores = {}
    learnt = getattr(model, "representation_", None)
    if isinstance(learnt, list):
        scores["consensus"] = _ratio([_same_norm(Z) for Z in learnt])
    elif hasattr(model, "graphs_"):
        scores["consensus"] = _ratio(model.graphs_)
    if hasattr(model, "bases_"):
        scores["consensus_basis"] = _ratio([U.T @ U for U in model.bases_])
    return {name: value for name, value in scores.items() if value is not None}


def _same_norm(Z: Any) -> Any:
    """Return Z, or a 1 x 1 matrix of the same Frobenius norm if Z comes as its factors."""
    if not hasattr(Z, "left"):
        return Z
    squared = float(np.sum((Z.left.T @ Z.left) * (Z.right @ Z.right.T).T))
    return np.array([[np.sqrt(max(squared, 0.0))]])


def _ratio(similarities: Sequence[Any]) -> float | None:
    try:
        return consensus_ratio(similarities)
    except InputError:  # a single view, or a view without any similarity: there is no ratio
        return None
