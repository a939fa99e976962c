"""AnnData and MuData objects: views out of them, results into them."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from manyview import OCBR, InputError, adjusted_rand_index, make_views
from manyview.io import annotated as tl

ad = pytest.importorskip("anndata", reason="needs the extra manyview[singlecell]")
mudata = pytest.importorskip("mudata", reason="needs the extra manyview[singlecell]")


@pytest.fixture(scope="module")
def data():
    return make_views(90, 3, (8, 12), noise=0.5, seed=0)


@pytest.fixture
def cells(data):
    X, Y = data.views.arrays
    names = pd.Index([f"cell{i}" for i in range(90)])
    adata = ad.AnnData(X, obs=pd.DataFrame(index=names))
    adata.obsm["protein"] = pd.DataFrame(Y, index=names).add_prefix("p")
    adata.layers["sparse"] = sp.csr_matrix(np.abs(X))
    return adata


@pytest.fixture
def multimodal(data):
    X, Y = data.views.arrays
    names = np.array([f"cell{i}" for i in range(90)])
    rna = ad.AnnData(X[:80], obs=pd.DataFrame(index=names[:80]))
    protein = ad.AnnData(Y[10:][::-1], obs=pd.DataFrame(index=names[10:][::-1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mudata.MuData({"rna": rna, "protein": protein})


def test_results_are_written_where_scanpy_looks(cells, data):
    model = tl.cluster(cells, 3, views=["X", "obsm/protein"])
    assert isinstance(model, OCBR)
    assert model.view_names_ == ("X", "obsm/protein")
    assert adjusted_rand_index(data.labels, cells.obs["manyview"].astype(int)) == 1
    assert cells.obs["manyview"].cat.categories.tolist() == ["0", "1", "2"]
    np.testing.assert_array_equal(cells.obsm["X_manyview"], model.embedding_)
    where = cells.uns["manyview"]["connectivities_key"]
    assert abs(cells.obsp[where] - model.affinity_).max() == 0
    assert sum(cells.uns["manyview"]["view_weights"].values()) == pytest.approx(1)


def test_results_can_be_written_to_a_file_and_read_again(cells, tmp_path):
    tl.cluster(cells, 3, views={"rna": "X", "protein": "obsm/protein"}, key="groups")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells.write_h5ad(tmp_path / "cells.h5ad")
        again = ad.read_h5ad(tmp_path / "cells.h5ad")
    assert again.obs["groups"].tolist() == cells.obs["groups"].tolist()
    assert list(again.uns["groups"]["params"]["views"]) == ["rna", "protein"]


def test_cells_that_a_modality_lacks_are_absent_from_it(multimodal, data):
    views = tl.views_of(multimodal)
    assert views.names == ("rna", "protein")
    assert views.present.sum(axis=0).tolist() == [80, 80]
    order = [int(name.removeprefix("cell")) for name in multimodal.obs_names]
    for given, whole in zip(views.arrays, data.views.arrays, strict=True):
        here = ~np.isnan(given).any(axis=1)
        np.testing.assert_allclose(given[here], whole[order][here])
    tl.cluster(multimodal, 3)
    assert adjusted_rand_index(data.labels[order], multimodal.obs["manyview"].astype(int)) > 0.95
    assert multimodal.obsm["X_manyview"].shape == (90, 3)
    assert multimodal.obsp["manyview_connectivities"].shape == (90, 90)


def test_layers_are_sparse_views(cells):
    assert sp.issparse(tl.views_of(cells, "layers/sparse").arrays[0])


@pytest.mark.parametrize(
    ("views", "message"),
    [
        (["obsm/none"], "This AnnData has no 'obsm/none'. Choose from: 'X', 'layers/sparse', 'obsm/protein'"),
        (["obs"], "This AnnData has no 'obs'"),
    ],
)
def test_unknown_addresses_are_refused(views, message, cells):
    with pytest.raises(InputError, match=message):
        tl.cluster(cells, 3, views=views)
    assert "manyview" not in cells.obs


@pytest.mark.parametrize("key", ["", None])
def test_results_need_a_name(key, cells):
    with pytest.raises(InputError, match="is no name to store the results under"):
        tl.cluster(cells, 3, key=key)
    assert cells.obs.columns.empty


def test_other_objects_and_modalities(multimodal):
    with pytest.raises(InputError, match=r"This MuData has no 'atac'\. Choose from: 'rna', 'rna/X', 'protein'"):
        tl.cluster(multimodal, 3, views=["atac"])
    with pytest.raises(InputError, match="Got a list; give an AnnData or MuData"):
        tl.cluster([1, 2], 3)


def test_addresses_inside_a_modality_and_of_the_whole_object(multimodal):
    multimodal.mod["rna"].obsm["X_pca"] = multimodal.mod["rna"].X[:, :2]
    multimodal.obsm["joint"] = np.arange(180.0).reshape(90, 2)
    views = tl.views_of(multimodal, ["rna/obsm/X_pca", "obsm/joint"])
    assert views.present.sum(axis=0).tolist() == [80, 90]
    np.testing.assert_array_equal(views.arrays[1], multimodal.obsm["joint"])


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [("mfmsc", {"n_neighbors": 7}, 7), ("rlrr", {"n_neighbors": 12}, 12), ("ocbr", {}, None)],
)
def test_the_number_of_neighbors_that_was_used_is_recorded(cells, method, params, expected):
    model = tl.cluster(cells, 3, method=method, **params)
    links = round(model.affinity_.nnz / 90)  # where no number was set: scanpy needs one
    assert cells.uns["manyview"]["params"]["n_neighbors"] == (expected or links)
