"""Entries of a summary.json that `manyview explain` does not know."""

import json
from pathlib import Path

from manyview.cli.explain import ENTRIES, OF_NAMES


def unexplained(folder):
    """List them."""
    summary = json.loads((Path(folder) / "summary.json").read_text(encoding="utf-8"))
    return [name for name in dict.fromkeys(entries_of(summary)) if name not in ENTRIES]


def entries_of(value, path=""):
    """Yield the entries, without names of the user's own and positions in lists."""
    for item in value if isinstance(value, list) else [value]:
        for key, below in item.items() if isinstance(item, dict) else ():
            name = path if path in OF_NAMES else f"{path}.{key}".lstrip(".")
            yield name
            yield from entries_of_named(below, path) if path in OF_NAMES else entries_of(below, name)


def entries_of_named(value, path):
    """Yield the entries below a name of the user's own."""
    if isinstance(value, dict):
        yield from (f"{path}.{key}" for key in value)
