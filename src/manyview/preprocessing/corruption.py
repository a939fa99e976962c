"""Noise for experiments: pure functions of (views, seed).

Amplitudes are in standard deviations: of each feature for dense views, of the whole view for sparse ones
(`is_sparse_view`). So it makes no difference whether noise is added before or after standardising. Every view has its
own random stream, so adding a view does not change the noise in the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from manyview.checks import InputError, check_int, check_real, quoted
from manyview.preprocessing.scaling import is_sparse_view
from manyview.typing import Array, is_sparse
from manyview.views.container import Views

Noise = Callable[[Array, np.random.Generator], Array]


def corrupt_entries(data: Any, fraction: float = 0.2, amplitude: float = 5.0, *, seed: int) -> Views:
    """Add Uniform[-amplitude, amplitude] to a share of the entries: the paper's noise at 0.2 and 5.

    Parameters
    ----------
    data : as for `fit`
        The views; they are not changed.
    fraction : float, default=0.2
        Share of the entries, from 0 to 1; for sparse views, of the stored ones.
    amplitude : float, default=5.0
        Largest error, in standard deviations of the feature (for sparse views, of the view).
    seed : int
        Seed of the draw. The same seed draws the same entries.
    """
    check_real("fraction", fraction, minimum=0, maximum=1)
    check_real("amplitude", amplitude, minimum=0)

    def noise(X: Array, rng: np.random.Generator) -> Array:
        return _add(X, _hits(X, fraction, rng, lambda size: rng.uniform(-amplitude, amplitude, size)), unit(X))

    return _each_view(data, noise, seed)


def replace_entries(data: Any, fraction: float = 0.2, amplitude: float = 5.0, *, seed: int) -> Views:
    """Replace a share of the entries with the feature's mean (0 in sparse views) + Uniform[-amplitude, amplitude].

    Parameters
    ----------
    data : as for `fit`
        The views; they are not changed.
    fraction : float, default=0.2
        Share of the entries, from 0 to 1; for sparse views, of the stored ones.
    amplitude : float, default=5.0
        Largest distance from the mean, in standard deviations.
    seed : int
        Seed of the draw. The same seed draws the same entries.
    """
    check_real("fraction", fraction, minimum=0, maximum=1)
    check_real("amplitude", amplitude, minimum=0)

    def noise(X: Array, rng: np.random.Generator) -> Array:
        hit = _hits(X, fraction, rng, np.ones)
        values = _hits(X, fraction, rng, lambda size: rng.uniform(-amplitude, amplitude, size), where=hit)
        if is_sparse(X):
            return _add(sp.csr_array(X - X.multiply(hit), dtype=X.dtype), values, unit(X))
        centre = 0 if is_sparse_view(X) else X.mean(axis=0)
        return _add(np.where(hit != 0, centre, X).astype(X.dtype), values, unit(X))

    return _each_view(data, noise, seed)


def add_gaussian(data: Any, amplitude: float = 1.0, *, seed: int) -> Views:
    """Add Gaussian noise of this standard deviation to every entry (in sparse matrices, every stored entry).

    Parameters
    ----------
    data : as for `fit`
        The views; they are not changed.
    amplitude : float, default=1.0
        Standard deviation of the noise, in standard deviations of the feature.
    seed : int
        Seed of the draw. The same seed draws the same entries.
    """
    check_real("amplitude", amplitude, minimum=0)

    def noise(X: Array, rng: np.random.Generator) -> Array:
        if is_sparse(X):
            stored = amplitude * unit(X) * rng.standard_normal(X.nnz)
            return sp.csr_array(((X.data + stored).astype(X.dtype), X.indices, X.indptr), X.shape)
        return _add(X, amplitude * rng.standard_normal(X.shape), unit(X))

    return _each_view(data, noise, seed)


def replace_views(data: Any, names: str | Iterable[str], *, seed: int) -> Views:
    """Turn whole views into noise: the columns of the named views are shuffled, each separately.

    Every feature keeps its distribution but no longer says anything about the samples.

    Parameters
    ----------
    data : as for `fit`
        The views; they are not changed.
    names : str or list of str
        The views to shuffle.
    seed : int
        Seed of the draw. The same seed draws the same entries.
    """
    views = data if isinstance(data, Views) else Views(data)
    names = {names} if isinstance(names, str) else set(names)
    unknown = names - set(views.names)
    if unknown:
        raise InputError(f"No view is called {quoted(sorted(unknown))}. Choose from: {quoted(views.names)}.")
    shuffled = _each_view(views, lambda X, rng: _shuffle_columns(X, rng), seed)
    pairs = zip(views.items(), shuffled.arrays, strict=True)
    return views.replace(noise if name in names else X for (name, X), noise in pairs)


def drop_entries(data: Any, fraction: float = 0.2, *, seed: int) -> Views:
    """Make a share of the entries NaN, as if they had not been measured.

    Parameters
    ----------
    data : as for `fit`
        The views; they are not changed.
    fraction : float, default=0.2
        Share of the entries, from 0 to 1; for sparse views, of the stored ones.
    seed : int
        Seed of the draw. The same seed draws the same entries.
    """
    check_real("fraction", fraction, minimum=0, maximum=1)
    return _each_view(
        data, lambda X, rng: _add(X, _hits(X, fraction, rng, lambda size: np.full(size, np.nan)), 1.0), seed
    )


def unit(X: Array) -> Any:
    """One standard deviation: per feature (dense view), or of the whole view (sparse view)."""
    if is_sparse(X):
        mean = X.sum(dtype=np.float64) / np.prod(X.shape)
        return float(np.sqrt(max(X.power(2).sum(dtype=np.float64) / np.prod(X.shape) - mean**2, 0)))
    return float(X.std(dtype=np.float64)) if is_sparse_view(X) else X.std(axis=0, dtype=np.float64)


def _each_view(data: Any, noise: Noise, seed: int) -> Views:
    views = data if isinstance(data, Views) else Views(data)
    streams = np.random.default_rng(check_int("seed", seed, minimum=0)).spawn(views.n_views)
    return views.replace(noise(X, rng) for X, rng in zip(views.arrays, streams, strict=True))


def _hits(
    X: Array,
    fraction: float,
    rng: np.random.Generator,
    values: Callable[[int], Any],
    where: Any = None,
) -> Array:
    """Draw a matrix stored like X: zero except for a random share of the entries, or for those in `where`."""
    if is_sparse(X):
        size = int(np.prod(X.shape))
        flat = rng.choice(size, round(fraction * size), replace=False) if where is None else None
        places = where.tocoo().coords if flat is None else np.unravel_index(flat, X.shape)
        return sp.csr_array((values(len(places[0])), places), shape=X.shape)
    mask = rng.random(X.shape) < fraction if where is None else where != 0
    hits = np.zeros(X.shape)
    hits[mask] = values(int(mask.sum()))
    return hits


def _add(X: Array, hits: Array, scale: Any) -> Array:
    noisy = X + hits * scale
    return sp.csr_array(noisy, dtype=X.dtype) if is_sparse(X) else noisy.astype(X.dtype)


def _shuffle_columns(X: Array, rng: np.random.Generator) -> Array:
    if is_sparse(X):
        columns = X.tocsc()
        rows = [
            rng.choice(X.shape[0], end - start, replace=False)
            for start, end in zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
        ]
        shuffled = sp.csc_array((columns.data, np.concatenate(rows), columns.indptr), X.shape)
        return sp.csr_array(shuffled)
    return rng.permuted(X, axis=0)
