"""The parameters `strategy` and `n_landmarks`, and a fit that follows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from numbers import Integral
from typing import Any, ClassVar, Self

from sklearn.base import clone
from sklearn.utils import check_random_state

from manyview.checks import LARGEST_SEED, InputError, OneOf, Rules, Whole
from manyview.graphs.affinity import PRECOMPUTED
from manyview.graphs.recall import PLACING, graph_named, noted_recall
from manyview.methods.base import MultiViewClusterer
from manyview.methods.landmarks.blocks import LocalRows, Rows
from manyview.methods.landmarks.fitting import (
    LandmarkModel,
    Stages,
    Survey,
    assign,
    cluster_sizes,
    draw_landmarks,
    link,
    revise_until_settled,
    survey,
    with_own_blocks,
)
from manyview.methods.placing import LayeredPlacing, Linker
from manyview.numerics.rows import ascending
from manyview.numerics.threads import limited_threads
from manyview.partition.levels import Levels, build_levels
from manyview.partition.membership import Assigned
from manyview.typing import Indices
from manyview.views import Views
from manyview.views.batches import batch_codes
from manyview.views.conversion import sample_ids_of, split_tables

STRATEGIES = ("auto", "exact", "landmarks")
EXACT_UP_TO = 200_000  # samples: up to here, "auto" fits all of them
N_LANDMARKS = 20_000
ENGINES = {"dask": "manyview.distributed"}
"""Maps other libraries to the modules that handle their tables; nothing here imports these."""


class LandmarkStrategy(MultiViewClusterer):
    """Fits all samples, or landmarks; must come before the other base classes of an estimator."""

    _rules: ClassVar[Rules] = {"strategy": OneOf(STRATEGIES), "n_landmarks": Whole(2)}

    strategy: str
    n_landmarks: int
    landmarks_: Indices | None
    _placing: LayeredPlacing
    _assigned: Assigned | None

    def fit(self, X: object, y: object = None, *, batch: object = None) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : list, tuple or dict of tables (samples by features), Views, or one table
            NaN is a missing value; a row of NaN is a sample that is absent from that view. With landmarks, tables may
            be `numpy.memmap`, which are read in blocks of rows, or dask arrays and dataframes, or files that workers
            read (docs/distributed.md).
        y : ignored
        batch : array-like (n_samples,), optional
            The batch of each sample, such as the laboratory, the donor or the day; any hashable values. If batches are
            separated in the data, the shifts between them are estimated and removed, and neighbours are drawn from each
            batch, so that clusters do not simply reproduce the batches. ``affinity="precomputed"`` refuses it.

        Returns
        -------
        self
        """
        self._check_parameters()
        elsewhere = rows_elsewhere(X)
        if elsewhere is not None:
            check_no_batch(batch)
            return self._fit_rows(elsewhere)
        n_samples = count_samples(X)
        exact = self.strategy == "exact" or (self.strategy == "auto" and n_samples <= EXACT_UP_TO)
        if not exact and n_samples > self.n_landmarks:
            given = X.batch if isinstance(X, Views) else None
            rows = as_rows(X)
            with limited_threads(self.n_jobs, rows.n_entries):
                return self._fit_rows(rows, batch=given if batch is None else batch_codes(batch, n_samples))
        super().fit(X, y, batch=batch)
        self.landmarks_, self._assigned = None, None
        return self

    def on_landmarks(self) -> Self:
        """Return the model of the landmarks alone: all its attributes, even `labels_`, cover only these samples."""
        if self.landmarks_ is None:
            return self
        model = clone(self)
        for name, value in vars(self).items():
            setattr(model, name, value)
        model.labels_ = self._placing.labels
        model.sample_ids_ = self._landmark_ids
        model.batch_ = None if self.batch_ is None else self.batch_[self.landmarks_]
        model._levels, model._assigned = None, None
        return model

    def _own_assignment(self) -> Assigned | None:
        """Return what samples were assigned to; models of earlier versions do not have it."""
        found: Assigned | None = vars(self).get("_assigned")
        return super()._own_assignment() if found is None else found

    def _build_levels(self) -> Levels:
        """Merge clusters by the graph of the landmarks; other samples have no graph, so no cluster is halved."""
        if self.landmarks_ is None:
            return super()._build_levels()
        merged = build_levels(*self._level_graphs(), self._placing.labels, most=self.n_clusters_)
        return replace(merged, labels=self.labels_)

    def _fit_rows(self, rows: Rows, stages: Stages | None = None, *, batch: Indices | None = None) -> Self:
        """Fit landmarks, assign all samples, and revise both; `stages` may already have some of the results."""
        stages = stages or Stages()
        self._check_landmarks()
        known = stages.once("survey", lambda: rows.each(survey).total())
        known.check()
        fitted = stages.once("landmarks", lambda: self._fit_landmarks(rows, known, batch))
        placing = fitted._placing
        assert fitted.landmarks_ is not None
        linker = Linker(placing, known.n_samples)
        linked = rows.each(partial(link, linker=linker, landmarks=fitted.landmarks_))
        start = stages.once("round", lambda: LandmarkModel.of(placing))
        model, outcome = revise_until_settled(linked, start, placing, stages)
        order = ascending(-linked.total_of(partial(cluster_sizes, model=model)))
        model = model.reordered(order)
        assigned = rows.join(linked.map(partial(assign, model=model, calibration=fitted._calibration)))
        self._take_over(fitted)
        self._placing = placing.revised(model.labels, model.blocks)
        self._reorder_clusters(order)
        self.converged_ = fitted.converged_ and outcome.converged
        self.labels_, self._assigned = assigned.labels, assigned
        self.sample_ids_, self.batch_ = rows.sample_ids, batch
        return self

    def _fit_landmarks(self, rows: Rows, known: Survey, batch: Indices | None) -> Self:
        """Draw landmarks, and fit them."""
        seed = int(check_random_state(self.random_state).randint(LARGEST_SEED))
        landmarks = draw_landmarks(rows, known.n_samples, self.n_landmarks, seed)
        landmarks.views.batch = None if batch is None else batch[landmarks.positions]
        fitted = clone(self).set_params(strategy="exact").fit(landmarks.views)
        with noted_recall() as recall, graph_named(PLACING):
            fitted._placing = with_own_blocks(fitted._placing, landmarks, fitted.n_clusters_, known.n_samples)
        fitted.neighbor_recall_ |= recall
        fitted.landmarks_, fitted._landmark_ids = landmarks.positions, landmarks.views.sample_ids
        fitted._n_present = dict(zip(known.names, known.n_present.tolist(), strict=True))
        fitted.n_missing_ = dict(zip(known.names, known.n_missing.tolist(), strict=True))
        return fitted

    def _reorder_clusters(self, order: Indices) -> None:
        """Give the clusters of the landmarks' fit the numbers that they have by the sizes among all samples."""
        self.membership_ = self.membership_[:, order]

    def _take_over(self, fitted: Self) -> None:
        """Copy the attributes of the landmarks' fit to this estimator."""
        parameters = self.get_params(deep=False)
        for name, value in vars(fitted).items():
            if name not in parameters:
                setattr(self, name, value)

    def _check_landmarks(self) -> None:
        if self.strategy == "exact":
            raise InputError("strategy='exact' needs all samples in one process; use strategy='landmarks'.")
        if self._is_precomputed():
            raise InputError(
                f"strategy='landmarks' cannot be combined with affinity={PRECOMPUTED!r}: affinities to all samples "
                "leave nothing to place by. Use strategy='exact'."
            )
        if not isinstance(self.n_clusters, str) and self.n_landmarks < self.n_clusters:
            raise InputError(
                f"n_landmarks={self.n_landmarks} is fewer than n_clusters={self.n_clusters}; give more landmarks."
            )


