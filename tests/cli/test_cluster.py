"""`manyview cluster`: in this process, as starting one takes seconds."""

import json

import numpy as np
import pandas as pd
import pytest

from helpers.summaries import unexplained
from manyview import METHODS, MFMSC, Views, make_views
from manyview.io import read_views


def test_cluster_writes_labels_and_summary(manyview, project):
    words = [
        "cluster",
        "view_0.csv",
        "view_1.csv",
        "-k",
        3,
        "--truth",
        "truth.csv",
        "--out",
        "out",
        "-p",
        "n_neighbors=7",
    ]
    done = manyview(*words, "--method", "mfmsc")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # quiet in a pipe
    labels = pd.read_csv(project / "out" / "labels.csv")
    assert labels.columns.tolist() == ["sample", "label", "confidence", "second"]
    assert labels["sample"].tolist() == [f"patient {i}" for i in range(60)]
    summary = json.loads((project / "out" / "summary.json").read_text())
    assert summary["method"] == "mfmsc"
    assert summary["parameters"]["n_neighbors"] == 7
    assert summary["seed"] == 0
    assert summary["metrics"]["acc"] == 1
    assert sum(summary["cluster_sizes"]) == 60
    assert set(summary["versions"]) == {"python", "manyview", "numpy", "scipy", "scikit-learn"}
    assert summary["seconds"]["fit"] > 0
    assert manyview(*words, "--force").returncode == 0


def test_results_are_not_overwritten_unasked(manyview, project):
    words = ["cluster", "view_0.csv", "-k", 3, "--out", "out"]
    assert manyview(*words).returncode == 0
    before = (project / "out" / "summary.json").read_text()
    again = manyview(*words)
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert (project / "out" / "summary.json").read_text() == before


@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs_on_an_npz(manyview, tmp_path, monkeypatch, method):
    monkeypatch.chdir(tmp_path)
    data = make_views(60, 3, (5, 8), noise=0.3, seed=1)
    np.savez(tmp_path / "data.npz", **dict(data.views.items()), labels=data.labels)
    done = manyview("cluster", "data.npz", "-k", 3, "-m", method, "--truth", "data.npz", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["metrics"]["acc"] > 0.9


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["missing.csv", "-k", 3], "missing.csv was not found"),
        (["view_0.csv", "-k", 0], "-k 0 is not a valid number of clusters"),
        (["view_0.csv", "-k", 61], "n_samples=60 is fewer than n_clusters=61"),
        (["view_0.csv", "-k", "three"], "-k"),
        (["view_0.csv", "-k", 3, "--method", "nope"], "Unknown method='nope'. Choose one of: 'mfmsc'"),
        (["view_0.csv", "-k", 3, "-m", "mfmsc", "-p", "neighbours=7"], "--param 'neighbours=7'"),
        (["view_0.csv", "-k", 3, "-m", "mfmsc", "-p", "affinity=dense"], "Unknown affinity='dense'"),
        (["view_0.csv"], "-k"),
        (["view_0.csv", "-k", 3, "--truth", "view_1.npz"], "view_1.npz was not found"),
    ],
)
def test_bad_input_gives_a_message_and_exit_code_2(manyview, project, words, says):
    done = manyview("cluster", *words, "--out", "out")
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project / "out").exists()
    assert done.stderr.startswith("error:")
    assert len(done.stderr.strip().splitlines()) == 1


def read_json(path):
    return json.loads(path.read_text())


def test_report_model_and_stability(manyview, project):
    words = ["cluster", "view_0.csv", "view_1.csv", "-k", 3, "--report", "--metadata", "truth.csv", "--save"]
    done = manyview(*words, "--repeats", 3, "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert "stability 1.00 (stable)" in done.stdout
    out = project / "out"
    files = {path.name for path in out.iterdir()}
    assert files == {"labels.csv", "summary.json", "report.html", "associations.csv", "model.manyview"}
    assert "patient 7" in (out / "report.html").read_text()
    assert pd.read_csv(out / "labels.csv").columns.tolist() == ["sample", "label", "confidence", "second", "stability"]
    stability = read_json(out / "summary.json")["stability"]
    assert (stability["repeats"], len(stability["clusters"])) == (3, 3)
    again = manyview(*words, "--out", "out")
    assert again.returncode == 2
    assert "report.html" in again.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["predict", "view_0.csv", "view_0.csv", "--out", "o"], "cannot be read as a manyview model"),
        (["predict", "none.manyview", "view_0.csv", "--out", "o"], "none.manyview was not found"),
        (["cluster", "view_0.csv", "-k", 3, "--batch", "site", "--out", "o"], "add --metadata TABLE"),
        (["cluster", "view_0.csv", "-k", 3, "--survival", "days", "died", "--out", "o"], "add --metadata TABLE"),
        (
            ["cluster", "view_0.csv", "-k", 3, "--features", "-m", "mfmsc", "-p", "affinity=precomputed", "-o", "o"],
            "affinities have no features",
        ),
        (["cluster", "view_0.csv", "-k", 3, "--scaling", "big", "--out", "o"], "Unknown scaling='big'"),
        (["cluster", "view_0.csv", "-k", 3, "--scaling", "x=none", "--out", "o"], "scaling names an unknown view 'x'"),
        (
            ["cluster", "view_0.csv", "-k", 3, "--scaling", "none", "--scaling", "a=unit", "--out", "o"],
            "is not VIEW=SCALING",
        ),
        (["cluster", "view_0.csv", "-k", 3, "--samples", "some", "--out", "o"], "Unknown samples='some'"),
        (["cluster", "view_0.csv", "-k", -1, "--out", "o"], "-k -1 is not a valid number of clusters"),
    ],
)
def test_other_bad_input(words, told, manyview, project):
    done = manyview(*words)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (project / "o").exists()


