"""Stability of a clustering: it is repeated on random subsamples, to see which pairs of samples stay together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from manyview.checks import InputError, check_int, check_real
from manyview.evaluation.metrics import adjusted_rand_index
from manyview.evaluation.noise import shuffle_columns
from manyview.graphs.affinity import PRECOMPUTED
from manyview.methods import MultiViewClusterer
from manyview.numerics.division import or_one
from manyview.typing import Dense, Indices
from manyview.views.container import Views
from manyview.views.gate import check_views

VERDICTS = STABLE, DOUBTFUL, NO_BETTER = "stable", "doubtful", "no better than noise"
HIGH_AGREEMENT = 0.8


@dataclass(frozen=True)
class Stability:
    """How often pairs of samples stay together when the clustering is repeated on subsamples; 1 means always.

    Attributes
    ----------
    samples : array (n_samples,)
        Share of the other samples in its cluster that a sample stays with; NaN if it was never drawn together with any.
    clusters : array (n_clusters,)
        Share of the pairs in a cluster that stay together.
    together, apart : float
        Share of all pairs in the same cluster that stay together, and in different clusters that stay apart.
    agreement : array (repeats,)
        Adjusted Rand index of each repeat with the clustering, on the samples drawn. It is corrected for chance: random
        labels score 0.
    fraction : float
        Share of the samples drawn in each repeat.
    noise : array
        Agreement when the same is done on data without structure, with every feature shuffled separately. Empty if it
        was not done.
    """

    samples: Dense
    clusters: Dense
    together: float
    apart: float
    agreement: Dense
    fraction: float
    noise: Dense = field(default_factory=lambda: np.empty(0))

    @property
    def repeats(self) -> int:
        """Number of repeats."""
        return len(self.agreement)

    @property
    def corrected(self) -> float:
        """Mean agreement of the repeats, corrected for chance."""
        return float(self.agreement.mean())

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`: whether the agreement is high, and whether shuffled data score as high."""
        if len(self.noise) and self.corrected <= self.noise.mean() + self.noise.std():
            return NO_BETTER
        return STABLE if self.corrected >= HIGH_AGREEMENT else DOUBTFUL


def assess_stability(
    model: MultiViewClusterer,
    X: object,
    repeats: int = 20,
    *,
    fraction: float = 0.8,
    noise_repeats: int = 5,
    seed: int = 0,
    on_repeat: Callable[[int], object] = lambda _: None,
) -> Stability:
    """Fit the model again on random subsamples, and count which pairs of samples stay together.

    Parameters
    ----------
    model : fitted estimator
        The model; it is not changed. The number of clusters stays the same, even if it was chosen automatically.
    X : as for `fit`
        The views it was fitted on.
    repeats : int, default=20
        Number of subsamples. More give finer estimates and take longer.
    fraction : float, default=0.8
        Share of the samples in each subsample, drawn without replacement.
    noise_repeats : int, default=5
        Repeats on shuffled features, for comparison; 0 for none. Views that are affinities are never shuffled.
    seed : int, default=0
        Seed of the subsamples; the same seed draws the same subsamples.
    on_repeat : callable, optional
        Called with the number of repeats done so far.

    Notes
    -----
    Pairs are counted in tables of clusters by clusters, so memory is O(n + c^2); the fits take almost all of the time.
    """
    check_is_fitted(model, "labels_")
    check_int("repeats", repeats, minimum=1)
    check_int("noise_repeats", noise_repeats, minimum=0)
    check_real("fraction", fraction, minimum=0.1, maximum=1)
    views = check_views(X)
    if views.n_samples != len(model.labels_):
        fitted = len(model.labels_)
        raise InputError(f"The model was fitted on {fitted} samples, but got {views.n_samples}; give the same samples.")
    views = views.with_batch(model.batch_)
    rng = np.random.default_rng(seed)
    counts = _PairCounts(views.n_samples, model.n_clusters_)
    agreement = []
    for i, (rows, new) in enumerate(_refits(model, views, repeats, fraction, rng)):
        counts.add(rows, model.labels_[rows], new)
        agreement.append(adjusted_rand_index(model.labels_[rows], new))
        on_repeat(i + 1)
    noise = _noise_agreement(model, views, noise_repeats, fraction, rng)
    return counts.summary(np.array(agreement), fraction, noise)


def _refits(
    model: MultiViewClusterer, views: Views, repeats: int, fraction: float, rng: np.random.Generator
) -> Iterator[tuple[Indices, Indices]]:
    """Fit the model again on subsamples; yield their rows and labels."""
    n, c = views.n_samples, model.n_clusters_
    for _ in range(repeats):
        rows = np.sort(rng.choice(n, max(c, round(fraction * n)), replace=False))
        yield rows, fit_again(model, select_samples(views, rows, model)).labels_


def fit_again(model: MultiViewClusterer, views: Views) -> MultiViewClusterer:
    """Fit a copy of a model, without the warnings: the first fit has given them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return unfitted(model).fit(views)


def unfitted(model: MultiViewClusterer) -> MultiViewClusterer:
    """Return a copy to fit again, with the same parameters and number of clusters, but no callback."""
    again = clone(model).set_params(n_clusters=model.n_clusters_)
    return again.set_params(callback=None) if "callback" in again.get_params() else again


def _noise_agreement(
    model: MultiViewClusterer, views: Views, repeats: int, fraction: float, rng: np.random.Generator
) -> Dense:
    """Return the agreement on shuffled data; each repeat has its own shuffle, fit, and fit on a subsample."""
    if getattr(model, "affinity", None) == PRECOMPUTED or model.n_clusters_ == 1:
        return np.empty(0)
    agreement = []
    for _ in range(repeats):
        shuffled = shuffle_columns(views, rng)
        whole = fit_again(model, shuffled)
        ((rows, new),) = _refits(whole, shuffled, 1, fraction, rng)
        agreement.append(adjusted_rand_index(whole.labels_[rows], new))
    return np.array(agreement)


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

    def summary(self, agreement: Dense, fraction: float, noise: Dense) -> Stability:
        return Stability(
            samples=_share(self.stayed, self.drawn),
            clusters=_share(self.within, self.possible),
            together=float(_share(self.within.sum(), self.possible.sum())),
            apart=float(_share(self.apart, self.apart_possible)),
            agreement=agreement,
            fraction=fraction,
            noise=noise,
        )


def _share(part: Any, whole: Any) -> Any:
    whole = np.asarray(whole, dtype=float)
    return np.where(whole > 0, part / or_one(whole), np.nan)
