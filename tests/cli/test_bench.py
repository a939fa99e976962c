"""`manyview bench`."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from helpers.tiny_experiment import COMMAND, write_spec
from manyview.experiments import Store, read_spec


def test_bench_leaves_a_row_for_every_run_and_fails_if_one_failed(spec_folder, manyview):
    spec = write_spec(spec_folder, ["Halves", "Fails", "Hungry", "Dies"])
    listed = manyview("bench", spec, "--out", "out", "--dry-run")
    assert listed.returncode == 0, listed.stderr
    assert "4 runs, 4 to run" in listed.stdout
    assert not (spec_folder / "out").exists()
    done = manyview("bench", spec, "--out", "out", "--jobs", 2, "--memory", 900)
    assert done.returncode == 1
    assert "3 runs failed" in done.stderr
    rows = {row["method"]: row for row in Store(spec_folder / "out").rows().values()}
    assert {name: row["status"] for name, row in rows.items()} == {
        "halves": "converged",
        "fails": "failed",
        "hungry": "failed",
        "dies": "failed",
    }
    assert "it broke" in rows["fails"]["error"]
    assert "over the limit of 900 MB" in rows["hungry"]["error"]
    assert "SIGSEGV" in rows["dies"]["error"]
    assert "last words" in rows["dies"]["error"]
    good = rows["halves"]
    assert good["scores"]["acc"] == 1
    assert good["peak_mb"] >= good["start_mb"] > 0
    assert {pool["num_threads"] for pool in good["blas"]} == {1}
    assert {"python", "manyview", "numpy", "scipy", "scikit-learn"} <= set(good["versions"])
    assert {"git", "seed", "data_sha256", "input_sha256", "threads", "finished"} <= set(good)
    page = (spec_folder / "out" / "report.md").read_text()
    assert "it broke" in page
    assert page.count(" failed |") == 3 * 2  # in both metrics
    again = manyview("bench", spec, "--out", "out")  # resumes: nothing is left to do, and it still has failed
    assert again.returncode == 1
    assert len((spec_folder / "out" / "runs.jsonl").read_text().splitlines()) == 4
    assert manyview("bench", spec, "--out", "out", "--retry", "--dry-run").stdout.count("to run  ") == 3


def test_stored_reports_existing_rows_and_runs_nothing(spec_folder, manyview):
    spec = write_spec(spec_folder, ["Halves"])
    nothing = manyview("bench", spec, "--out", "out", "--stored")
    assert nothing.returncode == 2
    assert "nothing to report" in nothing.stderr
    assert not (spec_folder / "out").exists()
    assert manyview("bench", spec, "--out", "out").returncode == 0
    rows = (spec_folder / "out" / "runs.jsonl").read_text()
    write_spec(spec_folder, ["Halves"], repeats=3)
    stored = manyview("bench", spec, "--out", "out", "--stored")
    assert stored.returncode == 0, stored.stderr
    assert "1 of 3 runs" in stored.stdout
    assert "1.000 (1 repeat)" in stored.stdout
    assert (spec_folder / "out" / "runs.jsonl").read_text() == rows


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_a_killed_bench_resumes_with_nothing_lost_or_repeated(spec_folder, manyview):
    spec = write_spec(spec_folder, ["Slow"], repeats=3)
    rows_file = spec_folder / "out" / "runs.jsonl"
    words = [COMMAND, "bench", spec, "--out", "out"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as bench:
        wait_for(lambda: rows_file.exists() and rows_file.read_bytes().count(b"\n") >= 1)
        (child,) = wait_for(lambda: children_of(bench.pid))  # in the middle of the next run
        bench.send_signal(signal.SIGKILL)
    assert bench.returncode == -signal.SIGKILL
    assert wait_for(lambda: is_gone(child))  # it does not work on without its parent
    before = rows_file.read_bytes()
    with rows_file.open("ab") as file:
        file.write(b'{"run": "0123", "stat')  # as if the kill had come while a row was being written
    done = manyview("bench", spec, "--out", "out", "--jobs", 2)
    assert done.returncode == 0, done.stderr
    after = rows_file.read_bytes()
    assert after.startswith(before)
    ids = [json.loads(line)["run"] for line in after.splitlines()]
    assert sorted(ids) == sorted(run.id for run in read_spec(spec).runs())


def children_of(pid):
    path = Path(f"/proc/{pid}/task/{pid}/children")
    threads = Path(f"/proc/{pid}/task").iterdir() if path.exists() else []
    found = [int(word) for thread in threads for word in (thread / "children").read_text().split()]
    return [pid for pid in found if b"manyview.experiments.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def is_gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["reproduce", "table-x", "--out", "o"], "Choose one of: 'table-acc'"),
        (["reproduce", "all", "--methods", "x", "--out", "o"], "Unknown method 'x'"),
        (["bench", "nope.toml", "--out", "o"], "nope.toml not found"),
        (["bench", "spec.toml", "--out", "spec.toml"], "spec.toml is a file"),
        (["bench", "spec.toml", "--out", "o", "--jobs", 0], "--jobs"),
    ],
)
def test_bad_input_gives_a_message_and_exit_code_2(manyview, spec_folder, words, says):
    done = manyview(*words)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (spec_folder / "o").exists()