def test_samples_missing_from_a_file_are_named_and_kept(manyview, project):
    pd.read_csv("view_1.csv").iloc[3:].to_csv("view_1.csv", index=False)
    words = ["cluster", "view_0.csv", "view_1.csv", "-k", 3, "--truth", "truth.csv"]
    done = manyview(*words, "--out", "all")
    assert done.returncode == 0
    assert "samples missing from view 'view_1': 3 ('patient 0', 'patient 1', 'patient 2')" in done.stderr
    summary = read_json(project / "all" / "summary.json")
    assert (summary["n_samples"], summary["metrics"]["acc"]) == (60, 1)
    assert (summary["views"]["view_1"]["samples"], summary["unmatched"]["view_1"]["count"]) == (57, 3)
    assert summary["imputation"] is None
    assert manyview(*words[:5], "--samples", "common", "--out", "common").returncode == 0
    assert read_json(project / "common" / "summary.json")["n_samples"] == 57


def test_missing_values_are_imputed_for_the_other_methods(manyview, project):
    table = pd.read_csv("view_0.csv")
    table.iloc[::7, 2] = np.nan
    table.to_csv("view_0.csv", index=False)
    words = ["cluster", "view_0.csv", "view_1.csv", "-k", 3, "-m", "mfmsc", "--truth", "truth.csv"]
    assert manyview(*words, "--out", "out").returncode == 0
    summary = read_json(project / "out" / "summary.json")
    assert "nearest samples" in summary["imputation"]
    assert (summary["views"]["view_0"]["missing_values"], summary["metrics"]["acc"]) == (9, 1)


def test_scaling_is_chosen_by_view_and_reported(manyview, project):
    words = ["cluster", "view_0.csv", "view_1.csv", "-k", 3, "--scaling", "view_1=standard", "--out", "out"]
    assert manyview(*words).returncode == 0
    views = read_json(project / "out" / "summary.json")["views"]
    assert (views["view_0"]["scaling"], views["view_1"]["scaling"]) == ("soft", "standard")


def test_the_number_of_clusters_is_chosen(manyview, project):
    done = manyview("cluster", "view_0.csv", "view_1.csv", "-k", "auto", "--out", "out")
    assert done.returncode == 0
    assert "3 clusters (chosen) of 60 samples" in done.stdout
    summary = read_json(project / "out" / "summary.json")
    assert summary["n_clusters"] == summary["selection"]["chosen"] == 3
    selection = summary["selection"]
    best = np.argmax(selection["score"])
    assert selection["candidates"][best] == 3
    for name in ("separation", "stability", "score", "eigengap"):
        assert len(selection[name]) == len(selection["candidates"])


def test_without_out_a_new_folder_is_made_each_time(manyview, project):
    words = ["cluster", "view_0.csv", "-k", 3, "-m", "mfmsc", "--save"]
    for folder in ("manyview-results", "manyview-results-2"):
        done = manyview(*words)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"wrote {folder}/labels.csv" in done.stdout
    first = (project / "manyview-results" / "summary.json").read_text()
    done = manyview("predict", "manyview-results/model.manyview", "view_0.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert "wrote manyview-results-3/labels.csv" in done.stdout
    assert (project / "manyview-results" / "summary.json").read_text() == first


def test_missing_values_are_not_counted_again_after_the_fit(manyview, project, monkeypatch):
    """On large views, each count is a pass over all values."""
    counted = []
    present, n_missing = Views.present.func, Views.n_missing.func
    monkeypatch.setattr(Views, "present", property(lambda views: counted.append("present") or present(views)))
    monkeypatch.setattr(Views, "n_missing", property(lambda views: counted.append("missing") or n_missing(views)))
    files = ["view_0.csv", "view_1.csv"]
    MFMSC(3).fit(read_views(files).views)
    in_fit = counted.copy()
    counted.clear()
    assert manyview("cluster", *files, "-k", 3, "-m", "mfmsc", "--report", "--out", "out").returncode == 0
    assert counted == in_fit


def test_kinds_of_views_and_the_search_are_in_the_summary(manyview, project):
    done = manyview("cluster", "view_0.csv", "view_1.csv", "-k", 3, "--kind", "view_1=coordinates", "--out", "out")
    assert done.returncode == 0, done.stderr
    summary = json.loads((project / "out" / "summary.json").read_text())
    views = summary["views"]
    assert (views["view_0"]["kind"], views["view_1"]["kind"]) == ("features", "coordinates")
    assert views["view_1"]["why"].startswith("coordinates: as given; not cleaned")
    assert (views["view_0"]["scaling"], views["view_1"]["scaling"]) == ("soft", "none")
    assert summary["partition"]["objective"] > 0
    assert summary["partition"]["starts"] > 1
    assert isinstance(summary["alternatives"], list)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--kind", "view_1"], "--kind 'view_1' is not VIEW=KIND"),
        (["--kind", "view_1=pca"], "Unknown kinds='pca'"),
        (["--kind", "x=counts"], "kinds names an unknown view 'x'"),
        (["--kind", "view_1=counts", "--method", "mfmsc"], "is for ocbr"),
    ],
)
def test_wrong_kinds_are_refused(words, told, manyview, project):
    done = manyview("cluster", "view_0.csv", "view_1.csv", "-k", 3, *words, "--out", "out")
    assert done.returncode == 2
    assert told in done.stderr
    assert not (project / "out").exists()


