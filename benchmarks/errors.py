"""Clean data stay as they are, and errors are found where there are some: what OCBR reports as corrupted.

python benchmarks/errors.py                          # every labelled set of MANYVIEW_DATA and MANYVIEW_DATA/omics
python benchmarks/errors.py --only mfeat --by-view   # a row per view instead

The first columns are of the data as they are: how many views were cleaned, the largest share of a view's entries that
is reported as corrupted, and ACC with E and without. Where no view was cleaned, the tables are used exactly as they
are, whatever the noise level, so the fit without E is the same fit and is not repeated. The last columns are of one
draw with 20 % of the entries corrupted, dense views only: in sparse ones, all entries are weighted.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from ablation import Change
from common import data_folder, noisy, print_table, read_npz, score
from manyview import OCBR, Dataset, Views
from manyview.methods.ocbr.treatment import TreatedView

LEFT_OUT = ("awa_4000_5view", "hdigit", "mnist63k_4view")  # each takes as long as all the others
WITHOUT_E = Change(settings={"tolerated": 1.0})


@dataclass(frozen=True)
class Found:
    """What was reported in a view: as it is, and with errors at known places."""

    view: str
    cleaned: bool
    share_on_clean: float
    precision: float
    recall: float


def data_sets(only: Sequence[str]) -> Iterator[Dataset]:
    """The labelled sets in both folders, or those named."""
    patterns = ("*.npz", "omics/*.npz", "large/mnist63k_4view.npz")  # the only large one that is dense and has classes
    for path in sorted(path for pattern in patterns for path in data_folder().glob(pattern)):
        if path.stem in only or not (only or path.stem in LEFT_OUT):
            with np.load(path, allow_pickle=False) as archive:
                labelled = "labels" in archive
            if labelled:
                yield read_npz(path)


def treat(views: Views, n_clusters: int) -> list[TreatedView]:
    """Return the views as OCBR treats them, without the search for clusters that follows."""
    return OCBR(n_clusters)._prepare(views)[1].views


def found_in(data: Dataset) -> list[Found]:
    """Compare the reported entries of each view with those that were corrupted."""
    views = noisy(data, 0)
    clean, corrupted = (treat(given, data.n_classes) for given in (data.views, views))
    wrong = [X != Y for X, Y in zip(data.views.arrays, views.arrays, strict=True)]
    return [_found(*parts) for parts in zip(views.names, clean, corrupted, wrong, strict=True)]


def _found(name: str, clean: TreatedView, corrupted: TreatedView, wrong: np.ndarray) -> Found:
    share = clean.E.nnz / (clean.E.shape[0] * clean.E.shape[1])
    cleaned = "; cleaned" in clean.kind.reason
    if corrupted.kind.is_sparse:
        return Found(name, cleaned, share, np.nan, np.nan)
    reported = corrupted.E.toarray() != 0
    hits = float((wrong & reported).sum())
    return Found(name, cleaned, share, hits / max(reported.sum(), 1), hits / wrong.sum())


def accuracy(method: type, data: Dataset) -> float:
    """Return the ACC on the clean data; NaN if all samples are of one class."""
    return score(method, data.views, data)["acc"] if data.n_classes > 1 else np.nan


def by_view(sets: Iterator[Dataset]) -> None:
    """A row per view."""
    rows = (
        [data.name, found.view, found.share_on_clean, found.precision, found.recall]
        for data in sets
        for found in found_in(data)
    )
    print_table(["data", "view", "share reported on clean data", "precision at 20 %", "recall at 20 %"], rows)


def by_set(sets: Iterator[Dataset]) -> None:
    """A row per set: the clean data with E and without, and means over the views at 20 % corruption."""

    def rows() -> Iterator[list[object]]:
        for data in sets:
            found = found_in(data)
            cleaned = sum(view.cleaned for view in found)
            acc = accuracy(OCBR, data)
            without = accuracy(WITHOUT_E.method, data) if cleaned else acc
            dense = [(view.precision, view.recall) for view in found if not np.isnan(view.recall)]
            means = np.mean(dense, axis=0) if dense else (np.nan, np.nan)
            share = max(view.share_on_clean for view in found)
            yield [data.name, f"{cleaned} of {len(found)}", share, acc, without, *means]

    names = ["data", "views cleaned", "share reported", "ACC with E", "ACC without E", "precision at 20 %"]
    print_table([*names, "recall at 20 %"], rows())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these files, including large ones")
    parser.add_argument("--by-view", action="store_true", help="a row per view, without fits")
    options = parser.parse_args()
    print("## Clean data as they are, and errors found where 20 % of the entries are corrupted\n")
    with threadpool_limits(1):
        (by_view if options.by_view else by_set)(data_sets(options.only))


if __name__ == "__main__":
    main()
