"""Bringing views to a common scale before they are compared.

Dense features are standardised. Sparse views (counts, text) keep their zeros: each row is scaled
to the same length, so that distances compare directions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.checks import InputError, check_choice, quoted
from manyview.views import Array, Views

Scaling: TypeAlias = str | Mapping[str, str] | Sequence[str]
SCALINGS = ("auto", "standard", "robust", "unit", "none")
FARTHEST = 1e6  # deviations: beyond, an outlier is an outlier
REACH = 10.0  # values this many deviations off do not count towards a robust mean and standard deviation


def scale_views(views: Views, scaling: Scaling = "auto", dense: str = "standard") -> tuple[list[Array], dict[str, str]]:
    """Scale every view; also return which way was used for each, by name.

    Parameters
    ----------
    views : Views
    scaling : {"auto", "standard", "robust", "unit", "none"}, or one of these per view (mapping by name, or sequence)
        "auto" is "unit" for sparse views (see `is_sparse_view`) and `dense` for the others.
    dense : str
        What "auto" means for dense views.
    """
    used = choose_scalings(views, scaling, dense)
    return [SCALE[used[name]](X) for name, X in views.items()], used


def choose_scalings(views: Views, scaling: Scaling, dense: str = "standard") -> dict[str, str]:
    """Return the scaling of each view by name, "auto" resolved."""
    chosen = _one_per_view(views, scaling)
    for way in chosen.values():
        check_choice("scaling", way, SCALINGS)
    automatic = {name: "unit" if is_sparse_view(X) else dense for name, X in views.items()}
    return {name: automatic[name] if way == "auto" else way for name, way in chosen.items()}


def is_sparse_view(X: Array) -> bool:
    """Whether a view is sparse data such as counts or text: a scipy sparse matrix, or mostly zeros."""
    return sp.issparse(X) or np.count_nonzero(X) < 0.5 * X.size


@dataclass(frozen=True)
class Standardizer:
    """An affine map of the columns, and its inverse: ``apply(X) = (X / largest - mean) / sd``.

    Columns are first divided by their largest magnitude (outliers left out, if robust), so that squares of huge
    (1e300) or tiny values neither overflow nor vanish. Constant columns (sd 0) become 0, and values farther out than
    `limit` deviations are brought to it.
    """

    largest: NDArray[Any]
    mean: NDArray[Any]
    sd: NDArray[Any]
    limit: float = np.inf

    @classmethod
    def fit(cls, X: Array, *, robust: bool = False) -> Standardizer:
        """Learn the map; `robust` leaves out what lies more than `REACH` deviations from the median."""
        if sp.issparse(X):
            way = "robust" if robust else "standard"
            raise InputError(
                f"scaling={way!r} would fill in the zeros of a scipy sparse view; use scaling='unit', or pass "
                "the view as a dense array."
            )
        Y = _clip_outliers(X) if robust else X
        largest = np.abs(Y).max(axis=0)
        largest = np.where(largest > 0, largest, 1).astype(X.dtype)
        Y = Y / largest
        mean, sd = Y.mean(axis=0), Y.std(axis=0)
        return cls(largest, mean, np.where(sd > 10 * np.finfo(Y.dtype).eps, sd, 0), FARTHEST if robust else np.inf)

    def apply(self, X: Array) -> Array:
        """Standardise the columns."""
        inverse = np.where(self.sd > 0, 1 / np.where(self.sd > 0, self.sd, 1), 0).astype(X.dtype)
        with np.errstate(over="ignore"):  # of an outlier far beyond the limit
            Y = np.clip(X / self.largest, -self.limit, self.limit)
        Y -= self.mean
        Y *= inverse
        return np.clip(Y, -self.limit, self.limit)

    def undo(self, Y: Array) -> Array:
        """Return standardised columns to their own units."""
        return (Y * self.sd + self.mean) * self.largest


def _clip_outliers(X: Array) -> Array:
    """Clip each column to its median plus or minus `REACH` deviations.

    A deviation is the median distance to the median, of Gaussian consistency; where over half of the values are the
    same, the median of those distances that are not 0.
    """
    Y = X * X.dtype.type(0.25)  # exact, and differences of the largest numbers there are do not overflow
    median = np.median(Y, axis=0)
    distance = np.abs(Y - median)
    deviation = np.median(distance, axis=0)
    for j in np.flatnonzero(deviation == 0):
        others = distance[:, j][distance[:, j] > 0]
        deviation[j] = np.median(others) if len(others) else 0
    with np.errstate(over="ignore"):  # an infinite reach clips nothing
        reach = REACH * 1.4826 * deviation
        return np.clip(Y, median - reach, median + reach) * X.dtype.type(4)


def standardize(X: Array) -> Array:
    """Centre each column and divide it by its standard deviation; constant columns become 0."""
    return Standardizer.fit(X).apply(X)


def robust_standardize(X: Array) -> Array:
    """As `standardize`, with mean and deviation of the values that are not far out."""
    return Standardizer.fit(X, robust=True).apply(X)


def unit_rows(X: Array) -> Array:
    """Scale each row to length sqrt(d); zero rows stay zero.

    A standardised row has this length on average, so views scaled in the two ways can be laid side by side.
    """
    magnitude = abs(X).max(axis=1)
    largest = magnitude.toarray().ravel() if sp.issparse(magnitude) else magnitude
    Y = _divide_rows(X, largest)
    squares = Y.power(2).sum(axis=1) if sp.issparse(Y) else np.einsum("ij,ij->i", Y, Y)
    return _divide_rows(Y, np.sqrt(np.asarray(squares).ravel() / X.shape[1]))


def _divide_rows(X: Array, lengths: Array) -> Array:
    divisor = np.where(lengths > 0, lengths, 1).astype(X.dtype)
    if sp.issparse(X):
        return sp.csr_array((X.data / np.repeat(divisor, np.diff(X.indptr)), X.indices, X.indptr), X.shape)
    return X / divisor[:, None]


SCALE = {"standard": standardize, "robust": robust_standardize, "unit": unit_rows, "none": lambda X: X}


def side_by_side(tables: Sequence[Array]) -> Array:
    """Lay tables side by side, so that squared distances add up; sparse if one of them is."""
    if len(tables) == 1:
        return tables[0]
    if any(sp.issparse(X) for X in tables):
        return sp.hstack([sp.csr_array(X) for X in tables], format="csr")
    return np.hstack(tables)


def _one_per_view(views: Views, scaling: Scaling) -> dict[str, str]:
    if isinstance(scaling, str):
        return dict.fromkeys(views.names, scaling)
    if isinstance(scaling, Mapping):
        unknown = [name for name in scaling if name not in views.names]
        if unknown:
            raise InputError(f"scaling names no view {quoted(unknown)}; the views are {quoted(views.names)}.")
        return {name: scaling.get(name, "auto") for name in views.names}
    if len(scaling) != views.n_views:
        raise InputError(f"scaling has {len(scaling)} entries for {views.n_views} views; give one per view.")
    return dict(zip(views.names, scaling, strict=True))
