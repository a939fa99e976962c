"""Puts views on a common scale before they are compared.

Dense features are standardised. Sparse views (counts, text) keep their zeros: each row is scaled
to the same length, so that distances compare directions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.checks import InputError, InputTypeError, a_type_of, check_choice, quoted, shown
from manyview.numerics.blocks import per_column
from manyview.numerics.division import inverse_or_zero, or_one
from manyview.numerics.robust import GAUSSIAN
from manyview.records import saved
from manyview.typing import Array, Dense, Mask, is_sparse
from manyview.views.container import Views

Scaling: TypeAlias = str | Mapping[str, str] | Sequence[str]
SCALINGS = ("auto", "standard", "soft", "robust", "unit", "none")


@dataclass(frozen=True)
class _ScalingRule:
    """A way of scaling, or one per view."""

    def check(self, name: str, value: object) -> object:
        if isinstance(value, str):
            return check_choice(name, value, SCALINGS)
        if not isinstance(value, Mapping | Sequence):
            raise InputTypeError(
                f"{name}={shown(value)} is {a_type_of(value)}; give one of {quoted(SCALINGS)}, or one per view."
            )
        ways = value.values() if isinstance(value, Mapping) else value
        return [check_choice(name, way, SCALINGS) for way in ways]


SCALING = _ScalingRule()
MOSTLY = 0.5  # a view with a smaller share of non-zero entries is sparse
FARTHEST = 1e6  # deviations: values are clipped here, because how far out they are no longer matters
REACH = 10.0  # values farther off than this many deviations do not count towards a robust mean and standard deviation


def scale_views(views: Views, scaling: Scaling = "auto", dense: str = "standard") -> tuple[list[Array], dict[str, str]]:
    """Scale every view; also return which scaling was used for each, by name.

    Parameters
    ----------
    views : Views
        The views; they are not changed.
    scaling : {"auto", "standard", "soft", "robust", "unit", "none"}, or one per view, default="auto"
        "auto" is "unit" for sparse views (see `is_sparse_view`) and `dense` for the others. A mapping by name or a
        sequence gives each view its own scaling.
    dense : str, default="standard"
        What "auto" means for dense views.
    """
    used = choose_scalings(views, scaling, dense)
    return [Scaler.fit(X, used[name]).apply(X) for name, X in views.items()], used


def choose_scalings(views: Views, scaling: Scaling, dense: str = "standard") -> dict[str, str]:
    """Return the scaling of each view by name, with "auto" resolved."""
    SCALING.check("scaling", scaling)
    chosen = one_per_view(views, scaling)
    automatic = {name: "unit" if is_sparse_view(X) else dense for name, X in views.items()}
    return {name: automatic[name] if way == "auto" else way for name, way in chosen.items()}


def is_sparse_view(X: Array) -> bool:
    """Return whether a view is sparse data such as counts or text: a scipy sparse matrix, or mostly zeros."""
    if is_sparse(X):
        return True
    missing = int(np.isnan(X).sum())  # counted as non-zero by numpy
    return int(np.count_nonzero(X)) - missing < MOSTLY * (X.size - missing)


def without_missing(X: Array) -> Array:
    """Return the table with 0 for NaN; in a sparse table, these are not stored."""
    missing = np.isnan(X.data if is_sparse(X) else X)
    if not missing.any():
        return X
    if not is_sparse(X):
        return np.where(missing, X.dtype.type(0), X)
    filled = X.copy()
    filled.data[missing] = 0
    filled.eliminate_zeros()
    return filled


@saved
@dataclass(frozen=True)
class Standardizer:
    """An affine map of the columns, and its inverse: ``apply(X) = (X / largest - mean) / sd``.

    Columns are first divided by their largest magnitude (without outliers, if robust), so that squares of huge (1e300)
    or tiny values neither overflow nor vanish. Constant columns (sd 0) become 0, and values beyond `limit` deviations
    are clipped. Missing values (NaN) stay missing, and are ignored.
    """

    largest: NDArray[Any]
    mean: NDArray[Any]
    sd: NDArray[Any]
    limit: float = np.inf

    @classmethod
    def fit(cls, X: Array, *, robust: bool = False) -> Standardizer:
        """Learn the map; `robust` leaves out values more than `REACH` deviations from the median."""
        if is_sparse(X):
            way = "robust" if robust else "standard"
            raise InputError(
                f"scaling={way!r} would fill in the zeros of a scipy sparse view; use scaling='unit', or pass "
                "the view as a dense array."
            )
        largest, mean, sd = per_column(_robust_moments if robust else _moments, X)
        return cls(largest, mean, sd, FARTHEST if robust else np.inf)

    def apply(self, X: Array) -> Array:
        """Standardise the columns; a sparse table becomes dense, because zeros do not stay zero."""
        table = X.toarray() if is_sparse(X) else X
        inverse = inverse_or_zero(self.sd).astype(X.dtype)
        with np.errstate(over="ignore"):  # for an outlier far beyond the limit
            Y = table / self.largest
        np.clip(Y, -self.limit, self.limit, out=Y)
        Y -= self.mean
        Y *= inverse
        return np.clip(Y, -self.limit, self.limit, out=Y)

    def of_columns(self, columns: slice | Mask) -> Standardizer:
        """Return the map of some of the columns."""
        return replace(self, largest=self.largest[columns], mean=self.mean[columns], sd=self.sd[columns])

    @property
    def units(self) -> Dense:
        """One deviation of each column, in the column's own units."""
        return self.sd * self.largest

    def softened(self) -> Standardizer:
        """Divide by sqrt(sd^2 + g^2) instead of sd, with g the geometric mean of the sds in their own units.

        A column that varies much still counts as if standardised; one that hardly varies is not inflated.
        """
        varies = self.sd > 0
        size = np.log(np.where(varies, self.sd, 1)) + np.log(np.where(varies, self.largest, 1))
        g = np.exp(size[varies].mean() - np.log(self.largest)) if varies.any() else 0.0  # in units of `largest`
        return replace(self, sd=np.where(varies, np.hypot(self.sd, g), 0).astype(self.sd.dtype))

    def undo(self, Y: Array) -> Array:
        """Return standardised columns to their own units."""
        return (Y * self.sd + self.mean) * self.largest


