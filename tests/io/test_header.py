"""Names made of numbers: told from samples by evidence, and said where the evidence is weak."""

import warnings

import numpy as np
import pandas as pd
import pytest

from manyview.io import TableOptions, read_views
from manyview.io.header import find_header


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


@pytest.mark.parametrize("names", [[7157, 672, 675, 1956], [300.1, 2.7, 9, 22]], ids=str)
@pytest.mark.parametrize("decimals", [1, 12])
def test_short_numbers_above_longer_ones_are_names(save, rng, names, decimals):
    if decimals == 1:
        names = [round(name) for name in names]  # only whole numbers differ from a few decimals
    X = (10 * rng.normal(size=(40, 4))).round(decimals)
    np.testing.assert_allclose(read_views([save(pd.DataFrame(X, columns=names), index=False)]).views.arrays[0], X)


def test_numbers_are_names_above_gaps_and_words(save, rng):
    X = rng.normal(size=(30, 4))
    X[np.arange(30), np.arange(30) % 4] = np.nan  # in every row
    np.testing.assert_array_equal(
        np.isnan(read_views([save(pd.DataFrame(X), index=False)]).views.arrays[0]), np.isnan(X)
    )
    frame = pd.DataFrame(X).assign(**{"4": "word"})
    with pytest.warns(UserWarning, match="dropped text columns '4'"):
        views = read_views([save(frame, index=False)], options=TableOptions(drop_text_columns=True)).views
    assert views.n_samples == 30


def test_a_row_beyond_all_others_or_an_odd_id_is_said(save, rng):
    counts = pd.DataFrame(rng.integers(0, 50, (40, 4)), columns=[7157, 672, 675, 1956])
    named = counts.set_axis(pd.Index([f"cell{i}" for i in range(40)], name="of mice"), axis=0)
    with pytest.warns(UserWarning, match="may be column names or a sample"):
        read_views([save(counts, index=False)])
    with pytest.warns(UserWarning, match="may be column names or a sample"):
        read_views([save(named.set_axis([17, 2, 5, 11], axis=1))])  # an odd id before numbers like the others
    assert read_views([save(named)]).views.n_samples == 40  # both together


def test_one_number_above_decimals_is_said(save, rng):
    with pytest.warns(UserWarning, match="may be column names or a sample"):
        read_views([save(pd.DataFrame(rng.normal(size=(40, 1))), index=False)])


def test_tables_without_a_header_keep_their_first_row(rng):
    """Whatever the numbers are like, a first row that is a sample is hardly ever taken for names without a warning."""
    draws = {
        "normal": lambda shape: rng.normal(size=shape),
        "rounded": lambda shape: (10 * rng.normal(size=shape)).round(1),
        "counts": lambda shape: rng.poisson(3, shape),
        "scaled rows": lambda shape: rng.lognormal(2, 2, (shape[0], 1)) * rng.lognormal(size=shape),
        "answers": lambda shape: rng.integers(1, 6, shape),
    }
    for draw in draws.values():
        tables = [draw((n, m)) for n in (3, 10, 50) for m in (1, 2, 3, 5, 8, 30) for _ in range(20)]
        headers = [find_header([[f"{cell:.12g}" for cell in row] for row in X], "auto") for X in tables]
        assert sum(header.present and header.certain for header in headers) <= 3  # of 360


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
