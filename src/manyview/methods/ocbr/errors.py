"""Does a view contain gross errors at all? Heavy tails, skew and bad samples are not errors.

The residuals R = X - L of the recovery are compared with a robust deviation of their column; beyond `FAR_OUT`
deviations, an entry is far out. Heavy tails of measurements sit in certain columns (skewed features), in certain rows
(bad samples), or on one side. Random errors strike quiet rows and columns as often as the others, and on both sides. So
far-out residuals are counted on the side that has fewer, in the quieter half of the rows and of the columns. What L
misses of the data themselves, such as edges in images, is far out in several related columns at once, random errors are
not. So entries are left out where a related column is far out in the same row.

Which half is quiet, and which columns are related, is judged by entries other than those counted (rows by the other
columns, columns by the other rows; even and odd ones), so that these choices do not bias the count: for random errors
the estimate is unbiased.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from manyview.numerics.blocks import Table, row_blocks
from manyview.numerics.robust import column_deviations
from manyview.numerics.rows import ascending, column_products
from manyview.typing import Dense, Indices, Mask

FAR_OUT = 4.0  # robust deviations of the residuals of a column
RELATED = 3  # columns related to a column, at most
NO_CHANCE = 3.0  # standard errors
MOST_COLUMNS, MOST_ROWS = 500, 2000  # among which related columns are sought
GROSS_SHARE = 0.04  # from this share on, cleaning is as strict as possible
ORTHOGONAL = 0.25  # of the mean square correlation expected by chance: columns with less were made orthogonal
FEWEST_COLUMNS = 3  # fewest that can be called orthogonal
BLOCK_ENTRIES = 2**20  # values of a table that are converted to double precision at a time
ROUNDING = 1e-5  # relative to the largest deviation: a column that varies less is rounding error, not a component


@dataclass(frozen=True)
class GrossError:
    """Share of the entries that random errors put far out, and a lower bound (its root minus a standard error)."""

    share: float
    lower: float
    present: bool = False  # whether the view has to be cleaned

    @property
    def leniency(self) -> float:
        """Factor on the threshold of E: 1 for a grossly corrupted view, more for a less corrupted one."""
        return max(1.0, GROSS_SHARE / max(self.share, 1e-9))


NO_ERROR = GrossError(0.0, 0.0)


def gross_error(R: Table, observed: Mask | None, tolerated: float) -> GrossError:
    """Estimate how many residuals are far out because of random errors; a few are tolerated."""
    known = np.broadcast_to(np.True_, R.shape) if observed is None else observed
    side = _far_out(R, known, FAR_OUT * column_deviations(R, observed))
    out = side != 0
    alone = _stand_alone(out)
    counted = []
    for a in (0, 1):
        for b in (0, 1):
            by_row = _share(out[a::2, 1 - b :: 2], known[a::2, 1 - b :: 2], axis=1)
            by_column = _share(out[1 - a :: 2, b::2], known[1 - a :: 2, b::2], axis=0)
            quiet = np.ix_(_lower_half(by_row), _lower_half(by_column))
            counts = alone[a::2, b::2][quiet] & known[a::2, b::2][quiet]
            counted.append(side[a::2, b::2][quiet][counts])
    sides = np.concatenate(counted)
    hits, total = float(min(np.sum(sides > 0), np.sum(sides < 0))), max(len(sides), 1)
    lower = 2 * max(np.sqrt(hits) - 1, 0) ** 2 / total
    return GrossError(2 * hits / total, lower, present=bool(lower > tolerated))


def _far_out(R: Table, known: Mask, far: Dense) -> NDArray[np.int8]:
    """Return 1 for known residuals far above 0, -1 for those far below it, and 0 for all others."""
    side = np.zeros(R.shape, dtype=np.int8)
    for rows in row_blocks(R.shape[0], R.shape[1], BLOCK_ENTRIES):
        part = R[rows]
        side[rows][known[rows] & (part > far)] = 1
        side[rows][known[rows] & (part < -far)] = -1
    return side


def _stand_alone(out: Mask) -> Mask:
    """Return which entries have no related column that is far out in the same row."""
    alone = np.ones_like(out)
    for a in (0, 1):
        columns, related = _related_columns(out[1 - a :: 2])
        for column, is_related in zip(columns.T, related.T, strict=True):
            alone[a::2] &= ~(out[a::2, column] & is_related)
    return alone


def _related_columns(out: Mask) -> tuple[Indices, Mask]:
    """Return, for each column, those most often far out in the same rows (d x few), and whether that is no chance."""
    A = out[:: max(1, len(out) // MOST_ROWS)]
    d = A.shape[1]
    others = np.arange(0, d, -(-d // MOST_COLUMNS))
    blocks = (np.arange(d)[part] for part in row_blocks(d, len(others), BLOCK_ENTRIES))
    related, z = zip(*(_most_related(A, columns, others) for columns in blocks), strict=True)
    return np.concatenate(related), np.concatenate(z) > NO_CHANCE


def _most_related(A: Mask, columns: Indices, others: Indices) -> tuple[Indices, Dense]:
    """Return the others that go with each column most, and by how many standard errors more than by chance."""
    z = _standardized(A[:, columns]).T @ _standardized(A[:, others]) / np.sqrt(max(len(A), 1))
    z[columns[:, None] == others] = -np.inf  # a column is not related to itself
    most = np.argpartition(-z, min(RELATED, len(others) - 1), axis=1)[:, :RELATED]
    return others[most], np.take_along_axis(z, most, axis=1)


def _standardized(A: Mask) -> Dense:
    """Return 0 and 1 with mean 0 and standard deviation 1 in each column; rare ones are not blown up."""
    n = max(len(A), 1)
    p = A.sum(axis=0, dtype=np.float32) / n
    return (A - p) / np.sqrt(np.maximum(p * (1 - p), np.float32(1 / n)))


def _share(out: Mask, known: Mask, axis: int) -> Dense:
    return out.sum(axis=axis) / np.maximum(known.sum(axis=axis), 1)


def _lower_half(values: Dense) -> Indices:
    return ascending(values)[: (len(values) + 1) // 2]


def is_orthogonal(X: Table) -> bool:
    """Return whether the columns are exactly uncorrelated, like principal components of the same samples.

    Random errors would leave correlations of about 1 / sqrt(n), so there are none. The columns share one unit, which
    reveals columns of mere rounding error: n samples have n - 1 components, but often n columns.
    """
    n = X.shape[0]
    sd = np.sqrt(sum(column_products(part, part) for part in _centred_blocks(X)) / max(n, 1))
    varies = sd > ROUNDING * sd.max(initial=0)
    d = int(varies.sum())
    if np.isnan(sd).any() or d < FEWEST_COLUMNS or n <= d:
        return False
    parts = (part[:, varies] / sd[varies] for part in _centred_blocks(X))
    C = reduce(add, (part.T @ part for part in parts)) / n
    return (float(np.sum(C**2)) - d) / (d * (d - 1)) < ORTHOGONAL / (n - 1)


def _centred_blocks(X: Table) -> Iterator[Dense]:
    """Yield the rows of a table less the mean of each column, in double precision."""
    mean = sum(part.sum(axis=0, dtype=np.float64) for part in _blocks(X)) / max(X.shape[0], 1)
    return (part - mean for part in _blocks(X))


def _blocks(X: Table) -> Iterator[Dense]:
    return (X[rows] for rows in row_blocks(X.shape[0], X.shape[1], BLOCK_ENTRIES))
