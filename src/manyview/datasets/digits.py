"""The UCI Multiple Features digits, embedded in the package (CC BY 4.0, credit R. Duin)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import as_file, files

import numpy as np

from manyview.datasets.record import Dataset
from manyview.views.container import Views

DIGITS_VIEWS = {
    "fourier": "76 Fourier coefficients of the character shapes",
    "profile": "216 profile correlations",
    "karhunen": "64 Karhunen-Loève coefficients",
    "pixel": "240 pixel averages in 2 x 3 windows",
    "zernike": "47 Zernike moments",
    "morphological": "6 morphological features",
}
DESCRIPTION = (
    "Handwritten digits 0-9 from Dutch utility maps, 200 of each, in six views. "
    "UCI Machine Learning Repository, Multiple Features, by Robert P. W. Duin; CC BY 4.0."
)


def load_digits(views: Sequence[str] = ("fourier", "profile")) -> Dataset:
    """Load the UCI digits: 2000 samples, 10 classes; by default the two views of the paper.

    Parameters
    ----------
    views : sequence of str, default=("fourier", "profile")
        Names of the views, from `DIGITS_VIEWS`; pass ``DIGITS_VIEWS`` for all six.

    Returns
    -------
    Dataset
        The data set, with ``views`` (float32) and ``labels`` (the digits).
    """
    with (
        as_file(files("manyview.datasets") / "digits.npz") as path,
        np.load(path, allow_pickle=False) as archive,
    ):
        every = Views({name: archive[name] for name in DIGITS_VIEWS})
        labels = archive["labels"]
    return Dataset("digits", every.select(views), labels, DESCRIPTION)
