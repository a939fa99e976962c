"""Are the constants of OCBR overfitted? Each is chosen on one half of the data sets and reported on the other.

python benchmarks/tuning.py [--out FILE]                      # every constant below; some 600 fits
python benchmarks/tuning.py --constants exponent label_price  # only these
python benchmarks/tuning.py --parts joint cleaned             # parts of the method changed, named as in ablation.py
python benchmarks/tuning.py --by neighbors                    # constants of the treatment, by neighbours of one class
python benchmarks/tuning.py --quick                           # only on the sets of up to 1,300 samples and few views

Each half contains every other set of each group (tumours, cells, images, text). Large sets are left out for time. Each
set counts by the mean ACC of its clean views and of one draw with 20 % of the entries corrupted. Two partitions of
nearly the same quality may differ by many points of ACC, so rows can also be judged before the search for a partition,
by the share of a sample's ten nearest neighbours that are in its class (mean over the classes), which takes seconds.
With --out, scores are kept in a file, and the same command resumes; use another file after a change of the method.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from ablation import CHANGES, UNCHANGED, Change
from common import data_folder, noisy, print_table, read_npz, score
from manyview import Dataset, Views
from manyview.graphs.batches import neighbors_of
from manyview.methods.ocbr.consensus import make_layers

GROUPS = {
    "tumours": ("nci60_4arrays", "tcga_brca398", "tcga_brca_mixomics", "tcga_kidney737", "tcga_lgg267"),
    "cells": ("bmmc_multiome500", "pbmc1k_cite_inhouse", "scicar_a549", "snareseq", "teaseq1262"),
    "images": ("mfeat", "msrcv1_6view", "orl_4view", "wikipedia"),
    "text": ("3sources", "bbcsport", "reuters1200"),
}
SLOW = ("scicar_a549", "mfeat", "wikipedia", "reuters1200")  # left out by --quick
FOLDERS = ("", "omics", "large")


def halves(*, quick: bool) -> dict[str, tuple[str, ...]]:
    """Return the names in each half: every other set of each group."""
    return {
        half: tuple(name for names in GROUPS.values() for name in names[start::2] if not (quick and name in SLOW))
        for half, start in (("A", 0), ("B", 1))
    }


DRAWS = (None, 0)  # clean, and one draw of the noise
CONSTANTS: dict[str, dict[object, Change]] = {
    "exponent": {value: Change(settings={"exponent": value}) for value in (0.25, 0.75, 1.0)},
    "tolerated": {value: Change(settings={"tolerated": value}) for value in (0.006, 0.025)},
    "weigh_noise": {False: Change(settings={"weigh_noise": False})},
    "soft_rows": {False: Change(settings={"soft_rows": False})},
    "weigh_valleys": {False: Change(settings={"weigh_valleys": False})},
    "rank": {value: Change(settings={"rank": value}) for value in (30, 100)},
    "neighbors": {value: Change(settings={"neighbors": value}) for value in (7, 15)},
    "sparse_neighbors": {value: Change(settings={"sparse_neighbors": value}) for value in (10, 30)},
    "silent": {value: Change(settings={"silent": value}) for value in (0.0, 0.4)},
    "label_price": {value: Change(search={"label_price": value}) for value in (0.0, 0.1, 0.4)},
    "farther": {value: Change(search={"farther": value}) for value in (1.0, 1.4, 1.6, 2.0)},
    "least_information": {value: Change(search={"least_information": value}) for value in (0.8, 0.95)},
    "background": {value: Change(search={"background": value}) for value in (0.02, 0.1)},
    "noise_level": {value: Change({"noise_level": value}) for value in (0.1, 0.4)},
    "scaling": {"standard": Change({"scaling": "standard"})},
}
OF_TREATMENT = ["exponent", "tolerated", "weigh_noise", "soft_rows", "weigh_valleys", "rank", "noise_level", "scaling"]
DEFAULT = "default"
NEAREST = 10  # neighbours that are compared


def accuracy(change: Change, data: Dataset, views: Views) -> float:
    """Return the ACC of OCBR with a change."""
    return score(change.method, views, data, **change.params)["acc"]


def neighbor_purity(change: Change, data: Dataset, views: Views) -> float:
    """Return the share of neighbours that are of a sample's class, by the rows of all views; mean over the classes."""
    model = change.method(data.n_classes, **change.params)
    rows = make_layers(model._prepare(views)[1], None, model._settings).side_by_side()
    _, nearest = neighbors_of(rows, NEAREST)
    same = (data.labels[nearest] == data.labels[:, None]).mean(axis=1)
    return float(np.mean([same[data.labels == label].mean() for label in np.unique(data.labels)]))


MEASURES = {"accuracy": accuracy, "neighbors": neighbor_purity}


