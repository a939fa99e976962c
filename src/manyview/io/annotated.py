"""Cluster AnnData and MuData objects, and write the results into them where scanpy looks for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from manyview.checks import InputError, a_type_of, quoted, shown
from manyview.graphs.affinity import PRECOMPUTED
from manyview.io.addresses import TABLES, Place, find_tables
from manyview.io.raw_tables import pick
from manyview.methods import MultiViewClusterer, get_method
from manyview.views.container import Views
from manyview.views.presence import spread_rows

if TYPE_CHECKING:
    from anndata import AnnData
    from mudata import MuData


def cluster(
    data: AnnData | MuData,
    n_clusters: int | str = "auto",
    *,
    views: Iterable[str] | Mapping[str, str] | None = None,
    method: str = "ocbr",
    key: str = "manyview",
    batch: str | None = None,
    **params: Any,
) -> MultiViewClusterer:
    """Cluster the cells of an AnnData or MuData object, and write the results into it.

    Parameters
    ----------
    data : AnnData or MuData
        Cells missing from a modality of a MuData are treated as absent from that view.
    n_clusters : int or "auto", default="auto"
        The number of clusters; "auto" chooses it from the data.
    views : list of addresses, or mapping of view names to addresses, optional
        An address is "X", "layers/NAME" or "obsm/NAME". In a MuData it starts with the modality: "rna" (its X),
        "rna/obsm/X_pca". By default X of an AnnData, and X of every modality of a MuData.
    method : str, default="ocbr"
        Key of the method, see `manyview.METHODS`.
    key : str, default="manyview"
        Name under which the results are stored. Results of an earlier call with the same key are replaced.
    batch : str, optional
        Column of ``obs`` with the batch of each cell: shifts between batches are removed, so that clusters do not
        become batches.
    **params
        Parameters of the method.

    Returns
    -------
    MultiViewClusterer
        The fitted estimator.

    Notes
    -----
    The results are stored in ``obs[key]`` (categories "0", "1", ...), ``obsm["X_" + key]`` (the embedding), ``obsp[key
    + "_connectivities"]`` (the consensus graph) and ``uns[key]`` (parameters, view weights, and the location of the
    graph, in the form that `scanpy.tl.umap` expects for ``neighbors_key``).

    Examples
    --------
    >>> import anndata
    >>> import manyview
    >>> data = manyview.make_views(60, 3, (8, 12), noise=0.5)
    >>> rna, protein = data.views.arrays
    >>> cells = anndata.AnnData(rna, obsm={"protein": protein})
    >>> model = manyview.tl.cluster(cells, 3, views=["X", "obsm/protein"])
    >>> cells.obs["manyview"].cat.categories.tolist(), cells.obsm["X_manyview"].shape
    (['0', '1', '2'], (60, 3))

    ``scanpy.pl.embedding(cells, basis="X_manyview", color="manyview")`` plots the clusters.
    """
    if not isinstance(key, str) or not key:
        raise InputError(f"key={shown(key)} is no name to store the results under; give a word, such as 'manyview'.")
    model = get_method(method)(n_clusters, **params)
    model.fit(views_of(data, views), batch=None if batch is None else _column(data, batch))
    _write(data, model, method, key)
    return model


def views_of(data: AnnData | MuData, views: Iterable[str] | Mapping[str, str] | None = None) -> Views:
    """Return the views of an AnnData or MuData object; see `cluster` for how to choose them."""
    modalities = _modalities(data)
    tables = find_tables(data, modalities, lambda owner, part: getattr(owner, part, None))
    if views is None:
        views = list(modalities) or ["X"]
    if isinstance(views, str):
        views = [views]
    addresses = dict(views) if isinstance(views, Mapping) else {address: address for address in views}
    found = {
        name: tables[pick([address], tables, f"This {type(data).__name__}")] for name, address in addresses.items()
    }
    arrays = {name: _values(data, place) for name, place in found.items()}
    return Views(arrays, sample_ids=np.asarray(data.obs_names, dtype=object))


def _column(data: Any, name: str) -> Any:
    if name not in data.obs:
        raise InputError(f"obs has no column {name!r} for batch. Choose from: {quoted(data.obs.columns, 20)}.")
    return data.obs[name]


def _modalities(data: Any) -> Any:
    """Return the modalities of a MuData; none for an AnnData."""
    if hasattr(data, "mod"):
        return data.mod
    if not all(hasattr(data, part) for part in ("obs_names", *TABLES)):
        raise InputError(f"Got {a_type_of(data)}; give an AnnData or MuData object.")
    return {}


def _values(data: Any, place: Place) -> Any:
    """Return a table with a row for every cell of `data`; cells missing from the modality are absent."""
    part = getattr(place.owner, place.part)
    values = _plain(part[place.name] if place.name else part)
    rows = data.obs_names.get_indexer(place.owner.obs_names)
    if np.array_equal(rows, np.arange(data.n_obs)):
        return values
    return spread_rows(_floats(values), rows, data.n_obs)


def _plain(values: Any) -> Any:
    """Return a DataFrame in obsm as an array, and any sparse matrix as CSR."""
    if hasattr(values, "to_numpy"):
        return values.to_numpy()
    return sp.csr_array(values) if sp.issparse(values) else np.asarray(values)


def _floats(values: Any) -> Any:
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def _write(data: Any, model: MultiViewClusterer, method: str, key: str) -> None:
    import pandas as pd  # anndata has loaded it

    categories = [str(k) for k in range(model.n_clusters_)]
    graph = f"{key}_connectivities"
    data.obs[key] = pd.Categorical([str(label) for label in model.labels_], categories=categories)
    data.obsm[f"X_{key}"] = model.embedding_
    data.obsp[graph] = sp.csr_matrix(model.affinity_)
    data.uns[key] = {
        "connectivities_key": graph,
        "distances_key": graph,
        "params": {
            "method": method,
            "n_clusters": model.n_clusters_,
            "n_neighbors": _n_neighbors(model),
            "views": list(model.view_names_),
            "use_rep": f"X_{key}",
            "metric": "euclidean",
        },
        "view_weights": _view_weights(model),
    }


def _n_neighbors(model: MultiViewClusterer) -> int:
    """Return the number of neighbours if it was set, otherwise the mean number of links: scanpy needs a number."""
    params = model.get_params()
    if params.get("n_neighbors") is not None and params.get("affinity") != PRECOMPUTED:
        return int(params["n_neighbors"])
    return round(model.affinity_.nnz / len(model.labels_))


def _view_weights(model: MultiViewClusterer) -> dict[str, float]:
    weights = getattr(model, "view_weights_", None)
    return {} if weights is None else dict(zip(model.view_names_, map(float, np.asarray(weights)), strict=True))
