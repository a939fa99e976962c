"""Pages of very clear clusters, and of very many."""

from itertools import pairwise

import pytest

pytest.importorskip("selenium")

from helpers.browsing import element, elements, needs_browser, start
from manyview import MFMSC, OCBR, make_views
from manyview.report import render_report

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


def show(browser, folder, model, views):
    page = folder / "page.html"
    page.write_text(render_report(model.fit(views), views), encoding="utf-8")
    browser.get(page.as_uri())


def test_no_sample_is_called_doubtful_if_all_labels_are_sure(browser, tmp_path):
    views = make_views(90, 4, (6, 8), noise=0.4, seed=3).views
    show(browser, tmp_path, OCBR(4), views)
    assert element(browser, "#doubtful-table").text == "None: every label is at least 99.9% likely."


def test_names_of_many_clusters_do_not_run_into_each_other(browser, tmp_path):
    show(browser, tmp_path, MFMSC(28), make_views(280, 28, (30, 30), noise=0.5, seed=0).views)
    names = [name.rect for name in elements(browser, "#heat svg text")]
    top = min(name["y"] for name in names)
    ends = sorted((name["x"], name["x"] + name["width"]) for name in names if name["y"] == top)
    assert len(ends) > 10
    assert all(end + 3 < start for (_, end), (start, _) in pairwise(ends))
