"""Readers of AwA and NUS-WIDE-Object, on small files in the layouts of the distributions."""

import os
from pathlib import Path

import numpy as np
import pytest

from helpers.matlab_files import save_v5, save_v73
from manyview import InputError, load_digits
from manyview.datasets import AWA_VIEWS, NUS_VIEWS, MissingDataError, load_awa, load_nus
from manyview.io.matlab import read_labelled

WIDTHS = dict(zip(AWA_VIEWS, (7, 5, 3, 5, 4, 6), strict=True))
KINDS = ("antelope", "grizzly+bear", "killer+whale")


@pytest.fixture
def awa_files(tmp_path):
    """Three classes with 4, 5 and 6 images; every value tells view, class and image."""
    for v, (view, width) in enumerate(WIDTHS.items()):
        for k, kind in enumerate(KINDS):
            folder = tmp_path / "Animals_with_Attributes" / "Features" / view / kind
            folder.mkdir(parents=True)
            for i in range(1, 5 + k):
                values = [f"{v}.{k}{i}{j}" for j in range(width)]
                (folder / f"{kind}_{i:04d}.txt").write_text(" ".join(values) + " \n")
    return tmp_path


@pytest.fixture
def nus_files(tmp_path):
    """Five training and four test images of three concepts, one image with two of them and one with none."""
    home = tmp_path / "NUS-WIDE-OBJECT"
    low, truth = home / "low level features", home / "ground truth"
    low.mkdir(parents=True)
    truth.mkdir()
    rng = np.random.default_rng(0)
    tables = {}
    for view, width in zip(NUS_VIEWS, (4, 6, 5, 3, 2), strict=True):
        for part, n in (("Train", 5), ("Test", 4)):
            tables[view, part] = np.round(rng.normal(size=(n, width)), 4)
            lines = [" ".join(f"{value:g}" for value in row) + " \n" for row in tables[view, part]]
            (low / f"{part}_Normalized_{view}.dat").write_text("".join(lines))
    labels = {"zebra": "10001 0010", "bear": "01010 1000", "cat": "00101 0100"}
    for concept, flags in labels.items():
        for part, digits in zip(("Train", "Test"), flags.split(), strict=True):
            (truth / f"Labels_{concept}_{part}.txt").write_text("".join(f"{d}\n" for d in digits))
    return tmp_path, tables


def test_awa_takes_the_drawn_images_from_every_view(awa_files):
    data = load_awa(awa_files, per_class=4)
    assert data.views.names == tuple(AWA_VIEWS)
    assert [X.shape for X in data.views.arrays] == [(12, width) for width in WIDTHS.values()]
    np.testing.assert_array_equal(data.labels, np.repeat([0, 1, 2], 4))
    for v, X in enumerate(data.views.arrays):
        for row, stem in zip(X, data.views.sample_ids, strict=True):
            kind, i = stem.split("_")
            assert row[0] == np.float32(f"{v}.{KINDS.index(kind)}{int(i)}0")


def test_awa_draws_by_seed_and_keeps_small_classes_whole(awa_files):
    ids = [load_awa(awa_files, per_class=3, seed=seed).views.sample_ids.tolist() for seed in (0, 0, 1)]
    assert ids[0] == ids[1] != ids[2]
    assert np.bincount(load_awa(awa_files, per_class=80).labels).tolist() == [4, 5, 6]


def test_awa_says_which_view_or_value_is_wrong(awa_files):
    features = awa_files / "Animals_with_Attributes" / "Features"
    bad = features / "surf-hist" / "antelope" / "antelope_0001.txt"
    bad.write_text("1 2 three")
    with pytest.raises(InputError, match=r"antelope_0001\.txt contains values that are not numbers"):
        load_awa(awa_files)
    bad.write_text("1 2")
    with pytest.raises(InputError, match=r"antelope_0002\.txt does not have 2 values, as antelope_0001\.txt does"):
        load_awa(awa_files)
    for path in (features / "cq-hist").rglob("*.txt"):
        path.unlink()
    with pytest.raises(InputError, match="has no image in all of the views"):
        load_awa(awa_files)
    (features / "phog-hist").rename(features / "phog")
    with pytest.raises(InputError, match="lacks the views phog-hist"):
        load_awa(awa_files)


def test_awa_from_the_sample_of_five_views(tmp_path, monkeypatch):
    labels = np.repeat(np.arange(3), 2)
    views = {f"view_{i}": np.full((6, 2 + i), i, dtype=np.float32) for i in range(5)}
    np.savez(
        tmp_path / "awa_4000_5view.npz", **views, labels=labels, view_names=["lss", "phog", "rgsift", "sift", "surf"]
    )
    monkeypatch.setenv("MANYVIEW_DATA", str(tmp_path))
    data = load_awa()
    assert data.views.names == ("lss", "phog", "rgsift", "sift", "surf")
    assert [X.shape[1] for X in data.views.arrays] == [2, 3, 4, 5, 6]
    np.testing.assert_array_equal(data.labels, labels)


