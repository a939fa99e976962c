"""Scores of the similarities that a fitted model has learned per view: how much their magnitudes differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manyview.checks import InputError
from manyview.evaluation.metrics import consensus_ratio

SIMILARITY_SCORES = {"consensus": "consensus ratio", "consensus_basis": "consensus ratio of U_iU_i'"}
"""Key, as used in specs and rows, to name in headings. Lower is better for all of them."""


def similarity_scores(model: Any) -> dict[str, float]:
    """Return the consensus ratio of the Z_i or W_i of a fitted model, and of U_iU_i' if it has bases.

    No n x n matrix is formed: |U U'|_F = |U'U|_F, and |L R|_F^2 = Tr (L'L)(RR') for a factorised Z.
    """
    scores = {}
    representation = getattr(model, "representation_", None)
    if isinstance(representation, list):
        scores["consensus"] = _ratio([_same_norm(Z) for Z in representation])
    elif hasattr(model, "graphs_"):
        scores["consensus"] = _ratio(model.graphs_)
    if hasattr(model, "bases_"):
        scores["consensus_basis"] = _ratio([U.T @ U for U in model.bases_])
    return {name: value for name, value in scores.items() if value is not None}


def _same_norm(Z: Any) -> Any:
    """Return Z itself, or, if Z is factorised, a 1 x 1 matrix with the same Frobenius norm."""
    if not hasattr(Z, "left"):
        return Z
    squared = float(np.sum((Z.left.T @ Z.left) * (Z.right @ Z.right.T).T))
    return np.array([[np.sqrt(max(squared, 0.0))]])


def _ratio(similarities: Sequence[Any]) -> float | None:
    try:
        return consensus_ratio(similarities)
    except InputError:  # a single view, or a view without any similarity, has no ratio
        return None