@cache
def data_set(name: str) -> Dataset:
    """Read a set from wherever it is."""
    folder = next(folder for folder in FOLDERS if (data_folder() / folder / f"{name}.npz").exists())
    return read_npz(data_folder() / folder / f"{name}.npz")


class Scores:
    """Mean score by change and set, and over the halves; kept in a file if one is given."""

    def __init__(self, measure: str, path: Path | None, halves: dict[str, tuple[str, ...]]) -> None:
        self.measure, self.path, self.halves = MEASURES[measure], path, halves
        lines = path.read_text().splitlines() if path and path.exists() else []
        self.known = {(row["change"], row["data"]): row["score"] for row in map(json.loads, lines)}

    def of(self, label: str, change: Change, name: str) -> float:
        """Return the score of a change on a set."""
        if (label, name) not in self.known:
            data = data_set(name)
            self.known[label, name] = float(np.mean([self.measure(change, data, noisy(data, d)) for d in DRAWS]))
            if self.path:
                with self.path.open("a") as file:
                    file.write(json.dumps({"change": label, "data": name, "score": self.known[label, name]}) + "\n")
        return self.known[label, name]

    def mean(self, label: str, change: Change, half: str) -> float:
        """Return the mean score of a change over one half of the sets."""
        return float(np.mean([self.of(label, change, name) for name in self.halves[half]]))


def choose(constant: str, half: str, scores: Scores) -> tuple[str, Change]:
    """Return the value of a constant that is best on one half; the default, if nothing is better."""
    candidates = {DEFAULT: Change()} | {f"{constant}={v}": change for v, change in CONSTANTS[constant].items()}
    return max(candidates.items(), key=lambda item: scores.mean(*item, half))


def merge(changes: list[Change]) -> Change:
    """Return all changes at once."""
    parts = ("params", "settings", "search")
    return Change(*({k: v for change in changes for k, v in getattr(change, part).items()} for part in parts))


def constants_table(constants: list[str], scores: Scores) -> None:
    """Print, for each constant and half, what was chosen and what it gives on the other half."""
    print("## Constants chosen on one half of the sets, and mean score on the other (default in brackets)\n")
    chosen: dict[str, list[tuple[str, Change]]] = {"A": [], "B": []}

    def rows() -> Iterator[list[object]]:
        for constant in constants:
            cells: list[object] = [constant]
            for half, other in (("A", "B"), ("B", "A")):
                label, change = choose(constant, half, scores)
                chosen[half].append((label, change))
                base = scores.mean(DEFAULT, Change(), other)
                cells += [label.removeprefix(f"{constant}="), f"{scores.mean(label, change, other):.3f} ({base:.3f})"]
            yield cells
        cells = ["all of these at once"]
        for half, other in (("A", "B"), ("B", "A")):
            label = " ".join(label for label, _ in chosen[half] if label != DEFAULT) or DEFAULT
            all_at_once = merge([change for _, change in chosen[half]])
            base = scores.mean(DEFAULT, Change(), other)
            cells += ["", f"{scores.mean(label, all_at_once, other):.3f} ({base:.3f})"]
        yield cells

    print_table(["constant", "chosen on A", "score on B", "chosen on B", "score on A"], rows())


def parts_table(parts: list[str], scores: Scores) -> None:
    """Print the mean score over each half for each change of the method with a word in `parts`."""
    print("## Parts of the method changed: mean score over each half\n")
    named = {name: change for name, change in CHANGES.items() if any(part in name for part in parts)}

    def rows() -> Iterator[list[object]]:
        for name, change in ({UNCHANGED: Change()} | named).items():
            label = DEFAULT if name == UNCHANGED else name
            yield [name, *(scores.mean(label, change, half) for half in scores.halves)]

    print_table(["change", *scores.halves], rows())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--constants", nargs="+", choices=CONSTANTS, default=[], metavar="NAME")
    parser.add_argument("--parts", nargs="+", default=[], metavar="WORD", help="changes of ablation.py")
    parser.add_argument("--by", choices=MEASURES, default="accuracy", help="what is compared")
    parser.add_argument("--quick", action="store_true", help=f"leave out {', '.join(SLOW)}")
    parser.add_argument("--out", type=Path, help="file in which to keep the fits; none by default")
    options = parser.parse_args()
    scores = Scores(options.by, options.out, halves(quick=options.quick))
    for half, names in scores.halves.items():
        print(f"{half}: {', '.join(names)}")
    with threadpool_limits(1):
        if options.parts:
            parts_table(options.parts, scores)
        if options.constants or not options.parts:
            usual = CONSTANTS if options.by == "accuracy" else OF_TREATMENT
            constants_table(options.constants or list(usual), scores)


if __name__ == "__main__":
    main()
