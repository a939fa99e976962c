"""Dataclasses that are saved with a fitted model: each registers itself with `@saved`.

`manyview.io.models` writes and reads them by their class name, so each name must belong to only one class.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any, TypeVar

SAVED: dict[str, type[Any]] = {}
"""Maps class names to classes."""

T = TypeVar("T")


def saved(cls: type[T]) -> type[T]:
    """Register a dataclass for saving; write it above ``@dataclass``."""
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is not a dataclass; write @saved above @dataclass.")
    known = SAVED.setdefault(cls.__name__, cls)
    if known.__module__ != cls.__module__:
        raise TypeError(f"{cls.__name__} is saved by {known.__module__} already; give {cls.__module__} another name.")
    SAVED[cls.__name__] = cls
    return cls
