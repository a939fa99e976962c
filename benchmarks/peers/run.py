"""manyview and the packages that a user might choose instead: same data, same noise, same run, one thread.

python benchmarks/peers/run.py setup                    # an environment for each peer
python benchmarks/peers/run.py accuracy                 # digits and the files in MANYVIEW_DATA, clean and corrupted
python benchmarks/peers/run.py accuracy --omics         # cells and tumours: the labelled sets of MANYVIEW_DATA/omics
python benchmarks/peers/run.py accuracy --text          # reuters1200 of MANYVIEW_DATA/large
python benchmarks/peers/run.py scale                    # CPU seconds and memory against the number of samples
python benchmarks/peers/run.py missing                  # digits with samples missing from the views

Results are kept in --out, and stored runs are not repeated. After a change of OCBR, `--stored --redo OCBR` repeats its
runs and prints the others as they are stored. Needs Linux.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # for benchmarks/common.py

from cases import TEXT, Case, accuracy_cases, missing_cases, scale_cases
from environments import HERE, read_peers, setup
from runs import FitLimits, run_all
from tables import PeerResults, mean_of, print_accuracy, print_cells, print_errors, print_versions, time_and_memory

from common import print_table
from manyview.experiments.store import Row, Store
from rivals import OMICS

SECONDS = {"accuracy": 120, "scale": 300, "missing": 120}


def main() -> None:
    options = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # so that the adapters end too
    peers = read_peers(options.peers)
    if options.command == "setup":
        print_table(["peer", "installed with pip", ""], setup(peers, options.envs))
        return
    limits = FitLimits(options.timeout or SECONDS[options.command], options.memory_mb)
    rows = run_all(
        options.command,
        _cases(options),
        peers,
        limits,
        envs=options.envs,
        store=Store(options.out),
        redo=options.redo,
        stored=options.stored,
    )
    results = PeerResults(report_progress(rows))
    if options.command == "accuracy":
        print_accuracy(results, options.files.title if options.files else "Digits and files")
    elif options.command == "scale":
        print("## CPU seconds and growth of the process, two views of 64 features, 10 clusters\n")
        print_cells(results, {data: (data, "synthetic") for data in results.datasets}, time_and_memory)
    else:
        print(f"## Digits, 2 views: mean ACC (draws: {options.draws}), then CPU seconds\n")
        columns = {kind: ("digits-2", kind) for kind in results.corruptions}
        print_cells(results, columns, mean_of("acc", 3))
        print_cells(results, columns, mean_of("cpu_seconds", 1))
    print_errors(results)
    print_versions(results)


def _cases(options: argparse.Namespace) -> Iterable[Case]:
    if options.command == "accuracy":
        return accuracy_cases(options.files, options.only, options.draws, large=options.large)
    if options.command == "scale":
        return scale_cases(options.sizes)
    return missing_cases(options.percents, options.draws)


def report_progress(rows: Iterable[Row]) -> Iterator[Row]:
    """Report progress on stderr; the tables go to stdout."""
    for row in rows:
        print(f"{row['run']}: {row['status']} {row['scores'].get('acc', '')}", file=sys.stderr, flush=True)
        yield row


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--peers", nargs="+", default=[], metavar="PEER", help="only these; all by default")
    shared.add_argument("--envs", type=Path, default=HERE / ".envs", help="folder of the environments")
    measured = argparse.ArgumentParser(add_help=False)
    measured.add_argument("--out", type=Path, default=HERE / "results", help="folder of the results")
    measured.add_argument("--redo", nargs="+", default=[], metavar="NAME", help="repeat these peers or methods")
    measured.add_argument("--stored", action="store_true", help="print stored results; run only what --redo names")
    measured.add_argument("--timeout", type=float, help="CPU seconds per fit")
    measured.add_argument("--memory-mb", type=float, default=6144, help="memory per fit")
    commands.add_parser("setup", parents=[shared])
    accuracy = commands.add_parser("accuracy", parents=[shared, measured])
    accuracy.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these data sets")
    accuracy.add_argument("--large", action="store_true", help="include the two large files")
    accuracy.add_argument("--omics", dest="files", action="store_const", const=OMICS, help="cells and tumours instead")
    accuracy.add_argument("--text", dest="files", action="store_const", const=TEXT, help="text instead")
    accuracy.add_argument("--draws", type=int, default=1, help="draws of the noise")
    scale = commands.add_parser("scale", parents=[shared, measured])
    scale.add_argument("--sizes", nargs="+", type=int, default=[1000, 2000, 4000, 8000, 16000])
    missing = commands.add_parser("missing", parents=[shared, measured])
    missing.add_argument("--percents", nargs="+", type=int, default=[10, 30, 40, 50])
    missing.add_argument("--draws", type=int, default=2, help="draws of the absent samples")
    return parser


if __name__ == "__main__":
    main()
