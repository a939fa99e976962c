"""Agreement of single views with the consensus."""

import numpy as np
import pytest

from manyview import MAASC, MFMSC, OCBR, Views
from manyview.preprocessing.corruption import replace_views
from manyview.report.agreement import compare_views


@pytest.mark.parametrize("method", [OCBR, MFMSC, MAASC])
def test_views_that_show_the_clusters_agree_and_noise_does_not(blobs, method):
    views = Views({"good": blobs.views.arrays[0], "also": blobs.views.arrays[1], "noise": blobs.views.arrays[1]})
    views = replace_views(views, "noise", seed=0)
    agreement = compare_views(method(3).fit(views), views)
    good, also, noise = agreement.views
    assert (good.acc, good.nmi, also.acc) == (1, pytest.approx(1), 1)
    assert noise.acc < 0.7
    assert agreement.n_compared == 60
    assert (good.weight is None) == (method is MFMSC)


def test_a_view_is_judged_by_the_samples_it_holds(blobs):
    tables = [X.copy() for X in blobs.views.arrays]
    tables[0][:15] = np.nan
    tables[1][20, 0] = np.nan
    views = Views(tables)
    for method in (OCBR, MFMSC):
        half, full = compare_views(method(3).fit(views), views).views
        assert (half.present, half.missing, half.acc) == (0.75, 0.25, 1)
        assert (full.present, full.missing) == (1, pytest.approx(1 / tables[1].size))


def test_graphs_are_built_on_a_sample_of_many_samples(blobs):
    agreement = compare_views(MFMSC(3).fit(blobs.views), blobs.views, max_samples=40)
    assert agreement.n_compared == 40
    assert agreement.views[0].acc == 1
