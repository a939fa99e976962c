"""Records how well neighbours were found while a fit builds its graphs.

The search is many calls below the estimator, and graphs are plain sparse arrays, so the recall is recorded here, under
the name of the graph being built.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

JOINT = "joint"  # the graph of all views together, unless another name is set
PLACING = "placing"  # the links of samples to landmarks, in all layers

_noted: ContextVar[dict[str, float] | None] = ContextVar("noted", default=None)
_graph: ContextVar[str] = ContextVar("graph", default=JOINT)


@contextmanager
def noted_recall() -> Iterator[dict[str, float]]:
    """Collect the recall of every search in this block, by graph; the lowest if a graph took several searches."""
    noted: dict[str, float] = {}
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


@contextmanager
def graph_named(name: str) -> Iterator[None]:
    """Record searches in this block under this name."""
    token = _graph.set(name)
    try:
        yield
    finally:
        _graph.reset(token)


def note_recall(recall: float) -> None:
    """Record the share of true neighbours that a search found."""
    noted = _noted.get()
    if noted is not None:
        name = _graph.get()
        noted[name] = min(recall, noted.get(name, recall))
