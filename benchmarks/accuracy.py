"""Accuracy of OCBR and other methods: same data, same noise, defaults, same run.

python benchmarks/accuracy.py digits           # 2 and 6 views, clean and 20 % corrupted, 10 draws
python benchmarks/accuracy.py files [--large]  # every data set in the folder MANYVIEW_DATA, clean and 3 draws
python benchmarks/accuracy.py curve            # digits, 0 to 40 % corrupted
python benchmarks/accuracy.py seeds            # another seed on the same data
python benchmarks/accuracy.py                  # all of the above, beside MFMSC and the sum of graphs

python benchmarks/accuracy.py --omics          # the labelled sets of MANYVIEW_DATA/omics, beside all quick methods
python benchmarks/accuracy.py --large-text     # text and links of MANYVIEW_DATA/large
python benchmarks/accuracy.py --omics --draws 3 --slow   # also corrupted; also slow methods, up to 2000 samples
python benchmarks/accuracy.py --omics --only tcga_lgg267 --methods mfmsc ocbr

With --out FOLDER, the last four keep their runs, and the same command resumes. Stored runs are not repeated when a
method changes; use another folder then.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from common import SLOW_METHODS, SumOfGraphs, digits, mean_scores, noisy, print_table, research_data, score
from manyview import MFMSC, OCBR
from manyview.experiments.runner import Limits
from rivals import LARGE_TEXT, OMICS, QUICK, SLOW, DataFiles, compare

RIVALS = {"MFMSC": MFMSC, "sum of graphs": SumOfGraphs, "OCBR": OCBR}


def digits_table(draws: int) -> None:
    """The paper's data: mean and worst over the draws of the noise."""
    print(f"## Digits: mean ACC / NMI (worst ACC) over {draws} draws\n")

    def rows() -> Iterator[list[object]]:
        for n_views in (2, 6):
            data = digits(n_views)
            for name, which in (("20 % corrupted", range(draws)), ("clean", [None])):
                cells = []
                for method in RIVALS.values():
                    r = mean_scores(score(method, noisy(data, draw), data) for draw in which)
                    cells.append(f"{r['acc']:.3f} / {r['nmi']:.3f} ({r['worst']:.3f})")
                yield [f"{n_views} views, {name}", *cells]

    print_table(["digits", *RIVALS], rows())


def files_table(draws: int, *, large: bool, only: list[str]) -> None:
    """The files: clean, and the mean over the draws of the noise."""
    print(f"## Files: ACC clean / mean of {draws} draws at 20 % corruption\n")
    sums: dict[str, list[tuple[float, float]]] = {name: [] for name in RIVALS}

    def rows() -> Iterator[list[object]]:
        for data in research_data(large=large, only=only):
            cells = []
            for name, method in RIVALS.items():
                clean = score(method, data.views, data)["acc"]
                corrupted = mean_scores(score(method, noisy(data, draw), data) for draw in range(draws))["acc"]
                sums[name].append((clean, corrupted))
                cells.append(f"{clean:.3f} / {corrupted:.3f}")
            yield [data.name, *cells]
        yield ["**mean**", *("{:.3f} / {:.3f}".format(*np.mean(pairs, axis=0)) for pairs in sums.values())]

    print_table(["data", *RIVALS], rows())


def curve_table(draws: int) -> None:
    """How ACC falls with the share of corrupted entries."""
    print(f"## Digits: mean ACC over {draws} draws against the share of corrupted entries\n")
    shares = (0.0, 0.1, 0.2, 0.3, 0.4)

    def rows() -> Iterator[list[object]]:
        for n_views in (2, 6):
            data = digits(n_views)
            for name, method in RIVALS.items():
                means = [
                    mean_scores(score(method, noisy(data, d, f), data) for d in range(draws))["acc"] for f in shares
                ]
                yield [f"{n_views} views, {name}", *means]

    print_table(["", *(f"{share:.0%}" for share in shares)], rows())


def seeds_table() -> None:
    """Change of OCBR's ACC when only its seed changes."""
    print("## OCBR with seeds 0 and 1 on the same data: ACC\n")

    def rows() -> Iterator[list[object]]:
        for data in research_data():
            for name, draw in (("clean", None), ("20 % corrupted", 0)):
                views = noisy(data, draw)
                first, second = (score(OCBR, views, data, random_state=seed)["acc"] for seed in (0, 1))
                yield [data.name, name, first, second, abs(first - second)]

    print_table(["data", "", "seed 0", "seed 1", "difference"], rows())


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["digits", "files", "curve", "seeds", []], help="all by default")
    parser.add_argument("--omics", action="store_true", help="the omics data instead")
    parser.add_argument("--large-text", action="store_true", help="large sets of text and links instead")
    parser.add_argument("--draws", type=int, help="draws of the noise (10 for digits, 0 for omics and text, else 3)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these files")
    parser.add_argument("--large", action="store_true", help="include the two large files")
    rivals = parser.add_argument_group("omics and large text only")
    names = [method.name for method in (*QUICK, *SLOW)]
    rivals.add_argument("--methods", nargs="+", default=[], choices=names, metavar="METHOD", help=", ".join(names))
    rivals.add_argument("--slow", action="store_true", help=f"include {', '.join(SLOW_METHODS)}, up to 2000 samples")
    rivals.add_argument("--timeout", type=float, default=1800, help="seconds per fit")
    rivals.add_argument("--memory-mb", type=int, default=6144, help="memory per fit")
    rivals.add_argument("--out", type=Path, help="folder in which to keep the runs; none by default")
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    groups = [files for files, wanted in ((OMICS, options.omics), (LARGE_TEXT, options.large_text)) if wanted]
    if groups:
        rival_tables(groups, options)
    else:
        small_tables(options)


def rival_tables(groups: list[DataFiles], options: argparse.Namespace) -> None:
    """The tables with all other methods; every fit runs in a child process."""
    unknown = set(options.only) - {name for files in groups for name in files.names}
    if unknown:
        sys.exit(f"Unknown data set {', '.join(sorted(unknown))}.")
    limits = Limits(options.timeout, options.memory_mb)
    slow = options.slow or any(method.name in options.methods for method in SLOW)
    with tempfile.TemporaryDirectory(prefix="manyview-") as scratch:
        out = options.out or Path(scratch)
        for files in groups:
            compare(files, options.only, options.methods, options.draws or 0, slow=slow, limits=limits, out=out)


def small_tables(options: argparse.Namespace) -> None:
    """The tables with MFMSC and the sum of graphs; all fits run in this process."""
    what = options.what or ["digits", "files", "curve", "seeds"]
    with threadpool_limits(1):
        if "digits" in what:
            digits_table(options.draws or 10)
        if "files" in what:
            files_table(options.draws or 3, large=options.large, only=options.only)
        if "curve" in what:
            curve_table(options.draws or 3)
        if "seeds" in what:
            seeds_table()


if __name__ == "__main__":
    main()
