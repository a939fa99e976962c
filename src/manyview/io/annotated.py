"""Clustering of AnnData and MuData objects, with the results written into them where scanpy looks for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from manyview.checks import InputError, quoted
from manyview.methods import MultiViewClusterer, get_method
from manyview.views.container import Views
from manyview.views.presence import spread_rows

if TYPE_CHECKING:
    from anndata import AnnData
    from mudata import MuData

PARTS = ("layers", "obsm")


def cluster(
    data: AnnData | MuData,
    n_clusters: int | str = "auto",
    *,
    views: Iterable[str] | Mapping[str, str] | None = None,
    method: str = "ocbr",
    key: str = "manyview",
    **params: Any,
) -> MultiViewClusterer:
    """Cluster the cells of an AnnData or MuData object, and write the results into it.

    Parameters
    ----------
    data : AnnData or MuData
        Cells that a modality of a MuData lacks are absent from that view.
    n_clusters : int or "auto"
    views : list of places, or mapping of the views' names to places, optional
        A place is "X", "layers/NAME" or "obsm/NAME"; in a MuData with the modality in front: "rna", "rna/obsm/X_pca".
        By default X of an AnnData, and X of every modality of a MuData.
    method : str
        Key of the method, see `manyview.METHODS`.
    key : str
        Under which name results are written; those of an earlier call with the same key are replaced.
    **params
        Parameters of the method.

    Returns
    -------
    The fitted estimator. Written are ``obs[key]`` (categories "0", "1", ...), ``obsm["X_" + key]`` (the embedding),
    ``obsp[key + "_connectivities"]`` (the consensus graph) and ``uns[key]`` (parameters, weights of the views, and
    where the graph is, as `scanpy.tl.umap` expects of ``neighbors_key``).

    Examples
    --------
    >>> import manyview, anndata  # doctest: +SKIP
    >>> manyview.tl.cluster(adata, 10, views=["X", "obsm/protein"])  # doctest: +SKIP
    >>> scanpy.pl.embedding(adata, basis="X_manyview", color="manyview")  # doctest: +SKIP
    """
    model = get_method(method)(n_clusters, **params)
    model.fit(views_of(data, views))
    _write(data, model, method, key)
    return model


def views_of(data: AnnData | MuData, views: Iterable[str] | Mapping[str, str] | None = None) -> Views:
    """Return the views of an AnnData or MuData object; see `cluster` for how to pick them."""
    if views is None:
        views = list(data.mod) if _is_mudata(data) else ["X"]
    if isinstance(views, str):
        views = [views]
    places = dict(views) if isinstance(views, Mapping) else {place: place for place in views}
    tables = {name: _table(data, place) for name, place in places.items()}
    return Views(tables, sample_ids=np.asarray(data.obs_names, dtype=object))


def _is_mudata(data: Any) -> bool:
    if hasattr(data, "mod"):
        return True
    if not all(hasattr(data, part) for part in ("X", "obs_names", *PARTS)):
        raise InputError(f"Got a {type(data).__name__}; give an AnnData or MuData object.")
    return False


def _table(data: Any, place: str) -> Any:
    """Return one table for the cells of the whole object; cells that the modality lacks are absent from it."""
    if not _is_mudata(data):
        return _element(data, place, place)
    name, _, inner = place.partition("/")
    if name not in data.mod:
        raise InputError(f"There is no modality {name!r} in this MuData. Choose from: {quoted(data.mod)}.")
    part = data.mod[name]
    values = _element(part, inner or "X", place)
    rows = data.obs_names.get_indexer(part.obs_names)
    if len(rows) == data.n_obs and np.array_equal(rows, np.arange(data.n_obs)):
        return values
    return spread_rows(_floats(values), rows, data.n_obs)


def _element(data: Any, element: str, place: str) -> Any:
    part, _, name = element.partition("/")
    if element == "X" and data.X is not None:
        return _plain(data.X)
    if part in PARTS and name in getattr(data, part):
        return _plain(getattr(data, part)[name])
    known = [f"{part}/{name}" for part in PARTS for name in getattr(data, part)]
    raise InputError(f"There is no {place!r} here. Choose from: {quoted(['X'] * (data.X is not None) + known, 20)}.")


def _plain(values: Any) -> Any:
    """Take the array out of a DataFrame in obsm, and sparse matrices as CSR."""
    if hasattr(values, "to_numpy"):
        return values.to_numpy()
    return sp.csr_array(values) if sp.issparse(values) else np.asarray(values)


def _floats(values: Any) -> Any:
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def _write(data: Any, model: MultiViewClusterer, method: str, key: str) -> None:
    import pandas as pd  # anndata has loaded it

    categories = [str(k) for k in range(model.n_clusters_)]
    data.obs[key] = pd.Categorical([str(label) for label in model.labels_], categories=categories)
    data.obsm[f"X_{key}"] = model.embedding_
    data.obsp[f"{key}_connectivities"] = sp.csr_matrix(model.affinity_)
    weights = getattr(model, "view_weights_", None)
    data.uns[key] = {
        "connectivities_key": f"{key}_connectivities",
        "distances_key": f"{key}_connectivities",
        "params": {
            "method": method,
            "n_clusters": model.n_clusters_,
            "n_neighbors": 10,
            "views": list(model.view_names_),
        }
        | {"use_rep": f"X_{key}", "metric": "euclidean"},
        "view_weights": {}
        if weights is None
        else dict(zip(model.view_names_, map(float, np.asarray(weights)), strict=True)),
    }
