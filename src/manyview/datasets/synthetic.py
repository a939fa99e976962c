"""Synthetic multi-view data: Gaussian clusters with noise per view, and clusters of unequal size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manyview.checks import InputError, check_choice, check_int, check_real
from manyview.datasets.record import Dataset
from manyview.views.container import Views

SHAPES = ("gaussian", "curved")
LATENT_DIMENSIONS = 8  # of the space where `make_unequal_views` draws clusters
CENTRE_CANDIDATES = 8  # more of them spread the centres more evenly
FEATURE_NOISE = 0.3  # standard deviation, where that of a Gaussian cluster is about 1
ARC_THICKNESS = 0.3


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
    n_samples : int, default=300
        Total number of samples.
    n_clusters : int, default=3
        Number of clusters.
    n_features : sequence of int, default=(10, 20)
        Number of features of each view.
    noise : float or sequence of float, default=1
        Standard deviation around the centres, in each view; infinity makes a view of pure noise.
    separation : float, default=4
        Expected distance between two centres, in every view.
    balance : float, default=1
        Size of each cluster relative to the one before: 1 makes them equal, 0.5 halves them.
    seed : int, default=0
        Seed of the random draw; the same seed gives the same data.
    """
    check_int("n_clusters", n_clusters, minimum=1)
    check_int("n_samples", n_samples, minimum=n_clusters)
    check_real("balance", balance, minimum=0.01, maximum=1)
    check_real("separation", separation, minimum=0)
    check_int("seed", seed, minimum=0)
    widths = _check_widths(n_features)
    levels = np.asarray(noise, dtype=float).tolist()
    levels = [levels] * len(widths) if isinstance(levels, float) else levels
    if len(levels) != len(widths) or any(not level >= 0 for level in levels):
        raise InputError(f"noise={noise!r} for {len(widths)} views; give one number of at least 0, or one per view.")
    rng = np.random.default_rng(seed)
    labels = _draw_labels(n_samples, n_clusters, balance, rng)
    tables = {
        f"view_{i}": _draw_view(labels, n_clusters, width, level, separation, rng)
        for i, (width, level) in enumerate(zip(widths, levels, strict=True))
    }
    return Dataset("synthetic", Views(tables), labels, "Gaussian clusters.")


def make_unequal_views(
    n_samples: int = 1000,
    n_clusters: int = 5,
    n_features: Sequence[int] = (30, 50),
    *,
    ratio: float = 10.0,
    shape: str = "gaussian",
    separation: float = 6.0,
    confused: float = 0.0,
    seed: int = 0,
) -> Dataset:
    """Draw clusters of unequal size; each view may confuse some of them.

    In every view, the clusters lie around their own centres in 8 dimensions. A random linear map takes them to the
    features of the view, and noise is added. With the same seed, only the number of samples per cluster depends on
    `ratio`: the centres, shapes and maps stay the same, so that results for several ratios can be compared.

    Parameters
    ----------
    n_samples : int, default=1000
        Total number of samples.
    n_clusters : int, default=5
        Number of clusters.
    n_features : sequence of int, default=(30, 50)
        Features per view; one view per entry.
    ratio : float, default=10
        Size of the largest cluster (label 0) divided by that of the smallest (the last label). The sizes between are a
        geometric series, rounded; every cluster has at least one sample.
    shape : "gaussian" or "curved", default="gaussian"
        Whether clusters are ellipsoids with standard deviations of 0.5 to 1, or thin half circles around their centre,
        in random planes and with a radius of half the separation.
    separation : float, default=6
        Smallest distance between two centres, in every view.
    confused : float from 0 to 1, default=0
        Share of the clusters that each view merges in pairs. Clusters merged in one view are separate in the next, so
        that all views together separate all of them; this needs at least two views and three clusters.
    seed : int, default=0
        Seed of the random draw; the same seed gives the same data.
    """
    check_int("n_clusters", n_clusters, minimum=1)
    check_int("n_samples", n_samples, minimum=n_clusters)
    check_real("ratio", ratio, minimum=1)
    check_choice("shape", shape, SHAPES)
    check_real("separation", separation, minimum=0)
    check_real("confused", confused, minimum=0, maximum=1)
    check_int("seed", seed, minimum=0)
    widths = _check_widths(n_features)
    if confused and (len(widths) < 2 or n_clusters < 3):
        raise InputError(
            f"confused={confused} with {len(widths)} views and n_clusters={n_clusters}; only at least two views can "
            "separate merged clusters, and only if there are three clusters or more."
        )
    geometry, sampling = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))
    sizes = _unequal_sizes(n_samples, n_clusters, ratio)
    labels = sampling.permutation(np.repeat(np.arange(n_clusters), sizes))
    order = geometry.permutation(n_clusters)
    tables = {}
    for i, width in enumerate(widths):
        places = _merge_pairs(np.roll(order, -i), confused)[labels]
        latent = _draw_shapes(places, n_clusters, shape, separation, geometry, sampling)
        mixing = geometry.standard_normal((LATENT_DIMENSIONS, width)) / np.sqrt(width)
        tables[f"view_{i}"] = latent @ mixing + FEATURE_NOISE * sampling.standard_normal((n_samples, width))
    return Dataset("unequal", Views(tables), labels, f"Clusters of unequal size, 1 : {ratio:g}, drawn for every seed.")


