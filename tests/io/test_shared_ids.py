"""Ids that go by another name are found, by their name or by what files share."""

import numpy as np
import pandas as pd
import pytest

from manyview import InputError
from manyview.io import TableOptions, read_labels, read_views

NAMES = [
    "person_id", "eid", "record_id", "study_id", "user_id", "MRN", "IID", "SUBJID", "PTID", "uid", "pid", "idx",
    "accession", "USUBJID", "case.id", "PatientID", "sampleId", "TCGA barcode",
]  # fmt: skip


def save(path, X, ids, name):
    pd.DataFrame(X, index=pd.Index(ids, name=name)).add_prefix("x").to_csv(path)
    return path


@pytest.fixture
def numbers(rng):
    return rng.permutation(np.arange(1000, 1040))


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_column_gives_ids_away(tmp_path, rng, numbers, name):
    views = read_views([save(tmp_path / "a.csv", rng.normal(size=(40, 3)), numbers, name)]).views
    assert views.sample_ids.tolist() == numbers.astype(str).tolist()
    assert views.shape == (40, 3)


@pytest.mark.parametrize("name", ["acid", "width", "humidity", "grid", "x_identity", "solid", "covid"])
def test_features_are_no_ids(tmp_path, rng, numbers, name):
    views = read_views([save(tmp_path / "a.csv", rng.normal(size=(40, 3)), numbers, name)]).views
    assert views.sample_ids is None


@pytest.mark.parametrize(("first", "second"), [("kennung", "kennung"), ("kennung", "lopnr")])
def test_values_that_two_files_share_are_ids(tmp_path, rng, numbers, first, second):
    X = rng.normal(size=(40, 3))
    order = rng.permutation(40)
    paths = [
        save(tmp_path / "a.csv", X, numbers, first),
        save(tmp_path / "b.csv", X[order], numbers[order], second),
    ]
    said = rf"'{first}' of .*a\.csv and '{second}' of .*b\.csv have the same values, and were taken for sample ids"
    with pytest.warns(UserWarning, match=said):
        views = read_views(paths).views
    assert views.sample_ids.tolist() == numbers.astype(str).tolist()
    np.testing.assert_allclose(views.arrays[0], views.arrays[1])


def test_labels_with_the_ids_of_the_views(tmp_path, rng, numbers):
    order = rng.permutation(40)
    path = tmp_path / "labels.csv"
    pd.DataFrame({"kennung": numbers[order], "class": order}).to_csv(path, index=False)
    with pytest.warns(UserWarning, match=r"'kennung' of .*labels\.csv has the values of the sample ids, and was taken"):
        labels = read_labels(path, numbers, 40)
    assert labels.tolist() == list(range(40))


def test_features_that_two_files_share_are_no_ids(tmp_path, rng):
    X = rng.normal(size=(40, 3))
    counts = [rng.choice(10**6, 40, replace=False) for _ in range(2)]
    paths = [save(tmp_path / f"{i}.csv", X, counts[i], "reads") for i in range(2)]
    with pytest.warns(UserWarning, match="no sample ids: their rows were matched by position"):
        views = read_views(paths).views
    assert views.shape == (40, 8)


def test_what_was_found_can_be_overridden(tmp_path, rng, numbers):
    paths = [save(tmp_path / f"{i}.csv", rng.normal(size=(40, 3)), numbers, "kennung") for i in range(2)]
    with pytest.warns(UserWarning, match="matched by position"):
        assert read_views(paths, options=TableOptions(id_column="none")).views.shape == (40, 8)


def test_joining_by_position_is_said(tmp_path, rng):
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(5, 2)))
    with pytest.warns(UserWarning, match="no sample ids: their rows were matched by position"):
        read_views([tmp_path / "a.npy", tmp_path / "b.npy"])


@pytest.mark.parametrize("kind", [str, int])
def test_ids_under_different_names_anywhere_in_the_files_are_found(tmp_path, rng, kind):
    X, order = rng.normal(size=(40, 3)), rng.permutation(40)
    numbers = rng.choice(10**6, 40, replace=False)
    ids = numbers if kind is int else np.array([f"P{number}" for number in numbers])
    one = pd.DataFrame(X).add_prefix("x").assign(who=ids)
    other = pd.DataFrame(X[order]).add_prefix("y")
    other.insert(1, "person", ids[order])
    one.to_csv(tmp_path / "a.csv", index=False)
    other.to_csv(tmp_path / "b.csv", index=False)
    with pytest.warns(UserWarning, match=r"'who' of .*a\.csv and 'person' of .*b\.csv have the same values"):
        views = read_views([tmp_path / "a.csv", tmp_path / "b.csv"]).views
    np.testing.assert_allclose(views.arrays[0], views.arrays[1])


def test_whole_numbers_that_fill_their_range_are_no_ids_under_different_names(tmp_path, rng):
    """Ranks, for example."""
    for name in ("a", "b"):
        frame = pd.DataFrame(rng.normal(size=(40, 2)), columns=[f"{name}1", f"{name}2"])
        frame.assign(**{f"{name}3": rng.permutation(40) + 1}).to_csv(tmp_path / f"{name}.csv", index=False)
    with pytest.warns(UserWarning, match="no sample ids: their rows were matched by position"):
        views = read_views([tmp_path / "a.csv", tmp_path / "b.csv"]).views
    assert [X.shape[1] for X in views.arrays] == [3, 3]


@pytest.mark.parametrize("form", ["{:.3f}%", "${:.3f}", "<{:.3f}", "{:.3f} %", "\u20ac{:.3f}", "~{:.3f}"])
def test_decorated_numbers_are_no_ids(tmp_path, rng, form):
    frame = pd.DataFrame(rng.normal(size=(20, 3)), columns=list("abc"))
    frame["a"] = frame["a"].abs().map(form.format)  # unique texts in the first column
    frame.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(InputError, match=r"line 2, column 'a': .* is not a finite number"):
        read_views([tmp_path / "a.csv"])
