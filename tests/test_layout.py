"""CONTRIBUTING's map of the folders is the import contract, in its order, with what each folder says of itself."""

import ast
import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "manyview"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


def contract_layers():
    """Return the layers of the import contract, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (contract for contract in contracts if contract["type"] == "layers")
    return [re.split(r"\s*[|:]\s*", layer) for layer in contract["layers"]]


def first_line(name):
    """Return the first line of the docstring of a folder or module."""
    path = PACKAGE / name / "__init__.py" if (PACKAGE / name).is_dir() else PACKAGE / f"{name}.py"
    return ast.get_docstring(ast.parse(path.read_text())).splitlines()[0]


def test_the_map_is_the_contract():
    rows = [f"| `{name}` | {first_line(name)} |" for name in chain(*contract_layers())]
    written = re.findall(r"^\| `\w+` \|.*\|$", CONTRIBUTING, re.MULTILINE)
    assert written == rows, "CONTRIBUTING.md should hold:\n" + "\n".join(rows)


def test_tests_mirror_the_folders():
    folders = {name for name in chain(*contract_layers()) if (PACKAGE / name).is_dir()}
    tested = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and any(path.glob("test_*.py"))}
    assert tested <= folders
    assert folders - tested <= {"reproduction"}  # tested with the experiments that it is made of


@pytest.mark.parametrize("path", re.findall(r"`(src/manyview/[\w/.]+)`", CONTRIBUTING))
def test_the_places_named_in_contributing_exist(path):
    assert (ROOT / path).exists()
