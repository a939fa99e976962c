"""The examples in README.md, docs/use.md and docs/findings.md run."""

import re
import warnings
from pathlib import Path

import pytest

from manyview.cli.app import main

ROOT = Path(__file__).parents[1]


def python_blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)


def commands(path):
    return re.findall(r"^    manyview (.+?)(?:\s+#.*)?$", path.read_text(), re.MULTILINE)


def test_the_example_of_the_readme(capsys):
    (code,) = python_blocks(ROOT / "README.md")
    assert len([line for line in code.splitlines() if line]) == 8
    exec(compile(code, "README.md", "exec"), {})
    accuracy = float(re.search(r"ACC ([\d.]+)", capsys.readouterr().out)[1])
    assert accuracy > 0.96


def test_the_python_of_the_docs(capsys, tmp_path, monkeypatch):
    pytest.importorskip("anndata", reason="needs the extra manyview[singlecell]")
    monkeypatch.chdir(tmp_path)
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # anndata's, on cells without names
        for code in python_blocks(ROOT / "docs" / "use.md"):
            exec(compile(code, "use.md", "exec"), names)
    accuracy = float(re.search(r"ACC ([\d.]+)", capsys.readouterr().out)[1])
    assert accuracy > 0.88


def test_the_commands_of_the_docs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = commands(ROOT / "docs" / "use.md")
    assert len(lines) == 7
    for line in lines:
        with pytest.raises(SystemExit) as exit_:
            main(line.split())
        assert not exit_.value.code, (line, capsys.readouterr().err)
    assert "2000 samples assigned to 10 clusters, ACC 0.9" in capsys.readouterr().out


def test_the_docs_on_findings(capsys, tmp_path, monkeypatch):
    pytest.importorskip("lifelines", reason="needs the extra manyview[survival]")
    monkeypatch.chdir(tmp_path)
    lines = commands(ROOT / "docs" / "findings.md")
    assert len(lines) == 6
    for line in lines:
        with pytest.raises(SystemExit) as exit_:
            main(line.split())
        assert not exit_.value.code, (line, capsys.readouterr().err)
    assert "associated  marked" in capsys.readouterr().out
    names = {}
    for code in python_blocks(ROOT / "docs" / "findings.md"):
        exec(compile(code, "findings.md", "exec"), names)
    assert names["survival"].p_value < 1e-6


def test_the_commands_of_the_readme_are_known(capsys):
    for line in commands(ROOT / "README.md"):
        with pytest.raises(SystemExit) as exit_:
            main([line.split()[0], "--help"])
        assert not exit_.value.code, line
        options = set(re.findall(r"(?<!\S)(--?[a-z-]+)", line))
        assert options <= set(re.findall(r"(--?[a-z-]+)", capsys.readouterr().out)), line
