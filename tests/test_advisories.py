"""The check of dependencies against known advisories."""

import importlib.util
import json
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def advisories(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    spec = importlib.util.spec_from_file_location("advisories", BENCHMARKS / "advisories.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("dependencies", None)


def record(name="NumPy", *events, versions=(), **more):
    ranges = [{"type": "ECOSYSTEM", "events": list(events)}] if events else []
    return {
        "id": "X-1",
        "affected": [{"package": {"name": name}, "ranges": ranges, "versions": list(versions)}],
        **more,
    }


FROM_0, FIXED = {"introduced": "0"}, {"fixed": "2.0"}


@pytest.mark.parametrize(
    ("advisory", "hit"),
    [
        (record("NumPy", FROM_0, FIXED), True),
        (record("NumPy", FROM_0, {"fixed": "1.9.10"}), False),
        (record("NumPy", FROM_0, {"last_affected": "1.10"}), True),
        (record("NumPy", FROM_0, {"last_affected": "1.9"}), False),
        (record("NumPy", {"introduced": "1.11"}, FIXED), False),
        (record("NumPy", FROM_0, {"fixed": "1.5"}, {"introduced": "1.8"}), True),
        (record("NumPy", versions=["1.10"]), True),
        (record("NumPy", versions=["1.1"]), False),
        (record("num.py", FROM_0), False),
        (record("NumPy", FROM_0, withdrawn="2024-01-01"), False),
    ],
)
def test_which_versions_an_advisory_strikes(advisories, advisory, hit):
    assert advisories.strikes(advisory, advisories.Component("numpy", "1.10", "")) == hit


@pytest.mark.parametrize(("fixed", "code"), [("0.1", 0), ("9999", 1)])
def test_a_dump_of_advisories_is_checked(tmp_path, fixed, code):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("X-1.json", json.dumps(record("NumPy", FROM_0, {"fixed": fixed}, summary="bad news")))
    words = [sys.executable, BENCHMARKS / "advisories.py", tmp_path / "all.zip"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith("1 advisories, " if code == 0 else f"numpy {version('numpy')}: X-1 bad news")


def test_all_that_users_install_is_listed(advisories):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(everything.removeprefix("manyview[").removesuffix("]").split(",")) == set(
        sys.modules["dependencies"].EXTRAS
    ) - {""}
