"""A short run of the fuzzer: whatever the bytes of a file, nothing but an InputError comes of it."""

import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).parents[1] / "benchmarks" / "fuzz.py"


def test_mutants_of_every_format_are_read_or_refused():
    done = subprocess.run([sys.executable, FUZZ, "12"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| model | 12 |" in done.stdout