def _robust_moments(X: Dense) -> Dense:
    """Return `_moments` without outliers."""
    return _moments(_clip_outliers(X))


def _moments(X: Dense) -> Dense:
    """Return a stack of each column's largest magnitude, and its mean and standard deviation in units of that."""
    largest = np.fmax.reduce(np.abs(X), axis=0)  # NaN only if a column has no other values
    largest = or_one(largest).astype(X.dtype)
    with np.errstate(over="ignore"):  # shares are at most 1, but numpy 1.26 still warns at denormal numbers
        mean, sd = _mean_and_deviation(X / largest)
    return np.stack([largest, mean, np.where(sd > 10 * np.finfo(X.dtype).eps, sd, 0)])


def _mean_and_deviation(Y: Array) -> tuple[Array, Array]:
    """Return the mean and standard deviation of the observed values, 0 if there are none."""
    missing = np.isnan(Y)
    if not missing.any():
        return Y.mean(axis=0), Y.std(axis=0)
    counts = np.maximum((~missing).sum(axis=0), 1).astype(Y.dtype)
    mean = np.where(missing, 0, Y).sum(axis=0) / counts
    return mean, np.sqrt(np.where(missing, 0, (Y - mean) ** 2).sum(axis=0) / counts)


def _median(Y: Array) -> Array:
    """Return the median of each column's observed values, 0 if there are none."""
    missing = np.isnan(Y)
    if not missing.any():
        return np.median(Y, axis=0)
    return np.nanmedian(np.where(missing.all(axis=0), 0, Y), axis=0)


def _clip_outliers(X: Array) -> Array:
    """Clip each column to its median plus or minus `REACH` deviations.

    A deviation is the median distance to the median, scaled to the standard deviation of Gaussian values. If more than
    half of the values are equal, it is the median of the non-zero distances.
    """
    Y = X * X.dtype.type(0.25)  # exact, and keeps differences of the largest floats from overflowing
    median = _median(Y)
    distance = np.abs(Y - median)
    deviation = _median(distance)
    for j in np.flatnonzero(deviation == 0):
        others = distance[:, j][distance[:, j] > 0]
        deviation[j] = np.median(others) if len(others) else 0
    with np.errstate(over="ignore"):  # an infinite reach clips nothing
        reach = REACH * GAUSSIAN * deviation
        return np.clip(Y, median - reach, median + reach) * X.dtype.type(4)


def unit_rows(X: Array) -> Array:
    """Scale each row to length sqrt(d); zero rows stay zero.

    A standardised row has this length on average, so views scaled in either way can be concatenated.
    """
    Y, _ = _with_row_units(X)
    return Y


def _with_row_units(X: Array) -> tuple[Array, Dense]:
    """Return the rows scaled to length sqrt(d), and each divisor; in two steps, so that no square overflows."""
    magnitude = abs(X).max(axis=1)
    largest = magnitude.toarray().ravel() if is_sparse(magnitude) else magnitude
    Y = _divide_rows(X, largest)
    squares = Y.power(2).sum(axis=1) if is_sparse(Y) else np.einsum("ij,ij->i", Y, Y)
    lengths = np.sqrt(np.asarray(squares).ravel() / X.shape[1])
    return _divide_rows(Y, lengths), largest * lengths


