"""Print the lowest versions that pyproject.toml allows, as constraints for pip: what `make test-oldest` installs.

Only what users install counts: the dependencies and the extras in `all`. Test tools are left to pip.
"""

import re
import sys
import tomllib
from pathlib import Path

BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[\w,]+\])?>=(?P<version>[\w.]+)")  # constraints have no extras


def lowest_versions(pyproject: str) -> dict[str, str]:
    """Return the lower bound of every package that manyview or an extra in `all` needs."""
    project = tomllib.loads(pyproject)["project"]
    extras = project["optional-dependencies"]
    (everything,) = extras["all"]
    listed = everything.removeprefix("manyview[").removesuffix("]").split(",")
    needed = [*project["dependencies"], *(line for extra in listed for line in extras[extra])]
    bounds = [BOUND.match(line) for line in needed]
    without = [line for line, bound in zip(needed, bounds, strict=True) if bound is None]
    if without:
        raise SystemExit(f"pyproject.toml gives no lower bound (>=) for: {', '.join(without)}")
    return {bound["name"]: bound["version"] for bound in bounds if bound is not None}


if __name__ == "__main__":
    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    for name, version in lowest_versions(pyproject.read_text(encoding="utf-8")).items():
        sys.stdout.write(f"{name}=={version}\n")
