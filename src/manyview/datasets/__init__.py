"""Embedded data and generators."""

from manyview.datasets.digits import DIGITS_VIEWS, load_digits
from manyview.datasets.record import Dataset
from manyview.datasets.synthetic import make_views

__all__ = ["DIGITS_VIEWS", "Dataset", "load_digits", "make_views"]
