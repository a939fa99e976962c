"""Known advisories against the packages that manyview needs, from a file, so that no network is needed.

python benchmarks/advisories.py all.zip     # the advisories of PyPI, as OSV publishes them: one JSON record each

Prints a line for each advisory that affects a version installed here; the exit code is 1 if there is one.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from dependencies import Component, components


def read_advisories(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records in a zip archive, or in a file with one record or a list of them."""
    if not zipfile.is_zipfile(path):
        stored = json.loads(path.read_text(encoding="utf-8"))
        yield from stored if isinstance(stored, list) else [stored]
        return
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            yield json.loads(archive.read(name))


def strikes(advisory: dict[str, Any], component: Component) -> bool:
    """Return whether an advisory affects the version of a package and was not withdrawn."""
    return "withdrawn" not in advisory and any(
        plain_name(affected.get("package", {}).get("name", "")) == component.name
        and _names(affected, component.version)
        for affected in advisory.get("affected", [])
    )


def plain_name(name: str) -> str:
    """Return the name of a package as PyPI compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _names(affected: dict[str, Any], version: str) -> bool:
    ranges = (part["events"] for part in affected.get("ranges", []) if part.get("type") == "ECOSYSTEM")
    return version in affected.get("versions", []) or any(_in_range(events, version) for events in ranges)


def _in_range(events: list[dict[str, str]], version: str) -> bool:
    """Go through the events in order: each version introduces or fixes the problem."""
    inside = False
    for event in events:
        (kind, bound), *_ = event.items()
        try:
            reached = bound == "0" or Version(version) >= Version(bound)
            beyond = Version(version) > Version(bound)
        except InvalidVersion:
            continue
        if kind == "introduced" and reached:
            inside = True
        elif (kind == "fixed" and reached) or (kind == "last_affected" and beyond):
            inside = False
    return inside


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    installed = {component.name: component for component in components() if component.version}
    count, hits = 0, []
    for advisory in read_advisories(Path(sys.argv[1])):
        count += 1
        named = {plain_name(part.get("package", {}).get("name", "")) for part in advisory.get("affected", [])}
        hits += [(advisory, installed[name]) for name in named & set(installed) if strikes(advisory, installed[name])]
    for advisory, component in hits:
        print(f"{component.name} {component.version}: {advisory['id']} {advisory.get('summary', '')}".rstrip())
    print(f"{count} advisories, {len(installed)} packages, {len(hits)} hits")
    sys.exit(1 if hits else 0)


if __name__ == "__main__":
    main()
