"""All numbers that a report shows. Nothing here draws, and no dense array is n x n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from manyview.checks import InputError, check_int, quoted
from manyview.evaluation.findings import Findings
from manyview.evaluation.moments import Moments, table_moments
from manyview.evaluation.overlap import clustered_columns
from manyview.graphs.affinity import PRECOMPUTED
from manyview.methods import MultiViewClusterer
from manyview.report.agreement import Agreement, compare_views
from manyview.report.clusters import (
    ClusterStatistics,
    Membership,
    affinity_image,
    silhouettes,
    summarize_clusters,
    within_share,
)
from manyview.report.features import Features, Suspects, find_suspects, separating_features
from manyview.report.levels import Tree, lay_out_tree
from manyview.report.metadata import (
    MOST_COLUMNS,
    Column,
    colour_column,
    match_metadata,
    number_column,
)
from manyview.report.sample_map import SampleMap, choose_samples, lay_out_samples, spectral_coordinates
from manyview.typing import Array, Dense, Indices
from manyview.views.container import Views
from manyview.views.gate import check_views

if TYPE_CHECKING:
    import pandas as pd

MOST_DOUBTFUL = 20
MOST_CORRUPTED = 0.5  # share of a view's entries


@dataclass(frozen=True)
class ReportData:
    """The numbers of a report. Arrays have one entry per sample (n,), unless their class says otherwise.

    With landmarks, only these have a graph and a row here; `positions` says where they are among all samples. The sizes
    of clusters, the columns of metadata, features, findings and levels are still of all samples.
    """

    ids: NDArray[Any]
    labels: Indices
    all_labels: Indices
    positions: Indices
    sample_map: SampleMap
    columns: list[Column]
    columns_left_out: int
    clusters: ClusterStatistics
    membership: Membership
    silhouette: Dense
    stability: Any
    doubtful: Indices
    affinity: Dense
    ends: Dense
    within: float
    agreement: Agreement
    features: Features | None
    suspects: Suspects | None
    findings: Findings
    tree: Tree | None
    clustered: dict[str, list[str]]

    @property
    def n_samples(self) -> int:
        """Number of all samples."""
        return len(self.all_labels)

    @property
    def n_described(self) -> int:
        """Number of samples that have a row here."""
        return len(self.labels)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.clusters.size)

    @property
    def n_doubtful(self) -> int:
        """Number of samples whose label is less likely than one half."""
        return int(np.sum(self.membership.own < 0.5))


def compute_report_data(
    model: MultiViewClusterer,
    views: Views,
    *,
    metadata: pd.DataFrame | None = None,
    findings: Findings | None = None,
    stability: Any = None,
    max_points: int = 5000,
    seed: int = 0,
) -> ReportData:
    """Compute the numbers of a report; parameters as for `render_report`."""
    check_int("max_points", max_points, minimum=1)
    described, some, positions = described_part(model, views)
    W, labels = described.affinity_, described.labels_
    coordinates = spectral_coordinates(W, int(labels.max()) + 1)
    membership, silhouette = Membership.of(described.membership_, labels), silhouettes(coordinates, labels)
    doubtful = find_doubtful(membership)
    columns = [number_column("confidence", membership.own)]
    if stability is not None:
        columns.append(number_column("stability", stability.samples))
    matched = None if metadata is None else match_metadata(metadata, views.sample_ids, views.n_samples)
    given = [] if matched is None else list(matched.items())
    columns += [colour_column(str(name), values) for name, values in given[:MOST_COLUMNS]]
    features, suspects = analyse_tables(model, views)
    named = [entry.row for entry in suspects.entries] if suspects else []
    rows = np.union1d(choose_samples(labels, max_points, seed), np.r_[doubtful, np.array(named, np.intp)])
    image, ends = affinity_image(W, labels)
    ids = positions if some.sample_ids is None else some.sample_ids
    return ReportData(
        ids=np.array([str(name) for name in ids], dtype=object),
        labels=labels,
        all_labels=model.labels_,
        positions=positions,
        sample_map=lay_out_samples(coordinates, rows, seed),
        columns=columns,
        columns_left_out=len(given[MOST_COLUMNS:]),
        clusters=replace(summarize_clusters(W, labels, silhouette), size=np.bincount(model.labels_)),
        membership=membership,
        silhouette=silhouette,
        stability=stability,
        doubtful=doubtful,
        affinity=image,
        ends=ends,
        within=within_share(W, labels),
        agreement=compare_views(described, some, seed=seed),
        features=features,
        suspects=suspects,
        findings=findings or Findings(),
        tree=tree_of(model),
        clustered=clustered_columns(matched, views),
    )


def described_part(model: MultiViewClusterer, views: Views) -> tuple[MultiViewClusterer, Views, Indices]:
    """Return the model, the views and the positions of the samples that have a graph: landmarks, if there are any."""
    landmarks = getattr(model, "landmarks_", None)
    if landmarks is None:
        return model, views, np.arange(views.n_samples)
    return model.on_landmarks(), views[landmarks], landmarks


def tree_of(model: MultiViewClusterer) -> Tree | None:
    """Return the tree of coarser and finer partitions; None if the fitted partition is the only one."""
    return lay_out_tree(model.levels_, model.labels_) if model.levels_.finest > 1 else None


def fitted_views(model: MultiViewClusterer, data: object) -> Views:
    """Return `data` as views; raise if the model cannot have been fitted on them."""
    check_is_fitted(model, "labels_")
    views = check_views(data)
    if (len(model.labels_), tuple(model.view_names_)) != (views.n_samples, views.names):
        raise InputError(
            f"{type(model).__name__} was fitted on {len(model.labels_)} samples of the views "
            f"{quoted(model.view_names_)}, but got {views.n_samples} samples of {quoted(views.names)}; give the "
            "views it was fitted on."
        )
    return views


def find_doubtful(membership: Membership) -> Indices:
    """Rows of the samples whose label is least likely, the worst first."""
    return np.argsort(membership.own, kind="stable")[:MOST_DOUBTFUL]


def analyse_tables(model: MultiViewClusterer, views: Views) -> tuple[Features | None, Suspects | None]:
    """Find separating features of all samples, and suspected entries of those described; None for affinities."""
    if model.get_params().get("affinity") == PRECOMPUTED:
        return None, None
    described, some = described_part(model, views)[:2]
    errors = own_corruption(described, some)
    tables, moments = corrected_moments(some, errors, described.labels_)
    known = [E for E in errors if E is not None]
    suspects = find_suspects(known, some, moments) if len(known) == views.n_views else None
    if some is not views:  # the errors of other samples are not known
        tables, moments = corrected_moments(views, [None] * views.n_views, model.labels_)
    return separating_features(tables, moments, views, model.labels_), suspects


def corrected_moments(
    views: Views, errors: Sequence[sp.csr_array | None], labels: Indices
) -> tuple[list[Array], list[Moments]]:
    """Return the tables with entries that look corrupted replaced by their expected values, and their moments."""
    tables: list[Array] = [X if E is None else X - E for X, E in zip(views.arrays, errors, strict=True)]
    return tables, [table_moments(X, labels) for X in tables]


def own_corruption(model: MultiViewClusterer, views: Views) -> list[sp.csr_array | None]:
    """Return each view's corruption if it is sparse, otherwise None: errors in most entries single out none of them."""
    kept = getattr(model, "corruption_", [None] * views.n_views)
    return [
        E if sp.issparse(E) and E.shape == X.shape and E.nnz <= MOST_CORRUPTED * X.shape[0] * X.shape[1] else None
        for E, X in zip(kept, views.arrays, strict=True)
    ]
