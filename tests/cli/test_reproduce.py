"""`manyview reproduce`."""


def test_reproduce_writes_the_table_and_the_page_and_resumes(manyview, tmp_path):
    words = ["--datasets", "digits", "--methods", "mfmsc", "--repeats", 1, "--out", tmp_path / "r"]
    done = manyview("reproduce", "table-acc", *words, "--jobs", 2)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # quiet in a pipe
    rows = (tmp_path / "r" / "runs.jsonl").read_bytes()
    again = manyview("reproduce", "table-nmi", *words)  # the same runs
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "r" / "runs.jsonl").read_bytes() == rows
    assert {path.name for path in (tmp_path / "r").iterdir()} == {
        *(f"table-{metric}.{ending}" for metric in ("acc", "nmi") for ending in ("md", "csv", "tex")),
        "runs.jsonl",
        "reproduction.md",
    }
    page = (tmp_path / "r" / "reproduction.md").read_text()
    line = next(line for line in page.splitlines() if line.startswith("| MFMSC") and "0.416" in line)
    assert "no [1]" in line
    assert "\n1. " in page


def test_the_page_lists_skipped_data_once(manyview, tmp_path):
    """Parts share runs: two tables, and a third with runs of its own, lack the same data."""
    parts, words = "table-acc,table-nmi,figure-affinity", ["--datasets", "nus", "--data", tmp_path]
    done = manyview("reproduce", parts, *words, "--repeats", 1, "--out", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "r" / "reproduction.md").read_text()
    for text in (done.stdout, page):
        assert text.count("## Runs without a result") == text.count("NUS-WIDE-OBJECT.zip") == 1
    assert "skipped (18 runs: nus)" in page  # 8 methods on 2 corruptions, and 2 affinities
