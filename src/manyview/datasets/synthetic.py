"""Synthetic multi-view data with noise per view."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manyview.checks import InputError, check_int, check_real
from manyview.datasets.record import Dataset
from manyview.views.container import Views


def make_views(
    n_samples: int = 300,
    n_clusters: int = 3,
    n_features: Sequence[int] = (10, 20),
    *,
    noise: float | Sequence[float] = 1.0,
    separation: float = 4.0,
    balance: float = 1.0,
    seed: int = 0,
) -> Dataset:
    """Draw Gaussian clusters that appear in every view, in different features.

    Parameters
    ----------
    n_samples, n_clusters : int
    n_features : sequence of int
        Number of features of each view.
    noise : float or sequence of float
        Standard deviation around the centres, in each view; infinity makes a view of pure noise.
    separation : float
        Expected distance between two centres, in every view.
    balance : float
        Size of each cluster relative to the one before: 1 makes them equal, 0.5 halves them.
    seed : int
    """
    check_int("n_clusters", n_clusters, minimum=1)
    check_int("n_samples", n_samples, minimum=n_clusters)
    check_real("balance", balance, minimum=0.01, maximum=1)
    check_real("separation", separation, minimum=0)
    check_int("seed", seed, minimum=0)
    if np.ndim(n_features) != 1:
        raise InputError(f"n_features={n_features!r}; give a list with the number of features of each view.")
    widths = list(n_features)
    levels = np.asarray(noise, dtype=float).tolist()
    levels = [levels] * len(widths) if isinstance(levels, float) else levels
    if len(levels) != len(widths) or any(not level >= 0 for level in levels):
        raise InputError(f"noise={noise!r} for {len(widths)} views; give one number of at least 0, or one per view.")
    rng = np.random.default_rng(seed)
    labels = _draw_labels(n_samples, n_clusters, balance, rng)
    tables = {
        f"view_{i}": _draw_view(labels, n_clusters, check_int("n_features", width, minimum=1), level, separation, rng)
        for i, (width, level) in enumerate(zip(widths, levels, strict=True))
    }
    return Dataset("synthetic", Views(tables), labels, "Gaussian clusters.")


def _draw_labels(n: int, c: int, balance: float, rng: np.random.Generator) -> np.ndarray:
    """Give every cluster one sample, and draw the others in proportion to the cluster shares."""
    shares = balance ** np.arange(c)
    rest = rng.choice(c, n - c, p=shares / shares.sum())
    return rng.permutation(np.concatenate([np.arange(c), rest]))


def _draw_view(
    labels: np.ndarray, c: int, width: int, level: float, separation: float, rng: np.random.Generator
) -> np.ndarray:
    noise = rng.standard_normal((len(labels), width))
    centres = rng.standard_normal((c, width)) * separation / np.sqrt(2 * width)
    return noise if np.isinf(level) else centres[labels] + level * noise