def _check_widths(n_features: Sequence[int]) -> list[int]:
    if np.ndim(n_features) != 1:
        raise InputError(f"n_features={n_features!r}; give a list with the number of features of each view.")
    return [check_int("n_features", width, minimum=1) for width in n_features]


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


def _unequal_sizes(n: int, c: int, ratio: float) -> np.ndarray:
    """Sizes in a geometric series from `ratio` to 1, largest first, that sum to n."""
    shares = ratio ** -np.linspace(0, 1, c)
    ends = np.round(np.cumsum(shares) / shares.sum() * (n - c)).astype(int)
    return 1 + np.diff(ends, prepend=0)


def _merge_pairs(order: np.ndarray, share: float) -> np.ndarray:
    """Return the cluster whose location each cluster has: its own, or that of the cluster it is merged with."""
    n_pairs = min(round(share * len(order) / 2), len(order) // 2)
    pairs = order[: 2 * n_pairs].reshape(-1, 2)
    places = np.arange(len(order))
    places[pairs[:, 1]] = pairs[:, 0]
    return places


def _draw_shapes(
    places: np.ndarray,
    c: int,
    shape: str,
    separation: float,
    geometry: np.random.Generator,
    sampling: np.random.Generator,
) -> np.ndarray:
    """Draw samples around the centres of their places, in the latent space."""
    centres = separation * spread_centres(c, LATENT_DIMENSIONS, geometry)
    axes = np.linalg.qr(geometry.standard_normal((c, LATENT_DIMENSIONS, LATENT_DIMENSIONS)))[0]
    deviations = geometry.uniform(0.5, 1, (c, LATENT_DIMENSIONS))
    noise = sampling.standard_normal((len(places), LATENT_DIMENSIONS))
    if shape == "gaussian":
        local = deviations[places] * noise
    else:
        angles = sampling.uniform(0, np.pi, len(places))
        local = ARC_THICKNESS * noise
        local[:, :2] += separation / 2 * np.column_stack([np.cos(angles), np.sin(angles)])
    return centres[places] + np.einsum("nd,nde->ne", local, axes[places])


def spread_centres(c: int, n_dimensions: int, rng: np.random.Generator) -> np.ndarray:
    """Place centres one by one, each the farthest of several candidates; the smallest distance is 1."""
    centres = rng.standard_normal((1, n_dimensions))
    nearest = np.inf
    for _ in range(c - 1):
        candidates = rng.standard_normal((CENTRE_CANDIDATES, n_dimensions))
        distances = np.linalg.norm(candidates[:, None] - centres, axis=2).min(axis=1)
        nearest = min(nearest, distances.max())
        centres = np.vstack([centres, candidates[distances.argmax()]])
    return centres / nearest
