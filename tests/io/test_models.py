"""Models in files: the same after loading; bad files are refused."""

import json
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import METHODS, MFMSC, OCBR, RLRR, RMSC, InputError, PaperOCBR, load, make_views, save
from manyview.methods import MultiViewClusterer


@pytest.fixture(scope="module")
def data():
    return make_views(90, 3, (8, 12), noise=0.5, seed=0)


@pytest.fixture
def saved(data, tmp_path):
    return save(OCBR(3).fit(data.views[:60]), tmp_path / "model.manyview")


def assert_same(one, other):
    """Compare two values as far down as they go."""
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif sp.issparse(one):
        assert one.dtype == other.dtype
        assert abs(one - other).max() == 0
    elif isinstance(one, list | tuple):
        assert type(one) is type(other)
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            assert_same(*pair)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        assert_same(list(one.values()), list(other.values()))
    elif hasattr(one, "__dataclass_fields__"):
        assert type(one) is type(other)
        assert_same(vars(one), vars(other))
    else:
        assert one == other


@pytest.mark.parametrize("key", METHODS)
def test_every_model_comes_back_the_same(key, data, tmp_path):
    model = METHODS[key](3).fit({"a": data.views.arrays[0][:60], "b": data.views.arrays[1][:60]})
    again = load(save(model, tmp_path / "m"))
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert_same(vars(again), vars(model))
    new = [X[60:] for X in data.views.arrays]
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    assert again.to_frame().equals(model.to_frame())


@pytest.mark.parametrize(
    "model",
    [
        OCBR(3, scaling={"view_0": "none"}),
        PaperOCBR(3),
        RLRR(3, nonnegative=False),
        RMSC(3),
        MFMSC("auto", view_weights=[1.0, 0.5]),
    ],
    ids=str,
)
def test_parameters_of_all_kinds_come_back(model, data, tmp_path):
    again = load(save(model.fit(data.views), tmp_path / "m"))
    assert_same(vars(again), vars(model))


def test_sparse_views_missing_values_ids_and_single_precision(rng, tmp_path):
    counts = sp.csr_array(np.kron(np.eye(3), np.ones((20, 6))) * rng.poisson(4, (60, 18)), dtype=np.float32)
    dense = (np.repeat(np.eye(3), 20, axis=0) + 0.1 * rng.standard_normal((60, 3))).astype(np.float32)
    dense[3] = np.nan
    dense[5, 1] = np.nan
    model = OCBR(3).fit({"counts": counts, "dense": dense})
    again = load(save(model, tmp_path / "m"))
    assert_same(vars(again), vars(model))
    np.testing.assert_array_equal(again.predict({"counts": counts[:5]}), model.predict({"counts": counts[:5]}))


def test_code_is_not_saved(data, tmp_path):
    model = OCBR(3, callback=lambda _: None, random_state=np.random.RandomState(0)).fit(data.views)
    again = load(save(model, tmp_path / "m"))
    assert (again.callback, again.random_state) == (None, None)


def test_an_earlier_file_is_replaced_and_nothing_else_left(saved, data):
    save(MFMSC(3).fit(data.views), saved)
    assert isinstance(load(saved), MFMSC)
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_only_fitted_models_of_ours_can_be_saved(data, tmp_path):
    class Other(MultiViewClusterer):
        def _fit(self, views): ...

    with pytest.raises(InputError, match="This OCBR is not fitted"):
        save(OCBR(3), tmp_path / "m")
    with pytest.raises(InputError, match="can be saved, not an Other"):
        save(Other(), tmp_path / "m")
    assert not list(tmp_path.iterdir())


# Bad files ---------------------------------------------------------------------------------------


