"""Check the wheel in `dist`: its size, its content, and that it works in an environment with nothing else.

python tools/check_dist.py dist
"""

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

LARGEST = 5 * 2**20
NEEDED = (
    "manyview/py.typed",
    "manyview/datasets/digits.npz",
    "manyview/report/template.html",
    "manyview/report/report.js",
)
SMOKE_TEST = """
from pathlib import Path

import manyview
from manyview.report import render_report

digits = manyview.load_digits(views=("fourier", "profile"))
views = digits.views[::5]
model = manyview.OCBR(n_clusters=10).fit(views)
assert manyview.clustering_accuracy(digits.labels[::5], model.labels_) > 0.85
again = manyview.load(manyview.save(model, "model.manyview"))
assert (again.predict(views) == model.predict(views)).all()
Path("report.html").write_text(render_report(model, views), encoding="utf-8")
assert "site-packages" in manyview.__file__, manyview.__file__
"""
COMMANDS = (
    ["--version"],
    ["methods"],
    ["demo", "--out", "demo"],
    ["datasets", "--export", "digits"],
    ["cluster", "digits/fourier.csv", "digits/profile.csv", "-k", "10", "--out", "results", "--report"],
)


def check_content(wheel: Path) -> None:
    """Raise if the wheel is too large, lacks a file, or contains files that users do not need."""
    size = wheel.stat().st_size
    assert size < LARGEST, f"{wheel.name} is {size / 2**20:.1f} MB; at most {LARGEST / 2**20:.0f} MB are allowed"
    names = zipfile.ZipFile(wheel).namelist()
    missing = [name for name in NEEDED if name not in names]
    assert not missing, f"{wheel.name} lacks {missing}"
    foreign = [name for name in names if not name.startswith(("manyview/", "manyview-"))]
    assert not foreign, f"{wheel.name} contains {foreign[:5]}"
    print(f"{wheel.name}: {len(names)} files, {size / 2**20:.2f} MB")


def check_installed(wheel: Path) -> None:
    """Install the wheel into an empty environment, and run the smoke test and the commands in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "env", with_pip=True)
        programs = home / "env" / ("Scripts" if os.name == "nt" else "bin")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

        def run(program: str, *words: str) -> None:
            print(f"$ {program} {' '.join(word.strip().splitlines()[0] for word in words)}", flush=True)
            subprocess.run([str(programs / program), *words], cwd=home, env=environment, check=True)

        run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel.resolve()}[plot]")
        run("python", "-P", "-W", "error", "-c", SMOKE_TEST)
        for words in COMMANDS:
            run("manyview", *words)


def main() -> None:
    (wheel,) = Path(sys.argv[1]).glob("*.whl")
    check_content(wheel)
    check_installed(wheel)


if __name__ == "__main__":
    main()
