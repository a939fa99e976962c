"""Associations, against scipy and on planted columns."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, false_discovery_control, fisher_exact, kruskal
from scipy.stats.contingency import association

from manyview import InputError
from manyview.evaluation import associate

N = 240


@pytest.fixture
def labels():
    return np.repeat([0, 1, 2], 80)


@pytest.fixture
def frame(rng, labels):
    stage = np.where(labels == 2, rng.choice(["I", "IV"], N, p=[0.2, 0.8]), rng.choice(["I", "IV"], N, p=[0.7, 0.3]))
    return pd.DataFrame(
        {
            "age": rng.normal(60, 8, N) + 6 * (labels == 1),
            "stage": stage,
            "sex": rng.choice(["f", "m"], N),
            "patient": [f"p{i}" for i in range(N)],
            "number": np.arange(N),
            "country": "Norway",
            "empty": np.nan,
            "nearly": [f"v{i % 200}" for i in range(N)],
        }
    )


def by_column(labels, frame):
    return associate(labels, frame).set_index("column")


def test_numbers_by_kruskal_wallis(labels, frame):
    row = by_column(labels, frame).loc["age"]
    H, p = kruskal(*(frame["age"][labels == k] for k in range(3)))
    assert (row["test"], row["effect_name"]) == ("Kruskal-Wallis", "ε²")
    np.testing.assert_allclose([row["statistic"], row["p_value"], row["effect"]], [H, p, H / (N - 1)])
    assert row["cluster"] == 1
    np.testing.assert_allclose(row["inside"], frame["age"][labels == 1].median())
    np.testing.assert_allclose(row["outside"], frame["age"][labels != 1].median())


def test_categories_by_chi_square(labels, frame):
    row = by_column(labels, frame).loc["stage"]
    counts = pd.crosstab(frame["stage"], labels).to_numpy()
    statistic, p, *_ = chi2_contingency(counts, correction=False)
    assert row["test"] == "chi-square"
    np.testing.assert_allclose([row["statistic"], row["p_value"]], [statistic, p])
    np.testing.assert_allclose(row["effect"], association(counts, method="cramer"))
    assert row["cluster"] == 2
    share = (frame["stage"] == row["level"]).groupby(labels == 2).mean()
    np.testing.assert_allclose([row["outside"], row["inside"]], share)


def test_p_values_are_corrected_over_the_columns_tested(labels, frame):
    found = associate(labels, frame)
    tested = found[found["left_out"] == ""]
    assert tested["column"].tolist() == ["stage", "age", "sex"]
    np.testing.assert_allclose(tested["p_corrected"], false_discovery_control(tested["p_value"]))
    assert found["p_corrected"].isna().sum() == 5


def test_columns_that_mean_nothing_are_left_out_with_the_reason(labels, frame):
    reasons = by_column(labels, frame)["left_out"]
    assert reasons["patient"] == reasons["number"] == "ids: all values differ"
    assert reasons["country"] == "constant"
    assert reasons["empty"] == "no values"
    assert reasons["nearly"] == "nearly unique: 200 values in 240 samples"


def test_small_two_by_two_tables_by_fisher():
    labels, sex = [0] * 6 + [1] * 5, list("ffffffmmmmf")
    row = by_column(labels, pd.DataFrame({"sex": sex})).loc["sex"]
    assert row["test"] == "Fisher"
    np.testing.assert_allclose(row["p_value"], fisher_exact(pd.crosstab(pd.Series(sex), labels))[1])


def test_other_small_tables_by_permutation(rng):
    labels = np.repeat([0, 1, 2], 8)
    grade = pd.Series(rng.choice(["a", "b", "c"], 24))
    row = by_column(labels, pd.DataFrame({"grade": grade})).loc["grade"]
    assert row["test"] == "permutation"
    counts = pd.crosstab(grade, labels).to_numpy()
    expected = np.outer(counts.sum(1), counts.sum(0)) / 24
    statistics = [
        ((pd.crosstab(grade, rng.permutation(labels)).to_numpy() - expected) ** 2 / expected).sum() for _ in range(400)
    ]
    np.testing.assert_allclose(row["p_value"], np.mean(np.array(statistics) >= row["statistic"] - 1e-9), atol=0.07)
    assert row["p_value"] == by_column(labels, pd.DataFrame({"grade": grade})).loc["grade", "p_value"]


def test_missing_values_are_counted_and_left_out(labels, frame):
    some = frame[["age", "stage"]].where(pd.Series(np.arange(N) % 10 != 0))
    found, rest = by_column(labels, some), np.arange(N) % 10 != 0
    assert found["missing"].tolist() == [24, 24]
    assert found["n"].tolist() == [216, 216]
    alone = by_column(labels[rest], frame.loc[rest, ["age", "stage"]])
    np.testing.assert_allclose(found["p_value"], alone["p_value"])


def test_a_column_known_in_one_cluster_only_is_left_out(labels):
    age = np.where(labels == 0, np.arange(N) / 7, np.nan)
    assert by_column(labels, pd.DataFrame({"age": age})).loc["age", "left_out"] == "known in one cluster only"


def test_labels_may_be_words(frame, labels):
    words = np.array(["luminal", "basal", "her2"])[labels]
    assert by_column(words, frame).loc["age", "cluster"] == "basal"


def test_no_false_alarms_on_noise(rng, labels):
    noise = pd.DataFrame(rng.normal(size=(N, 40))).add_prefix("c")
    assert (associate(labels, noise)["p_corrected"] > 0.05).all()


def test_bad_input_is_refused(labels, frame):
    with pytest.raises(InputError, match="Got 239 labels for 240 rows"):
        associate(labels[1:], frame)
    with pytest.raises(InputError, match="frame is a list"):
        associate(labels, [1, 2])
