"""HDF5 files that pull in other files are refused."""

import numpy as np
import pytest

from helpers.refusals import refused
from manyview import InputError
from manyview.io.guards import check_own_values


def external_link(file, h5py, other):
    file["X"] = h5py.ExternalLink(str(other), "/x")


def external_storage(file, h5py, other):
    file.create_dataset("X", (2, 2), "f8", external=[(str(other), 0, 32)])


def virtual(file, h5py, other):
    layout = h5py.VirtualLayout((2, 2), "f8")
    layout[:] = h5py.VirtualSource(str(other), "x", (2, 2))
    file.create_virtual_dataset("X", layout)


def reference_to_virtual(file, h5py, other):
    virtual(file, h5py, other)
    reference = file["X"].ref
    file["#hidden"] = file["X"]
    del file["X"]
    cells = file.create_dataset("X", (1, 1), dtype=h5py.ref_dtype)
    cells[0, 0] = reference


@pytest.mark.parametrize("make", [external_link, external_storage, virtual, reference_to_virtual])
@pytest.mark.parametrize("ending", [".mat", ".h5ad"])
def test_a_file_that_pulls_in_others(tmp_path, in_this_process, make, ending):
    h5py = pytest.importorskip("h5py")
    anndata = pytest.importorskip("anndata")
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["x"] = np.eye(2)
    path = tmp_path / f"a{ending}"
    anndata.AnnData(np.eye(2)).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        del file["X"]
        make(file, h5py, tmp_path / "secret.h5")
    assert "takes values from other files" in refused(path)


def test_values_from_other_files_behind_a_reference(tmp_path):
    """An object that no link leads to, only a reference, is refused when it is reached."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        virtual(file, h5py, tmp_path / "b.h5")
        with pytest.raises(InputError, match="takes values from other files"):
            check_own_values(file["X"], "a.h5")
