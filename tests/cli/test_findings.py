"""`manyview cluster` with metadata: associations, survival, batches and features, as a user asks for them."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from manyview.evaluation import associate, compare_survival, find_markers
from manyview.io import read_views

pytest.importorskip("lifelines", reason="needs the extra manyview[survival]")
VIEWS = ["tumours/expression.csv", "tumours/methylation.csv", "tumours/mirna.csv"]
SURVIVAL = ["--survival", "time", "event"]
WORDS = ["cluster", *VIEWS, "-k", 4, "-m", "mfmsc", "--metadata", "tumours/metadata.csv", "--out", "out"]


@pytest.fixture
def tumours(manyview, tmp_path, monkeypatch):
    """A folder with the generated tumours."""
    monkeypatch.chdir(tmp_path)
    assert manyview("datasets", "--export", "tumours", "--name", "tumours").returncode == 0
    return tmp_path


def change(column, values):
    frame = pd.read_csv("tumours/metadata.csv").astype(object)
    frame.loc[: len(values) - 1, column] = values
    frame.to_csv("tumours/metadata.csv", index=False)


def test_everything_at_once(manyview, tumours):
    done = manyview(*WORDS, "--survival", "time", "event", "--batch", "centre", "--features", "--report")
    assert done.returncode == 0, done.stderr
    assert "Of 5 tested columns of the metadata, 2 are associated with the clusters." in done.stdout
    assert re.search(r"^stage: “\w+” makes up [\d.]+% of cluster \d, [\d.]+% elsewhere \(Cramér's V", done.stdout, re.M)
    assert re.search(r"^age: the median is [\d.]+ in cluster \d, [\d.]+ elsewhere \(ε² ", done.stdout, re.M)
    assert re.search(
        r"^Survival differs between the clusters \(log-rank p = .*: shortest in cluster \d", done.stdout, re.M
    )
    assert "Batches are mixed in the clusters as if by chance" in done.stdout
    out = tumours / "out"
    names = {path.name for path in out.iterdir()}
    assert names == {"labels.csv", "summary.json", "report.html", "features.csv", "associations.csv"}

    labels = pd.read_csv(out / "labels.csv")["label"].to_numpy()
    metadata = pd.read_csv("tumours/metadata.csv", index_col="id")
    found = pd.read_csv(out / "associations.csv", keep_default_na=False, na_values=[""]).set_index("column")
    expected = associate(labels, metadata[["age", "sex", "stage", "centre", "treatment"]]).set_index("column")
    np.testing.assert_allclose(found["p_value"].dropna(), expected["p_value"], rtol=1e-5)
    assert found.loc["time", "left_out"] == "compared as survival"
    survival = json.loads((out / "summary.json").read_text())["survival"]
    np.testing.assert_allclose(
        survival["p_value"], compare_survival(labels, metadata["time"], metadata["event"]).p_value
    )
    assert [row["cluster"] for row in survival["clusters"]] == [0, 1, 2, 3]
    markers = find_markers(labels, read_views(VIEWS).views)
    pd.testing.assert_frame_equal(pd.read_csv(out / "features.csv"), markers, check_dtype=False)


@pytest.mark.parametrize(
    ("column", "values", "options", "says"),
    [
        ("time", [-3.0], SURVIVAL, "The survival times in 'time' include -3; times must be 0"),
        ("event", [2], SURVIVAL, "The events in 'event' include '2'; give 1 for an event"),
        ("age", [], ["--survival", "months", "event"], "The metadata have no column 'months'. Choose from: 'age'"),
        ("age", [], ["--survival", "time", "time"], "'time' is named as time and as event; name two different columns"),
        ("time", [np.inf], SURVIVAL, "The survival times in 'time' include inf; times must be 0"),
        ("time", ["soon"], SURVIVAL, "'time' holds 'soon', which is not a number; give times as numbers"),
        ("time", [None] * 300, SURVIVAL, "No survival time is known: 'time' is empty for all 300 samples"),
        ("event", ["dead"], SURVIVAL, "'event' holds 'dead', which is not a number; give 1 for an event"),
        ("event", [0] * 300, SURVIVAL, "'event' holds no event (1) with a known time, so survival cannot be compared"),
        ("id", ["T0001", "T0001"], [], "metadata.csv has duplicated sample ids: 'T0001'; keep one row per sample"),
        ("centre", ["abroad"], ["--batch", "centre"], "The batch 'abroad' in 'centre' has one sample; merge it"),
        ("centre", ["north"] * 300, ["--batch", "centre"], "'centre' has 1 batch; give at least two, or none at all"),
        (
            "centre",
            [None],
            ["--batch", "centre"],
            "'centre' is missing for 1 of 300 samples, such as 'T0000'; fill it in",
        ),
        ("age", [], ["--batch", "lab"], "The metadata have no column 'lab'. Choose from: 'age'"),
        ("id", [f"x{i}" for i in range(300)], [], "tumours/metadata.csv shares no sample id with the other files"),
    ],
)
def test_bad_metadata_give_one_line_and_no_files(manyview, tumours, column, values, options, says):
    change(column, values)
    done = manyview(*WORDS, *options)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tumours / "out").exists()