def check_no_batch(batch: object) -> None:
    """Refuse batches of samples that are on a cluster."""
    if batch is not None:
        raise InputError("batch cannot be used with tables on a cluster; give tables of this process.")


def rows_elsewhere(X: object) -> Rows | None:
    """Return tables outside this process as rows; None for tables in this process."""
    if isinstance(X, Rows):
        return X
    library = type(first_table(X)).__module__.partition(".")[0]
    rows: Rows | None = import_module(ENGINES[library]).as_rows(X) if library in ENGINES else None
    return rows


def first_table(X: object) -> Any:
    """Return the first table of a collection, or the argument itself."""
    tables = list(X.values()) if isinstance(X, Mapping) else X
    return tables[0] if isinstance(tables, list | tuple) and tables else tables


def count_samples(X: object) -> int:
    """Return the number of samples if it is known without converting anything; otherwise 0."""
    shape: tuple[Any, ...] = X.shape if isinstance(X, Views) else getattr(first_table(X), "shape", ())
    known = len(shape) == 2 and isinstance(shape[0], Integral)  # until Dask counts, it has NaN or a task there
    return int(shape[0]) if known else 0


def as_rows(X: object) -> LocalRows:
    """Return whatever the user gave as rows in blocks; tables stay as they are until a block is read."""
    if isinstance(X, Views):
        return LocalRows(dict(X.items()), X.sample_ids)
    tables, names = split_tables(X)
    rows = LocalRows(dict(zip(names, tables, strict=True)))
    return replace(rows, sample_ids=sample_ids_of(tables, names, None, rows.n_samples))
