"""Reading text files with many columns, such as expression matrices: CPU time and memory.

python benchmarks/wide_text.py              # 20 samples, up to 100,000 columns
python benchmarks/wide_text.py 300000       # that many columns
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

N_SAMPLES = 20
SIZES = (1_000, 10_000, 100_000)
READ = """
import resource, sys, time
from manyview.io import read_views

read_views([sys.argv[2]])  # imports what reading takes
used = lambda: (time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
before = used()
shape = read_views([sys.argv[1]]).views.shape
after = used()
print(f"{shape[1]} | {after[0] - before[0]:.2f} | {after[1] - before[1]:.0f}")
"""


def write(path: Path, n_columns: int) -> Path:
    """Write a table with ids and a header."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write("id," + ",".join(f"gene{i}" for i in range(n_columns)) + "\n")
        for i in range(N_SAMPLES):
            file.write(f"sample{i}," + ",".join(f"{x:.4f}" for x in rng.normal(size=n_columns)) + "\n")
    return path


def main() -> None:
    print("| columns | MB | columns read | CPU s | growth of memory MB |", "|---:|---:|---:|---:|---:|", sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        small = write(Path(folder) / "small.csv", 3)
        for n_columns in map(int, sys.argv[1:] or SIZES):
            path = write(Path(folder) / "wide.csv", n_columns)
            words = [sys.executable, "-c", READ, path, small]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            print(f"| {n_columns} | {path.stat().st_size / 1e6:.1f} | {done.stdout.strip()} |", flush=True)


if __name__ == "__main__":
    main()
