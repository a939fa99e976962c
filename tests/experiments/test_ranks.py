"""Average ranks and their test."""

from types import SimpleNamespace

import numpy as np
import pytest

from manyview.experiments.bench_report import rank_text
from manyview.experiments.ranks import average_ranks, rank_methods


def test_ranks_and_their_significance():
    methods = [SimpleNamespace(name=name, label=name, swept=None) for name in "abcd"]
    datasets = [SimpleNamespace(name=str(i)) for i in range(6)]
    experiment = SimpleNamespace(methods=methods, datasets=datasets, corruptions=[SimpleNamespace(name="clean")])
    scores = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6}

    def cell(dataset, corruption, method):
        return SimpleNamespace(done=[1], mean=lambda metric: scores[method] + int(dataset) / 100)

    fake = SimpleNamespace(experiment=experiment, cell=cell)
    ranks = rank_methods(fake, "acc")
    assert ranks.average == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert ranks.p_value == pytest.approx(0.00044, abs=1e-5)  # chi-square 18 with 3 degrees of freedom
    assert ranks.critical_difference == pytest.approx(2.569 * np.sqrt(20 / 36), abs=1e-3)  # Demšar 2006, table 5
    assert "a ranks significantly better than c, d" in rank_text(fake, ranks)
    two = SimpleNamespace(experiment=SimpleNamespace(**vars(experiment) | {"methods": methods[:2]}), cell=cell)
    assert "No test" in rank_text(two, rank_methods(two, "acc"))


def test_ties_share_their_ranks_and_missing_scores_rank_last():
    scores = np.array([[0.5, 0.5, 0.1], [np.nan, -0.2, 0.3]])
    assert average_ranks(scores).tolist() == [2.25, 1.75, 2.0]