def _divide_rows(X: Array, lengths: Array) -> Array:
    divisor = or_one(lengths).astype(X.dtype)
    if is_sparse(X):
        return sp.csr_array((X.data / np.repeat(divisor, np.diff(X.indptr)), X.indices, X.indptr), X.shape)
    return X / divisor[:, None]


def without_extremes(X: Array) -> Array:
    """Return X in its `safe_unit`."""
    return in_unit(X, safe_unit(X))


def safe_unit(X: Array) -> float:
    """Return 1, or the largest magnitude of X if squares would overflow or vanish (1e300, 1e-300)."""
    values = X.data if is_sparse(X) else X
    largest = float(max(np.nanmax(values, initial=0), -np.nanmin(values, initial=0)))
    return 1.0 if largest == 0 or 1e-100 < largest < 1e100 else largest


def in_unit(X: Array, unit: float) -> Array:
    """Return a table divided by a unit; the same table if the unit is 1."""
    if unit == 1:
        return X
    return sp.csr_array((X.data / unit, X.indices, X.indptr), X.shape) if is_sparse(X) else X / unit


def to_unit_distance(X: Array) -> Array:
    """Scale so that the mean squared distance between samples is 1, as in every other view."""
    return X * X.dtype.type(unit_distance_factor(X))


def unit_distance_factor(X: Array) -> float:
    """Return the factor that makes the mean squared distance of samples 1; 0 if all samples are equal."""
    largest = float(max(X.max(), -X.min()))
    if largest and not 1e-100 < largest < 1e100:  # squares would overflow or vanish
        return unit_distance_factor(X / largest) / largest
    squares = X.multiply(X).sum() if is_sparse(X) else np.vdot(X, X)
    mean = np.asarray(X.mean(axis=0)).ravel()
    variance = float(squares) / X.shape[0] - float(mean @ mean)
    return float(1 / np.sqrt(2 * variance)) if variance > 1e-12 * float(squares) / X.shape[0] else 0.0


@saved
@dataclass(frozen=True)
class Scaler:
    """A scaling and what it learned from a view, so that other samples can be scaled the same way."""

    way: str
    columns: Standardizer | None = None

    @classmethod
    def fit(cls, X: Array, way: str) -> Scaler:
        """Learn to scale "standard", "soft", "robust", "unit" or "none"."""
        if way not in ("standard", "soft", "robust"):
            return cls(way)
        columns = Standardizer.fit(X, robust=way == "robust")
        return cls(way, columns.softened() if way == "soft" else columns)

    def apply(self, X: Array) -> Array:
        """Scale a table; missing values stay missing, but become 0 if rows are scaled to one length."""
        if self.columns is not None:
            return self.columns.apply(X)
        return unit_rows(without_missing(X)) if self.way == "unit" else X

    def to_own_units(self, E: Array, X: Array) -> Array:
        """Return errors E, found in the scaled table X, in the units of X itself."""
        if self.columns is not None:
            return in_units(E, self.columns.units[None, :])
        return in_units(E, _with_row_units(without_missing(X))[1][:, None]) if self.way == "unit" else E


def in_units(E: Array, units: Dense) -> Array:
    """Multiply rows or columns by their units, in the precision of E; overflow becomes the largest number."""
    units = units.astype(E.dtype)
    most = np.finfo(E.dtype).max
    with np.errstate(over="ignore"):
        if not is_sparse(E):
            return np.clip(E * units, -most, most)
        product = sp.csr_array(E.multiply(units))
    product.data = np.clip(product.data, -most, most)
    return product


def side_by_side(tables: Sequence[Array]) -> Array:
    """Concatenate tables, so that squared distances add up; sparse if one of them is."""
    if len(tables) == 1:
        return tables[0]
    if any(is_sparse(X) for X in tables):
        return sp.hstack([sp.csr_array(X) for X in tables], format="csr")
    return np.hstack(tables)


def one_per_view(views: Views, scaling: Scaling) -> dict[str, str]:
    """Return the requested scaling, by view."""
    if isinstance(scaling, str):
        return dict.fromkeys(views.names, scaling)
    if isinstance(scaling, Mapping):
        unknown = [name for name in scaling if name not in views.names]
        if unknown:
            raise InputError(f"scaling names an unknown view {quoted(unknown)}; the views are {quoted(views.names)}.")
        return {name: scaling.get(name, "auto") for name in views.names}
    if len(scaling) != views.n_views:
        raise InputError(f"scaling has {len(scaling)} entries for {views.n_views} views; give one per view.")
    return dict(zip(views.names, scaling, strict=True))
