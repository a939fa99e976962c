"""What `import manyview` brings, and what it must not; what the package says it needs."""

import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
TOOLS = ("test", "docs", "mutants", "release", "dev")


def test_importing_the_package_neither_needs_nor_loads_the_outer_layers():
    # scikit-learn itself loads pandas and rich where they are installed, so these are made unimportable
    code = """
import sys
outer = ("pandas", "matplotlib", "typer", "rich")
sys.modules.update(dict.fromkeys(outer))
import manyview
assert not [name for name, module in sys.modules.items() if module and name.split(".")[0] in outer]
assert not [name for name in sys.modules if name.startswith(("manyview.cli", "manyview.io.tables", "manyview.report"))]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_lowest_versions_of_all_that_users_install_are_known():
    done = subprocess.run([sys.executable, ROOT / "tools" / "oldest.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pinned = {line.partition("==")[0] for line in done.stdout.splitlines()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [lines for name, lines in project["optional-dependencies"].items() if name not in TOOLS]
    needed = {Requirement(line).name for line in chain(project["dependencies"], *extras)}
    assert pinned == needed - {"manyview"}