def rewrite(path, change=lambda contents: contents, arrays=lambda name, data: data):
    """Write the archive again, with something changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    contents = change(json.loads(members.pop("model.json")))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", json.dumps(contents))
        for name, data in members.items():
            archive.writestr(name, arrays(name, data))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c | {"format": "else"}, "does not say 'manyview model'"),
        (lambda c: c | {"format_version": 99}, "has format version 99, written by manyview"),
        (lambda c: c | {"method": "magic"}, "unknown method, 'magic'"),
        (lambda c: {k: v for k, v in c.items() if k != "checksums"}, "lacks 'checksums'"),
        (lambda c: c | {"attributes": {"labels_": {"pickle": "x"}}}, "contains something unknown: 'pickle'"),
        (lambda c: c | {"attributes": {"x": {"record": "Popen", "fields": {}}}}, "contains an unknown 'Popen'"),
        (lambda c: c | {"attributes": {"x": {"array": "99.npy"}}}, "not a complete manyview model"),
        (lambda c: c | {"parameters": {"depth": 3}}, "not a complete manyview model: TypeError"),
        (lambda c: [c], "does not say 'manyview model'"),
    ],
)
def test_contents_that_make_no_model_are_refused(change, message, saved):
    rewrite(saved, change)
    with pytest.raises(InputError, match=message):
        load(saved)


def test_changed_arrays_are_noticed(saved):
    rewrite(saved, arrays=lambda name, data: data[:-1] + b"x" if name == "0.npy" else data)
    with pytest.raises(InputError, match=r"0\.npy does not match its checksum"):
        load(saved)


def test_pickled_arrays_are_not_loaded(saved):
    import hashlib
    import io

    buffer = io.BytesIO()
    np.save(buffer, np.array([{}], dtype=object), allow_pickle=True)
    evil = buffer.getvalue()

    def change(contents):
        contents["checksums"]["0.npy"] = hashlib.sha256(evil).hexdigest()
        return contents

    rewrite(saved, change, lambda name, data: evil if name == "0.npy" else data)
    with pytest.raises(InputError, match=r"not a complete manyview model: .*allow_pickle=False"):
        load(saved)


@pytest.mark.parametrize("kept", [0, 10, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(kept, saved):
    data = saved.read_bytes()
    saved.write_bytes(data[: kept if isinstance(kept, int) else int(kept * len(data))])
    with pytest.raises(InputError, match="cannot be read as a manyview model"):
        load(saved)


@pytest.mark.parametrize("where", [20, 200, 2000, 20000])
def test_a_flipped_byte_is_noticed_or_does_not_matter(where, saved):
    data = bytearray(saved.read_bytes())
    whole = load(saved)
    data[where] ^= 0xFF
    saved.write_bytes(bytes(data))
    try:
        again = load(saved)
    except InputError:
        return
    assert_same(vars(again), vars(whole))  # zip archives tell some things twice


def test_contents_that_are_no_text(saved):
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("model.json", b"\xff\xfe{")
    with pytest.raises(InputError, match=r"has no readable model\.json"):
        load(saved)


def test_contents_of_blanks_without_end(saved):
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("model.json", "w") as file:
        for _ in range(2**8 + 1):
            file.write(b" " * 2**20)
    with pytest.raises(InputError, match=r"model\.json has more than 268435456 bytes"):
        load(saved)


def npy_with_header(text):
    header = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


@pytest.mark.parametrize(
    "array",
    [
        npy_with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2L, "),  # a TokenError in numpy
        npy_with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,)}"),
        npy_with_header("(" * 200),
        b"",
    ],
    ids=["cut off", "huge", "nested", "empty"],
)
def test_arrays_with_a_bad_header(array, saved):
    import hashlib

    def change(contents):
        contents["checksums"]["0.npy"] = hashlib.sha256(array).hexdigest()
        return contents

    rewrite(saved, change, lambda name, data: array if name == "0.npy" else data)
    with pytest.raises(InputError) as error:
        load(saved)
    assert str(error.value).startswith(str(saved))
    assert len(str(error.value).splitlines()) == 1


def test_an_archive_whose_parts_lie_outside_of_it(saved):
    """The directory of a zip archive says where it begins: here, before the file."""
    content = bytearray(saved.read_bytes())
    end = content.rindex(b"PK\x05\x06")
    content[end + 12 : end + 20] = b"\xff\xff\xff\x7f" * 2
    saved.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as a manyview model"):
        load(saved)


@pytest.mark.parametrize("path", ["", "."])
def test_a_folder_is_no_name_for_a_file(path, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is a folder; give the name of the file"):
        save(MFMSC(3).fit(data.views), path)
    assert not list(tmp_path.iterdir())


def test_what_is_not_there(tmp_path):
    with pytest.raises(InputError, match="was not found; give a file written by save"):
        load(tmp_path / "none")
    with pytest.raises(InputError, match="is a folder"):
        load(tmp_path)


def test_an_archive_larger_than_memory_is_refused(saved, monkeypatch):
    monkeypatch.setattr("manyview.io.guards.available_memory", lambda: 1000.0)
    with pytest.raises(InputError, match=r"would take .* GiB, but .* GiB of memory are free"):
        load(saved)
