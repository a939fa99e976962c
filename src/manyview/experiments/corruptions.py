"""The kinds of corruption that a spec can ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from manyview.checks import InputError
from manyview.preprocessing import corruption
from manyview.views.container import Views

CLEAN = "none"
CORRUPTIONS: dict[str, Callable[..., Views]] = {
    CLEAN: lambda views, *, seed: views,  # noqa: ARG005
    "entries": corruption.corrupt_entries,
    "replace": corruption.replace_entries,
    "gaussian": corruption.add_gaussian,
    "missing": corruption.drop_entries,
    "views": corruption.replace_views,
}
"""Maps the kind used in specs to the function that corrupts views."""


def corrupt(views: Views, name: str, kind: str, params: Mapping[str, Any], seed: int) -> Views:
    """Return the views with this kind of corruption; `name` is its name in the spec."""
    try:
        return CORRUPTIONS[kind](views, **params, seed=seed)
    except TypeError as error:
        raise InputError(f"Corruption {name!r}: {error}.") from error
