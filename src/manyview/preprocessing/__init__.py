"""Changes to the values of views before they are compared: scaling, and corruption for experiments.

Graphs of the scaled views are built in `graphs`. What a method learns from the values belongs to the method.
"""

from manyview.preprocessing.corruption import (
    add_gaussian,
    corrupt_entries,
    drop_entries,
    replace_entries,
    replace_views,
)
from manyview.preprocessing.scaling import Scaling, scale_views

__all__ = [
    "Scaling",
    "add_gaussian",
    "corrupt_entries",
    "drop_entries",
    "replace_entries",
    "replace_views",
    "scale_views",
]
