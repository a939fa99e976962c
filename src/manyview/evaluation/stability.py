"""Stability of a clustering: it is repeated on random subsamples, and pairs of samples are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from manyview.checks import InputError, check_int, check_real
from manyview.evaluation.metrics import adjusted_rand_index
from manyview.graphs.affinity import PRECOMPUTED
from manyview.methods import MultiViewClusterer
from manyview.numerics.division import or_one
from manyview.typing import Dense, Indices
from manyview.views.container import Views
from manyview.views.gate import check_views


@dataclass(frozen=True)
class Stability:
    """How often pairs of samples stay together when the clustering is repeated on subsamples; 1 means always.

    Attributes
    ----------
    samples : array (n_samples,)
        Share of the other samples of its cluster that a sample stays with; NaN if it was never drawn with any.
    clusters : array (n_clusters,)
        Share of the pairs in a cluster that stay together.
    together, apart : float
        Share of all pairs in the same cluster that stay together, and in different clusters that stay apart.
    agreement : array (repeats,)
        Adjusted Rand index of each repeat with the clustering, on the samples drawn.
    fraction : float
        Share of the samples drawn in each repeat.
    """

    samples: Dense
    clusters: Dense
    together: float
    apart: float
    agreement: Dense
    fraction: float

    @property
    def repeats(self) -> int:
        """Number of repeats."""
        return len(self.agreement)


def assess_stability(
    model: MultiViewClusterer,
    X: object,
    repeats: int = 20,
    *,
    fraction: float = 0.8,
    seed: int = 0,
    on_repeat: Callable[[int], object] = lambda _: None,
) -> Stability:
    """Fit the model again on random subsamples, and count which pairs of samples stay together.

    Parameters
    ----------
    model : fitted estimator
        It is not changed. The number of clusters stays the same, even if it was chosen automatically.
    X : the views that it was fitted on
    repeats : int
    fraction : float
        Share of the samples in each subsample, drawn without replacement.
    seed : int
    on_repeat : callable
        Called with the number of repeats done so far.

    Notes
    -----
    Pairs are counted in tables of clusters by clusters, so memory is O(n + c^2); the fits take almost all of the time.
    """
    check_is_fitted(model, "labels_")
    check_int("repeats", repeats, minimum=1)
    check_real("fraction", fraction, minimum=0.1, maximum=1)
    views = check_views(X)
    if views.n_samples != len(model.labels_):
        fitted = len(model.labels_)
        raise InputError(f"The model was fitted on {fitted} samples, but got {views.n_samples}; give the same samples.")
    rng = np.random.default_rng(seed)
    n, c = views.n_samples, model.n_clusters_
    size = max(c, round(fraction * n))
    counts = _PairCounts(n, c)
    agreement = []
    for i in range(repeats):
        rows = np.sort(rng.choice(n, size, replace=False))
        again = clone(model).set_params(n_clusters=c)
        if "callback" in again.get_params():
            again.set_params(callback=None)
        new = again.fit(select_samples(views, rows, model)).labels_
        counts.add(rows, model.labels_[rows], new)
        agreement.append(adjusted_rand_index(model.labels_[rows], new))
        on_repeat(i + 1)
    return counts.summary(np.array(agreement), fraction)


def select_samples(views: Views, rows: Indices, model: MultiViewClusterer) -> Views:
    """Return some of the samples; if the views are affinities, select rows and columns."""
    part = views[rows]
    if getattr(model, "affinity", None) == PRECOMPUTED:
        return Views({name: A[:, rows] for name, A in part.items()}, sample_ids=part.sample_ids)
    return part


class _PairCounts:
    """Numbers of pairs that could have stayed together or apart, and that did."""

    def __init__(self, n: int, c: int) -> None:
        self.stayed, self.drawn = np.zeros(n), np.zeros(n)
        self.within, self.possible = np.zeros(c), np.zeros(c)
        self.apart, self.apart_possible = 0.0, 0.0

    def add(self, rows: Indices, old: NDArray[Any], new: NDArray[Any]) -> None:
        c = len(self.within)
        N = np.bincount(old * c + new, minlength=c * c).reshape(c, c).astype(float)
        a, b, n = N.sum(axis=1), N.sum(axis=0), len(rows)
        self.stayed[rows] += N[old, new] - 1
        self.drawn[rows] += a[old] - 1
        self.within += (N * (N - 1)).sum(axis=1)
        self.possible += a * (a - 1)
        mixed = float((b * b).sum() - (N * N).sum())  # ordered pairs from different clusters that are now in one
        of_different = float(n * n - (a * a).sum())
        self.apart += of_different - mixed
        self.apart_possible += of_different

    def summary(self, agreement: Dense, fraction: float) -> Stability:
        return Stability(
            samples=_share(self.stayed, self.drawn),
            clusters=_share(self.within, self.possible),
            together=float(_share(self.within.sum(), self.possible.sum())),
            apart=float(_share(self.apart, self.apart_possible)),
            agreement=agreement,
            fraction=fraction,
        )


def _share(part: Any, whole: Any) -> Any:
    whole = np.asarray(whole, dtype=float)
    return np.where(whole > 0, part / or_one(whole), np.nan)
