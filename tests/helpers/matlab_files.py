"""Files as MATLAB writes them, for the tests: version 5 through scipy, version 7.3 through h5py."""

import numpy as np
import scipy.io
import scipy.sparse as sp


def save_v5(path, variables):
    """Write variables; a list is a cell array."""
    scipy.io.savemat(path, {name: cells(*v) if isinstance(v, list) else v for name, v in variables.items()})


def cells(*contents):
    made = np.empty((1, len(contents)), dtype=object)
    for i, content in enumerate(contents):
        made[0, i] = content
    return made


def save_v73(path, variables):
    """Write variables with dimensions from the last to the first, cells as references, and a header in front."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            _put(file, name, value)
    with path.open("r+b") as file:
        text = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon Jan  5 12:00:00 2026 HDF5 schema 1.00 ."
        file.write(text.ljust(116) + bytes(8) + b"\x00\x02IM")


def _put(group, name, value):
    kinds = {list: _put_cells, dict: _put_struct, str: _put_text}
    put = _put_sparse if sp.issparse(value) else kinds.get(type(value), _put_matrix)
    made, kind = put(group, name, value)
    made.attrs["MATLAB_class"] = np.bytes_(kind)


def _put_cells(group, name, contents):
    import h5py

    inner = group.file.require_group("#refs#")
    keys = [f"{name}{i}" for i in range(len(contents))]
    for key, content in zip(keys, contents, strict=True):
        _put(inner, key, content)
    references = np.array([inner[key].ref for key in keys], dtype=h5py.ref_dtype)
    return group.create_dataset(name, data=references.reshape(-1, 1)), "cell"


def _put_struct(group, name, fields):
    made = group.create_group(name)
    for key, value in fields.items():
        _put(made, key, value)
    return made, "struct"


def _put_text(group, name, text):
    return group.create_dataset(name, data=np.frombuffer(text.encode("utf-16-le"), "<u2").reshape(-1, 1)), "char"


def _put_sparse(group, name, matrix):
    csc, made = sp.csc_array(matrix), group.create_group(name)
    made.attrs["MATLAB_sparse"] = np.uint64(csc.shape[0])
    made["jc"] = csc.indptr.astype(np.uint64)
    if csc.nnz:
        made["data"], made["ir"] = csc.data, csc.indices.astype(np.uint64)
    return made, "double"


def _put_matrix(group, name, matrix):
    if matrix.size:
        return group.create_dataset(name, data=matrix.T), "double"
    made = group.create_dataset(name, data=np.array(matrix.shape, dtype=np.uint64))
    made.attrs["MATLAB_empty"] = np.uint8(1)
    return made, "double"
