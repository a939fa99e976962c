"""What manyview needs at run time, with versions and licences, as a CycloneDX list of components (SBOM).

python benchmarks/dependencies.py                 # a table
python benchmarks/dependencies.py --json          # CycloneDX 1.5

Versions are those installed here; extras that are not installed are listed without one. `pip check` runs first.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution

EXTRAS = ("", "plot", "parquet", "excel", "hdf5", "singlecell", "dask", "survival")


@dataclass(frozen=True)
class Component:
    """A package: its version (empty if it is not installed) and its licence."""

    name: str
    version: str
    licence: str


def components(root: str = "manyview") -> list[Component]:
    """Return all packages that manyview and its extras need, directly or not, in the order of their names."""
    found: dict[str, Component] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found:
            continue
        try:
            known = distribution(name)
        except PackageNotFoundError:
            found[key] = Component(key, "", "")
            continue
        found[key] = Component(key, known.version, licence_of(known))
        waiting += needed(known, EXTRAS if name == root else ("",))
    return [found[key] for key in sorted(found)]


def needed(known: Distribution, extras: tuple[str, ...]) -> Iterator[str]:
    """Yield the names of the packages that a package needs here."""
    from packaging.requirements import Requirement

    for line in known.requires or []:
        requirement = Requirement(line)
        marker = requirement.marker
        if requirement.name != known.name and (marker is None or any(marker.evaluate({"extra": e}) for e in extras)):
            yield requirement.name


def licence_of(known: Distribution) -> str:
    """Return the licence as the package states it, or as its classifiers do."""
    stated = known.metadata.get("License-Expression") or known.metadata.get("License") or ""
    classified = [c.split(" :: ")[-1] for c in known.metadata.get_all("Classifier") or [] if c.startswith("License")]
    return stated.strip().splitlines()[0] if 0 < len(stated.strip()) < 60 else ", ".join(classified) or "not stated"


def as_cyclonedx(found: list[Component]) -> str:
    """Return the list in the format that vulnerability scanners read."""
    listed = [
        {
            "type": "library",
            "name": component.name,
            "version": component.version,
            "purl": f"pkg:pypi/{component.name}@{component.version}",
            "licenses": [{"license": {"name": component.licence}}],
        }
        for component in found
        if component.version
    ]
    return json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": listed}, indent=2)


def main() -> None:
    check = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    found = components()
    if "--json" in sys.argv[1:]:
        print(as_cyclonedx(found))
    else:
        print("| package | version | licence |", "|---|---|---|", sep="\n")
        for component in found:
            print(f"| {component.name} | {component.version or 'not installed'} | {component.licence} |")
    print(check.stdout.strip() or check.stderr.strip(), file=sys.stderr)
    sys.exit(check.returncode)


if __name__ == "__main__":
    main()