def test_forced_results_replace_all_of_the_earlier_ones(manyview, project):
    words = ["cluster", "view_0.csv", "-k", 3, "-m", "mfmsc", "--out", "out"]
    assert manyview(*words, "--save", "--report").returncode == 0
    assert manyview(*words).returncode == 2
    assert manyview(*words, "--force").returncode == 0
    assert sorted(path.name for path in (project / "out").iterdir()) == ["labels.csv", "summary.json"]


def test_a_folder_that_cannot_be_written_is_noticed_before_any_work(manyview, project, monkeypatch):
    monkeypatch.setattr("manyview.cli.cluster.read_views", None)
    done = manyview("cluster", "view_0.csv", "-k", 3, "--out", "/proc/none")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "/proc/none cannot be written" in done.stderr


def test_noise_is_told_from_clusters(manyview, project, rng):
    for name in "ab":
        pd.DataFrame(rng.normal(size=(80, 6)), index=pd.Index(range(80), name="id")).add_prefix(name).to_csv(
            f"{name}.csv"
        )
    about = {"days": rng.exponential(size=80), "died": rng.integers(0, 2, 80), "site": rng.choice(list("xy"), 80)}
    pd.DataFrame(about, index=pd.Index(range(80), name="id")).to_csv("about.csv")
    asked = ("--metadata", "about.csv", "--survival", "days", "died", "--batch", "site")
    written = ("--report", "--features", "--save", "--repeats", 3, "--out", "noise")
    done = manyview("cluster", "a.csv", "b.csv", "-k", "auto", "-m", "mfmsc", *asked, *written)
    assert done.returncode == 0, done.stderr
    assert "1 cluster (chosen) of 80 samples" in done.stdout
    assert set(pd.read_csv("noise/labels.csv")["label"]) == {0}
    assert "No clusters were found" in (project / "noise" / "report.html").read_text()
    done = manyview("cluster", "a.csv", "b.csv", "-k", "3", "-m", "mfmsc", "--repeats", 3, "--out", "three")
    assert "stability" in done.stdout
    assert "(stable)" not in done.stdout
    done = manyview("cluster", "view_0.csv", "view_1.csv", "-k", "auto", "-m", "mfmsc", "--repeats", 3, "--out", "real")
    assert "3 clusters (chosen)" in done.stdout
    assert "stability 1.00 (stable)" in done.stdout
    assert json.loads((project / "real" / "summary.json").read_text())["stability"]["verdict"] == "stable"


def test_codes_for_missing_values(manyview, project):
    table = pd.read_csv("view_0.csv", index_col=0)
    table.iloc[:5, 1] = -999
    table.to_csv("coded.csv")
    words = ["cluster", "coded.csv", "view_1.csv", "-k", 3, "-m", "mfmsc"]
    warned = manyview(*words, "--out", "as-numbers", "--repeats", 2)
    assert warned.stderr.count("warning:") == 1
    assert "View 'coded' has the value -999 in column '1', far from all others there." in warned.stderr
    done = manyview(*words, "--out", "as-missing", "--missing", "-999", "--save")
    assert done.stderr == ""
    summary = json.loads((project / "as-missing/summary.json").read_text())
    assert summary["views"]["coded"]["missing_values"] == 5
    assert summary["reading"] == {"missing": ["-999"]}
    assert not unexplained("as-missing")
    compared = manyview("compare", "as-numbers", "as-missing", "--out", "compared")
    assert compared.returncode == 0
    assert "reading missing" in (project / "compared/comparison.html").read_text()
    model = "as-missing/model.manyview"
    assert "value -999" in manyview("predict", model, "coded.csv", "--out", "p").stderr
    assert manyview("predict", model, "coded.csv", "--out", "q", "--missing", "-999").stderr == ""


def test_one_sample_and_one_cluster_are_singular(manyview, project):
    pd.read_csv("view_0.csv").head(1).to_csv("one.csv", index=False)
    done = manyview("cluster", "one.csv", "-k", 1, "-m", "mfmsc", "--out", "out", "--save")
    assert done.stdout.startswith("1 cluster of 1 sample in ")
    assert "1 sample assigned to 1 cluster" in manyview("predict", "out/model.manyview", "one.csv", "--out", "p").stdout
