"""The embedded digits."""

from importlib.resources import files

import numpy as np
import pytest

from manyview import DIGITS_VIEWS, InputError, load_digits

WIDTHS = {"fourier": 76, "profile": 216, "karhunen": 64, "pixel": 240, "zernike": 47, "morphological": 6}


def test_digits_have_the_paper_s_two_views_by_default():
    digits = load_digits()
    assert digits.views.names == ("fourier", "profile")
    assert (digits.name, digits.n_classes, digits.views.n_samples) == ("digits", 10, 2000)
    np.testing.assert_array_equal(np.bincount(digits.labels), [200] * 10)
    assert "Duin" in digits.description


def test_all_six_views_of_the_digits_have_their_widths():
    views = load_digits(DIGITS_VIEWS).views
    assert {name: array.shape for name, array in views.items()} == {n: (2000, w) for n, w in WIDTHS.items()}
    assert {array.dtype for array in views.arrays} == {np.dtype(np.float32)}
    assert all(np.isfinite(array).all() for array in views.arrays)
    assert all(str(width) in DIGITS_VIEWS[name] for name, width in WIDTHS.items())


def test_views_of_the_digits_come_in_the_order_asked_for():
    views = load_digits(["zernike", "fourier"]).views
    assert views.names == ("zernike", "fourier")
    np.testing.assert_array_equal(views.arrays[1], load_digits().views.arrays[0])


@pytest.mark.parametrize(
    ("views", "message"),
    [
        (["fourier", "sound"], "No view is called 'sound'. Choose from: 'fourier'"),
        ([], "no views"),
        (["pixel"] * 2, "more than once"),
    ],
)
def test_wrong_views_of_the_digits_are_refused(views, message):
    with pytest.raises(InputError, match=message):
        load_digits(views)


def test_digits_load_without_pickle():
    with (files("manyview.datasets") / "digits.npz").open("rb") as file, np.load(file, allow_pickle=False) as archive:
        assert sorted(archive.files) == sorted([*WIDTHS, "labels"])
        assert all(archive[name].dtype.kind in "iuf" for name in archive.files)
