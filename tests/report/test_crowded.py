"""The page of a large study, 12 clusters and 40 columns of metadata: what matters must still be easy to find."""

import io
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("selenium")
pytest.importorskip("lifelines", reason="needs the extra manyview[survival]")

from selenium.webdriver.common.keys import Keys

from helpers.browsing import click_and_read, element, elements, needs_browser, start
from manyview import MFMSC
from manyview.datasets import make_tumours
from manyview.report import render_report

pytestmark = needs_browser
LONG = "histological_subtype_according_to_the_classification_of_the_world_health_organization"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    tumours = make_tumours(360, 12)
    rng = np.random.default_rng(0)
    metadata = tumours.metadata.assign(**{LONG: np.where(tumours.labels == 3, "rare and long to read", "frequent")})
    metadata = metadata.assign(**{f"noise {j}": rng.standard_normal(360) for j in range(32)})
    model = MFMSC(12).fit(tumours.views)
    folder = tmp_path_factory.mktemp("crowded")
    page = render_report(model, tumours.views, metadata=metadata, survival=("time", "event"))
    (folder / "page.html").write_text(page, encoding="utf-8")
    driver = start(folder / "chromium")
    driver.get((folder / "page.html").as_uri())
    yield driver
    assert driver.get_log("browser") == []
    driver.quit()


def test_the_first_screen_says_what_stands_out_where_and_by_how_much(browser):
    lines = [line for line in elements(browser, "#highlights li") if line.rect["y"] + line.rect["height"] < 720]
    first = next(line.text for line in lines if line.text.startswith(LONG[:70]))
    assert "“rare and long to read” makes up 100.0% of cluster " in first
    assert ", 0.0% elsewhere (Cramér's V 1.00, corrected p = " in first
    assert any("Survival differs" in line.text for line in lines)


def test_a_long_table_shows_its_first_rows_and_all_on_request(browser, tmp_path):
    rows = elements(browser, "#associations-table tbody tr")
    assert (len(rows), sum(row.is_displayed() for row in rows)) == (38, 12)
    button = element(browser, "#associations-table [aria-expanded]")
    assert button.text == "Show all 38 rows"
    button.send_keys(Keys.ENTER)  # by keyboard
    assert all(row.is_displayed() for row in rows)
    assert button.get_attribute("aria-expanded") == "true"
    button.send_keys(Keys.ENTER)
    assert not rows[12].is_displayed()
    saved = pd.read_csv(
        io.StringIO(click_and_read(browser, "#associations-table .save:last-child", tmp_path / "associations.csv"))
    )
    assert len(saved) == 38
    assert {"p", "p corrected", "stands out", "by", "in it", "elsewhere", "missing"} < set(saved)


def test_all_rows_are_printed(browser):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert all(row.is_displayed() for row in elements(browser, "#associations-table tbody tr"))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_associations_are_read_without_scrolling_sideways(browser, width):
    metrics = {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    needed, there = browser.execute_script(
        "const box = document.querySelector('#associations-table .scroll'); return [box.scrollWidth, box.clientWidth]"
    )
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert needed <= there


def test_many_survival_curves_have_their_bands_one_by_one(browser, tmp_path):
    band = element(browser, "#survival-plot .band")
    assert band.value_of_css_property("fill-opacity") == "0"
    assert len(elements(browser, "#survival-panels .band")) == 12
    assert element(browser, "#survival-many").text.startswith("So many bands would cover each other")
    name = tmp_path / "survival-of-each-cluster.svg"
    root = ElementTree.fromstring(click_and_read(browser, "#survival-panels .save", name))
    others = root.find(".//*[@id='survival-curves']")
    assert others.get("fill") == "none"
