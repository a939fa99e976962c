r"""What is done to one view before graphs are built: recognise, clean if needed, weight columns, represent samples.

Dense views are cleaned in standardised columns: an error is judged relative to how much its feature varies. Without
gross errors (`errors.py`) the table stays exactly as it is. How much a column then counts depends on the kind of view:

- features: the column is divided by :math:`\sqrt{sd^2 + g^2}`, g the geometric mean of all sds. One that varies much
  counts as if standardised; one that hardly varies is not blown up to the same size, for it holds mostly noise. In a
  view that was cleaned, columns are robustly standardised instead.
- coordinates: as they are, for their variances are what the coordinates were chosen by. Of their directions, those
  that tell groups of samples apart count more (`valleys.py`); not in a view that was cleaned, where what is left of the
  errors fills the valleys.
- compositions: square roots first, then as features.

Sparse views are cleaned entry by entry (`counts.py`); then logarithms are taken, rare features get more weight, and
rows are scaled to one length. Their samples are represented by the leading directions together with the entries
themselves: directions capture which features go together, entries find near-duplicates. A graph is also a layer itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat

import numpy as np
import scipy.sparse as sp

from manyview.methods.ocbr.counts import CountCleaner, log_rarity_rows
from manyview.methods.ocbr.directions import Directions, find_directions
from manyview.methods.ocbr.errors import NO_ERROR, GrossError, gross_error, is_orthogonal
from manyview.methods.ocbr.recovery import Loadings, Recovery
from manyview.methods.ocbr.settings import Settings
from manyview.methods.ocbr.standardized import Standardized, is_absurd, to_roots, without_absurd
from manyview.numerics.blocks import Scaled, Table, row_blocks, standard_deviations
from manyview.numerics.division import inverse_or_zero, or_one
from manyview.preprocessing.kinds import COMPOSITION, COORDINATES, GRAPH, Kind, recognize_columns
from manyview.preprocessing.scaling import (
    Standardizer,
    in_units,
    to_unit_distance,
    unit_distance_factor,
    without_missing,
)
from manyview.records import saved
from manyview.typing import Array, Dense, Graph, Indices, is_sparse

BLOCK_ENTRIES = 2**20  # values of a view that are looked at for errors at a time


@dataclass(frozen=True)
class Source:
    """The table that the rows of a view are made from, and how: so that they can be made anew from a moved table."""

    table: Dense
    to_rows: Callable[[Dense], Dense]


@dataclass(frozen=True)
class TreatedView:
    """A view ready for the neighbour search, with its samples; `model` treats other samples in the same way.

    Attributes
    ----------
    samples : (m,), the sample index of each row
    rows : (m, r), what represents the samples, at a mean squared distance of 1
    scale : what the rows of `model` were multiplied by for that
    U, D : basis (m, r) and loadings (d, r): U D' is the view without noise, dense ones standardised
    E : (m, d), gross errors in units of the view
    kind : what the view was taken for, and why
    scaling : how its columns were weighted
    source : what `rows` were made from, if it was to be kept and is not sparse
    graph : the layer itself, for a view that is a graph; otherwise None
    """

    samples: Indices
    rows: Array
    scale: float
    U: Dense
    D: Dense
    E: Graph
    kind: Kind
    scaling: str
    model: DenseModel | SparseModel
    source: Source | None
    graph: Graph | None = None


# Dense views -----------------------------------------------------------------------------------------


@saved
@dataclass(frozen=True)
class DenseModel:
    """Turns a table into rows: square roots (of compositions), standardise, clean, complete, weight, project."""

    roots: bool
    standardizer: Standardizer
    loadings: Loadings
    cleaned: bool
    mean: Dense
    weights: Dense
    directions: Directions

    def represent(self, X: Dense) -> Dense:
        """Return the rows of other samples."""
        Y = without_absurd(self.standardizer.apply(to_roots(X) if self.roots else X))
        if self.cleaned or np.isnan(Y).any():
            Y = self.loadings.clean(Y)
        return self.directions.apply((Y - self.mean) * self.weights)

    def undo(self, Y: Dense) -> Dense:
        """Convert standardised columns back to the units of the view."""
        X = self.standardizer.undo(Y)
        return np.square(np.maximum(X, 0)) if self.roots else X


@dataclass
class DenseView:
    """A dense view while it is being recovered."""

    X: Dense
    samples: Indices
    kind: Kind
    scaling: str
    table: Standardized
    recovery: Recovery

    @classmethod
    def start(
        cls,
        X: Dense,
        samples: Indices,
        kind: Kind,
        scaling: str,
        r: int,
        noise_level: float,
        sparsity: float,
        settings: Settings,
    ) -> DenseView:
        """Learn how to standardise, and begin the recovery."""
        roots = kind.name == COMPOSITION
        table = Standardized(X, Standardizer.fit(to_roots(X) if roots else X, robust=True), roots=roots)
        recovery = Recovery.start(table, r, noise_level, sparsity, settings.narrowest)
        return cls(X, samples, kind, scaling, table, recovery)

    def finish(self, r: int, settings: Settings, *, recognize: bool, keep: bool = False) -> TreatedView:
        """Clean if there are gross errors, and represent the samples; `keep` what they are represented by."""
        state = self.recovery
        error = self._gross_error(settings)
        E, U = self._errors(error), state.U
        A = state.spend(error.leniency if error.present else None)
        kind = self.kind
        if error.present and recognize and not self.table.roots:
            kind = recognize_columns(self._in_shared_units(A))
        scaling = usual_scaling(kind, cleaned=error.present) if self.scaling == "auto" else self.scaling
        units = self.table.standardizer.units
        by_valleys = settings.weigh_valleys and kind.name == COORDINATES and not error.present
        represent = partial(
            represent_columns, units=units, scaling=scaling, r=r, settings=settings, by_valleys=by_valleys
        )
        mean, weights, directions, rows = represent(A, in_place=not keep)
        source = Source(A, partial(unit_rows, represent)) if keep else None
        del A  # as large as the view
        leniency = error.leniency if error.present else np.inf
        loadings, roots = Loadings.of(state, leniency), self.table.roots
        model = DenseModel(roots, self.table.standardizer, loadings, error.present, mean, weights, directions)
        told = replace(kind, reason=f"{kind.reason}; {describe_error(error)}")
        scale = unit_distance_factor(rows)
        rows *= rows.dtype.type(scale)
        return TreatedView(self.samples, rows, scale, U, state.loadings, E, told, scaling, model, source)

    def _in_shared_units(self, Y: Table) -> Scaled:
        """Return a standardised table in the units of the column that varies most."""
        units = self.table.standardizer.units
        return Scaled(Y, units / or_one(units.max(initial=0)))

    def _gross_error(self, settings: Settings) -> GrossError:
        state = self.recovery
        if state.is_complete and is_orthogonal(self._in_shared_units(state.X)):
            return NO_ERROR
        return gross_error(state.residuals, state.observed, settings.tolerated)

    def _errors(self, error: GrossError) -> Graph:
        """Return the errors in units of the view: impossible values, and others if there are gross errors."""
        blocks = row_blocks(self.X.shape[0], self.X.shape[1], BLOCK_ENTRIES)
        nothing = repeat(np.zeros(1, self.X.dtype), len(blocks))
        found = self.recovery.gross_errors(blocks) if error.present else nothing
        errors = [sp.csr_array(self._errors_of(rows, part)) for rows, part in zip(blocks, found, strict=True)]
        return sp.csr_array(sp.vstack(errors))

    def _errors_of(self, rows: slice, found: Dense) -> Dense:
        """Return the errors in some rows, in units of the view; `found` are the gross ones."""
        X = self.X[rows]
        if not self.table.is_usual:
            Y = self.table.raw(rows)
            found = np.where(is_absurd(Y), Y - self.recovery.cleaned(None, rows), found)
        E = in_units(np.broadcast_to(found, X.shape), self.table.standardizer.units)
        return np.where(E != 0, X - np.square(to_roots(X) - E), 0) if self.table.roots else E


def usual_scaling(kind: Kind, *, cleaned: bool) -> str:
    """Return the scaling that "auto" stands for.

    What cleaning leaves of an error is about as large as the robust deviation estimated beforehand, so features of a
    cleaned view are scaled by those deviations.
    """
    if kind.is_sparse:
        return "unit"
    if kind.name == COORDINATES:
        return "none"
    return "robust" if cleaned else "soft"


def represent_columns(
    A: Dense,
    units: Dense,
    scaling: str,
    r: int,
    settings: Settings,
    *,
    by_valleys: bool,
    in_place: bool = False,
) -> tuple[Dense, Dense, Directions, Dense]:
    """Return the mean and weight of each column of the standardised A, the map to rows, and the rows.

    `by_valleys`: directions count by what they have of the valleys between groups of samples. `in_place` overwrites A,
    which saves a copy.
    """
    mean, weights = weigh_columns(A, units, scaling)
    B = A if in_place else A.copy()
    B -= mean
    B *= weights
    directions, _, rows = find_directions(B, r, settings, by_valleys=by_valleys, overwrite=in_place)
    return mean, weights, directions, rows


def unit_rows(represent: Callable[[Dense], tuple[Dense, Dense, Directions, Dense]], A: Dense) -> Dense:
    """Return what represents the samples of the standardised A, at a mean squared distance of 1."""
    return to_unit_distance(represent(A)[-1])


def weigh_columns(A: Dense, units: Dense, scaling: str) -> tuple[Dense, Dense]:
    """Return the mean and weight of each column of the standardised A; `units` are its deviations in original units.

    Uses logarithms, so that features in units of 1e300 do not overflow.
    """
    mean = A.mean(axis=0, dtype=np.float64)
    sd = standard_deviations(A)
    varies = (sd > 1e-6) & (units > 0)
    own = np.log(np.where(varies, units, 1).astype(np.float64))
    size = own + np.log(np.where(varies, sd, 1))  # logarithm of the sd in own units
    if scaling == "none":
        weights = np.exp(own - size[varies].max(initial=-np.inf)) if varies.any() else own
    elif scaling == "soft":
        g = size[varies].mean() if varies.any() else 0.0
        with np.errstate(over="ignore"):  # next to features in far larger units, a feature counts for nothing
            weights = 1 / np.sqrt(sd**2 + np.exp(2 * (g - own)))
    else:
        weights = np.ones_like(own) if scaling == "robust" else inverse_or_zero(sd)
    return mean.astype(A.dtype), np.where(varies, weights, 0).astype(A.dtype)


def describe_error(error: GrossError) -> str:
    """Say whether a view was cleaned, and why."""
    if error is NO_ERROR:
        return "not cleaned: its columns are exactly orthogonal, so nothing has changed since they were made"
    return f"{'cleaned' if error.present else 'not cleaned'}: {error.share:.1%} of the entries are far out at random"


# Sparse views ----------------------------------------------------------------------------------------


@saved
@dataclass(frozen=True)
class SparseModel:
    """Turns counts into rows: clean, logarithms and rarity, directions together with the entries."""

    cleaner: CountCleaner
    directions: Directions
    scales: tuple[float, float]

    def represent(self, X: Array) -> Array:
        """Return the rows of samples, stored as X is."""
        B = log_rarity_rows(self.cleaner.clean(sp.csr_array(without_missing(X))), self.cleaner)
        return self._beside(B, self.directions.apply(B), dense=not is_sparse(X))

    def _beside(self, B: sp.csr_array, rows: Dense, *, dense: bool) -> Array:
        first, second = (B.dtype.type(scale) for scale in self.scales)
        if dense:
            return np.hstack([B.toarray() * first, rows * second])
        return sp.hstack([B * first, sp.csr_array(rows * second)], format="csr")


def treat_sparse(
    X: Array, samples: Indices, kind: Kind, r: int, settings: Settings, *, keep: bool = False
) -> TreatedView:
    """Represent samples by the cleaned rows of a sparse view.

    Missing values count as 0.
    """
    counts = sp.csr_array(without_missing(X))
    graph = None
    if kind.name == GRAPH:
        graph = without_diagonal(counts)
        own = np.median(graph.data) if graph.nnz else 1.0
        counts = sp.csr_array(graph + sp.eye_array(X.shape[0], dtype=counts.dtype) * counts.dtype.type(own))
    cleaner = CountCleaner.fit(counts, clean=settings.clean_counts, weigh=settings.rarity)
    A = cleaner.clean(counts)
    B = log_rarity_rows(A, cleaner)
    directions, basis, rows = find_directions(B, r, settings)
    model = SparseModel(cleaner, directions, (unit_distance_factor(B), unit_distance_factor(rows)))
    told = (
        "entries weighted by how likely they are signal" if cleaner.edges.size else "not cleaned: no negative entries"
    )
    rows_beside = model._beside(B, rows, dense=not is_sparse(X))
    scale = unit_distance_factor(rows_beside)
    return TreatedView(
        samples,
        rows_beside * rows_beside.dtype.type(scale),
        scale,
        basis.U,
        basis.loadings,
        sp.csr_array(counts - A),
        replace(kind, reason=f"{kind.reason}; {told}"),
        "unit",
        model,
        Source(rows_beside, to_unit_distance) if keep and not is_sparse(rows_beside) else None,
        graph,
    )


def without_diagonal(W: sp.csr_array) -> sp.csr_array:
    """Return a graph without links of samples to themselves."""
    W = W.copy()
    W.setdiag(0)
    W.eliminate_zeros()
    return W
