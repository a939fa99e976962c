"""Draw the pictures in docs/images that show the report: report.png and survival.png. Needs Chromium and chromedriver.

python tools/pictures.py [--out docs/images]
"""

import argparse
import base64
import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By

from manyview import OCBR
from manyview.datasets import make_tumours
from manyview.report import render_report

DOCS = Path(__file__).parent.parent / "docs"
WIDTH, HEIGHT = 1250, 1500  # of the picture of a whole page


def page_of_digits(folder: Path) -> Path:
    """Run the example in docs/report.md, which writes a report."""
    code = re.search(r"```python\n(.*?)```", (DOCS / "report.md").read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    with contextlib.chdir(folder):
        exec(code[1], {})
    return folder / "report.html"


def page_of_tumours(folder: Path) -> Path:
    """Write the report of docs/findings.md with survival."""
    tumours = make_tumours()
    model = OCBR(n_clusters=4).fit(tumours.views)
    page = render_report(model, tumours.views, metadata=tumours.metadata, survival=("time", "event"))
    path = folder / "tumours.html"
    path.write_text(page, encoding="utf-8")
    return path


@contextlib.contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    """Start a headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for option in ("--headless=new", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}"):
        options.add_argument(option)
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        chrome.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False},
        )
        yield chrome
    finally:
        chrome.quit()


def draw(chrome: webdriver.Chrome, place: dict[str, float], path: Path) -> None:
    """Save a part of the page, also if it is below the window."""
    shot = chrome.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": {**place, "scale": 1}}
    )
    path.write_bytes(base64.b64decode(shot["data"]))


def main() -> None:
    """Write both pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DOCS / "images")
    out = parser.parse_args().out
    with tempfile.TemporaryDirectory() as name, browser() as chrome:
        chrome.get(page_of_digits(Path(name)).as_uri())
        draw(chrome, {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT}, out / "report.png")
        chrome.get(page_of_tumours(Path(name)).as_uri())
        draw(chrome, chrome.find_element(By.ID, "survival-plot").rect, out / "survival.png")


if __name__ == "__main__":
    main()
