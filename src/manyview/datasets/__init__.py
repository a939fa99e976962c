"""Data sets to learn from and to compare methods on: embedded, read from the paper's distributions, or synthetic.

To add a data set, write a loader in a new file that returns a `Dataset`, and add an entry to `DATASETS`. Readers of
users' own files are in `io`.
"""

from collections.abc import Callable

from manyview.datasets.awa import AWA_VIEWS, load_awa
from manyview.datasets.digits import DIGITS_VIEWS, load_digits
from manyview.datasets.folder import MissingDataError
from manyview.datasets.nuswide import NUS_VIEWS, load_nus
from manyview.datasets.record import Dataset
from manyview.datasets.synthetic import make_unequal_views, make_views
from manyview.datasets.tumours import make_tumours

__all__ = [
    "AWA_VIEWS",
    "DATASETS",
    "DIGITS_VIEWS",
    "NUS_VIEWS",
    "Dataset",
    "MissingDataError",
    "load_awa",
    "load_digits",
    "load_nus",
    "make_tumours",
    "make_unequal_views",
    "make_views",
]


DATASETS: dict[str, Callable[..., Dataset]] = {
    "digits": load_digits,
    "awa": load_awa,
    "nus": load_nus,
    "synthetic": make_views,
    "tumours": make_tumours,
}
"""Loaders by the key used in specs and on the command line."""
