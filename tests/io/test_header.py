"""Names made of numbers: told from samples by evidence, and said where the evidence is weak."""

import warnings

import numpy as np
import pandas as pd
import pytest

from manyview.io import TableOptions, read_views


@pytest.fixture(params=[".csv", ".tsv", ".xlsx"])
def save(request, tmp_path):
    """Write a DataFrame, and give its path."""

    def save(frame, **kwargs):
        path = tmp_path / f"t{request.param}"
        if request.param == ".xlsx":
            frame.to_excel(path, **kwargs)
        else:
            frame.to_csv(path, sep="," if request.param == ".csv" else "\t", **kwargs)
        return path

    return save


def test_the_numbers_that_pandas_writes_are_names(save, rng):
    for X in (rng.normal(size=(50, 4)), rng.normal(size=(50, 2)), rng.integers(0, 2, (50, 5))):
        views = read_views([save(pd.DataFrame(X), index=False)]).views
        np.testing.assert_allclose(views.arrays[0], X)


@pytest.mark.parametrize(
    "names", [np.arange(400.5, 405.0, 0.5), range(2001, 2009), [1, 2, 5, 10, 50, 100, 500], [30, 20, 10, 0]], ids=str
)
def test_a_grid_of_numbers_is_names(save, rng, names):
    X = rng.normal(size=(20, len(names)))
    frame = pd.DataFrame(X, columns=names, index=pd.Index([f"s{i}" for i in range(20)], name="strain"))
    views = read_views([save(frame)]).views
    np.testing.assert_allclose(views.arrays[0], X)
    assert views.sample_ids.tolist() == frame.index.tolist()
    np.testing.assert_allclose(read_views([save(frame, index=False)]).views.arrays[0], X)


def test_years_above_growing_numbers_are_names(save, rng):
    X = np.cumsum(rng.uniform(1, 9, (15, 8)), axis=1)
    frame = pd.DataFrame(X, columns=range(2001, 2009), index=pd.Index([f"c{i}" for i in range(15)], name="country"))
    np.testing.assert_allclose(read_views([save(frame)]).views.arrays[0], X)


@pytest.mark.parametrize(
    "rows",
    [
        [[0.3, 1.2, 5.1], [2.2, 0.1, 0.4], [1.0, 1.5, 0.2]],  # rises by chance
        [[1, 2, 3], [4, 5, 6], [7, 8, 9]],  # as the others
        [[3, 1, 2], [5, 5, 1], [2, 2, 2]],
        np.sort(np.random.default_rng(0).normal(size=(9, 8))).tolist(),
    ],
    ids=str,
)
def test_the_first_of_similar_rows_is_a_sample(save, rows):
    views = read_views([save(pd.DataFrame(rows), index=False, header=False)]).views
    np.testing.assert_allclose(views.arrays[0], rows)


def test_what_stays_open_is_said_with_the_option_that_decides(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("0,1\n1,1\n0,0\n1,0\n")
    with pytest.warns(UserWarning, match=r"t\.csv: the first row may be .* it was read as a sample\. Set --header"):
        assert read_views([path]).views.n_samples == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_views([path], options=TableOptions(header="yes")).views.n_samples == 3
        assert read_views([path], options=TableOptions(header="no")).views.n_samples == 4
