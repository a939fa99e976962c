"""`manyview methods`: list the clustering methods."""

from __future__ import annotations

from manyview.cli.terminal import print_table
from manyview.methods import METHODS


def methods() -> None:
    """List the clustering methods."""
    print_table(("key", "name", "what it does"), [(key, cls.__name__, first_line(cls)) for key, cls in METHODS.items()])


def first_line(cls: type) -> str:
    """Return the first sentence of a class's docstring."""
    return (cls.__doc__ or "").strip().splitlines()[0]
