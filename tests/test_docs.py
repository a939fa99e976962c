"""The examples in README.md and on the pages of the docs run."""

import re
import warnings
from pathlib import Path

import pytest

from manyview.cli.app import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
NEEDS = {
    "use": ("anndata",),
    "single-cells": ("anndata",),
    "findings": ("lifelines",),
    "tumours": ("lifelines",),
    "first-hour": ("lifelines", "matplotlib"),
    "distributed": ("distributed", "pyarrow"),
}
NOT_RUN = {
    "experiments": "needs a spec beside it; tests/experiments run one like it",
    "reproducing": "takes hours",
    "reproduction": "takes hours",
    "report": "tests/report make reports",
    "selection": "the same commands as choosing-k",
}
SAYS = {
    "use": r"2,000 samples assigned to 10 clusters, ACC 0\.9[\s\S]*ACC 0\.9",
    "findings": r"last +associated +0\.\d+[\s\S]*log-rank p = \S+e-(0[6-9]|\d[1-9])",
    "first-hour": r"\(stable\)[\s\S]*Survival differs between the clusters",
    "images-with-descriptors": r"ACC 0\.9",
    "text-and-links": r"words: counts[\s\S]*links: graph",
    "distributed": r"ARI (1|0\.99)",
    "sensors": r"ACC (1|0\.9)[\s\S]*vibration: [1-9]",
}


def python_blocks(path):
    """Return the Python of a page, also that inside lists."""
    found = re.findall(r"^( *)```python\n(.*?)^ *```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [re.sub(f"^{indent}", "", code, flags=re.MULTILINE) for indent, code in found]


def commands(path):
    return re.findall(r"^    manyview (.+?)(?:\s+#.*)?$", path.read_text(encoding="utf-8"), re.MULTILINE)


PAGES = [path for path in sorted(DOCS.glob("*.md")) if path.stem not in NOT_RUN]
PAGES = [path for path in PAGES if commands(path) or python_blocks(path)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page(page, capsys, tmp_path, monkeypatch):
    """First the commands, then the Python, which may use their files."""
    for module in NEEDS.get(page.stem, ()):
        pytest.importorskip(module, reason="needs the extra manyview[all]")
    monkeypatch.chdir(tmp_path)
    for line in commands(page):
        with pytest.raises(SystemExit) as exit_:
            main(line.split())
        assert not exit_.value.code, line
    names = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # anndata's, on cells without names
        for code in python_blocks(page):
            exec(compile(code, page.name, "exec"), names)
    assert re.search(SAYS.get(page.stem, ""), capsys.readouterr().out)


def test_the_example_of_the_readme(capsys):
    (code,) = python_blocks(ROOT / "README.md")
    assert len([line for line in code.splitlines() if line]) == 8
    exec(compile(code, "README.md", "exec"), {})
    accuracy = float(re.search(r"ACC ([\d.]+)", capsys.readouterr().out)[1])
    assert accuracy > 0.96


def test_the_commands_of_the_readme_are_known(capsys):
    for line in commands(ROOT / "README.md"):
        with pytest.raises(SystemExit) as exit_:
            main([line.split()[0], "--help"])
        assert not exit_.value.code, line
        options = set(re.findall(r"(?<!\S)(--?[a-z-]+)", line))
        assert options <= set(re.findall(r"(--?[a-z-]+)", capsys.readouterr().out)), line