def test_nus_joins_train_and_test_and_takes_the_first_concept(nus_files):
    folder, tables = nus_files
    data = load_nus(folder)
    assert data.views.names == tuple(NUS_VIEWS)
    # concepts in alphabetical order: bear 0, cat 1, zebra 2; the last training image is a cat and a zebra,
    # the last test image is nothing
    assert data.labels.tolist() == [2, 0, 1, 0, 1, 0, 1, 2]
    for view, X in data.views.items():
        np.testing.assert_array_equal(X, np.vstack([tables[view, "Train"], tables[view, "Test"]])[:8].astype("float32"))


@pytest.mark.parametrize("pattern", ["{part}_{view}.txt", "Normalized_{view}_Object_{part}.dat", "{part}_{view}_x.dat"])
def test_nus_feature_files_may_be_called_otherwise(nus_files, pattern):
    folder, _ = nus_files
    for path in list((folder / "NUS-WIDE-OBJECT" / "low level features").iterdir()):
        part, _, view = path.stem.split("_")
        path.rename(path.with_name(pattern.format(part=part, view=view)))
    assert load_nus(folder).views.shape == (8, 20)


def test_nus_says_what_is_missing(nus_files):
    folder, _ = nus_files
    home = folder / "NUS-WIDE-OBJECT"
    truth = home / "ground truth"
    zebra = truth / "Labels_zebra_Test.txt"
    zebra.write_text("0\n1\n")
    with pytest.raises(InputError, match="there are labels of 'zebra' for 7 images, but features for 9"):
        load_nus(folder)
    zebra.write_text("2\n")
    with pytest.raises(InputError, match="other than 0 and 1"):
        load_nus(folder)
    zebra.unlink()
    with pytest.raises(InputError, match="zebra test"):
        load_nus(folder)
    (home / "low level features" / "Test_Normalized_WT.dat").unlink()
    with pytest.raises(InputError, match="Test WT"):
        load_nus(folder)


@pytest.mark.parametrize(
    ("load", "file"), [(load_awa, "AwA_fea.mat"), (load_nus, "NUS-WIDE-OBJECT_fea.mat")], ids=["awa", "nus"]
)
@pytest.mark.parametrize("save", [save_v5, save_v73])
def test_mat_files(tmp_path, load, file, save):
    digits = load_digits().views
    cells = [digits.arrays[0][:40], digits.arrays[1][:40].T]  # one of them lies on its side
    save(tmp_path / file, {"X": cells, "Y": np.repeat([[3], [7]], 20, axis=0)})
    data = load(tmp_path)
    assert [X.shape for X in data.views.arrays] == [(40, 76), (40, 216)]
    assert data.labels.tolist() == [0] * 20 + [1] * 20


def test_mat_files_that_are_something_else(tmp_path):
    path = tmp_path / "x.mat"
    save_v5(path, {"A": np.ones((3, 3))})
    with pytest.raises(InputError, match="contains 'A', but none of 'X'"):
        read_labelled(path)
    path.write_bytes(b"no mat file at all")
    with pytest.raises(InputError, match="cannot be read"):
        read_labelled(path)
    for tables in ([np.ones((5, 2))], np.ones((5, 2))):
        save_v5(path, {"X": tables, "gt": np.ones(3)})
        with pytest.raises(InputError, match=r"shape \(5, 2\), but there are 3 labels"):
            read_labelled(path)


@pytest.mark.parametrize(
    ("load", "says"),
    [(load_awa, "Features/cq-hist/antelope/antelope_0001.txt"), (load_nus, "Labels_zebra_Train.txt")],
    ids=["awa", "nus"],
)
def test_missing_data_come_with_instructions(tmp_path, monkeypatch, load, says):
    for folder in (tmp_path, tmp_path / "not there"):
        with pytest.raises(MissingDataError, match=says):
            load(folder)
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    with pytest.raises(MissingDataError, match="give --data FOLDER, or set MANYVIEW_DATA"):
        load()


def test_the_real_awa_sample():
    folder = os.environ.get("MANYVIEW_DATA")
    if not folder or not (Path(folder) / "awa_4000_5view.npz").exists():
        pytest.skip("MANYVIEW_DATA is not set, or holds no awa_4000_5view.npz")
    data = load_awa()
    assert data.views.shape == (4000, 8252)
    assert np.bincount(data.labels).tolist() == [80] * 50
