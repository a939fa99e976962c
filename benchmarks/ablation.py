"""What each part of OCBR contributes: one part changed at a time, the rest at the defaults.

python benchmarks/ablation.py                # digits only
python benchmarks/ablation.py --files        # digits and the data sets in the folder MANYVIEW_DATA
python benchmarks/ablation.py --only wikipedia --parts narrow     # only these data sets and parts
python benchmarks/ablation.py --variants     # the paper's equations as printed, corrected, and balanced
python benchmarks/ablation.py --errors       # corrupted entries found: precision and recall
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

from common import digits, mean_scores, noisy, print_table, research_data, score
from manyview import OCBR, Dataset
from manyview.methods.ocbr import balanced, counts, recovery
from manyview.methods.ocbr.counts import CountCleaner
from manyview.partition import blockmodel
from manyview.partition.blockmodel import BlockModel

Change = tuple[dict[str, object], Callable[[], AbstractContextManager[object]]]


def constant(module: object, **values: object) -> Callable[[], AbstractContextManager[object]]:
    """Change constants of a module temporarily."""
    return lambda: patch.multiple(module, **values)


UNCHANGED = "all of it"
CHANGES: dict[str, Change] = {
    UNCHANGED: ({}, nullcontext),
    "no gross errors E (noise level kept)": ({"sparsity": 1e6}, nullcontext),
    "no shrinkage of the spectrum either": ({"sparsity": 1e6, "noise_level": 1e-3}, nullcontext),
    "no higher noise level in narrow views": ({}, constant(recovery, NARROWEST=1.0)),
    "cleaning never lenient": ({}, constant(recovery, MOST_LENIENT=1.0)),
    "rows U S instead of U S^0.75": ({}, constant(balanced, EXPONENT=1.0)),
    "basis of 30 instead of 60": ({"n_components": 30}, nullcontext),
    "no rarity weights in sparse views": ({}, constant(counts, rarity=lambda X: np.ones(X.shape[1]))),
    "no cleaning of sparse views": ({}, constant(CountCleaner, clean=lambda _, X: X)),
    "10 neighbours in sparse views too": ({}, constant(balanced, SPARSE_NEIGHBORS=10)),
    "graph term, lambda_2 = 0.7": ({"graph_weight": 0.7}, nullcontext),
    "consensus term, beta = 0.25": ({"consensus_weight": 0.25}, nullcontext),
    "consensus term, beta = 10": ({"consensus_weight": 10.0}, nullcontext),
    "joint graph, normalised cut": ({"graph": "joint"}, nullcontext),
    "joint graph, cut, lambda_2 = 0.7": ({"graph": "joint", "graph_weight": 0.7}, nullcontext),
    "sum of graphs, normalised cut": ({"graph": "sum"}, nullcontext),
    "blend of both, normalised cut": ({"graph": "blend"}, nullcontext),
    "block model without the joint layer": ({}, constant(balanced, JOINT_WEIGHT=1e-9)),
    "block model without soft starts": ({}, constant(BlockModel, relax=lambda _, z: z)),
    "block model without splits and merges": ({}, constant(BlockModel, split_and_merge=lambda *_: [])),
    "block model without a cost of labels": ({}, constant(blockmodel, LABEL_COST=0.0)),
}


def cases(*, files: bool, only: Sequence[str]) -> list[Dataset]:
    """The digits and, with `files`, the data sets of up to 1500 samples (larger ones take long); or those named."""
    if only:
        return list(research_data(only=only))
    small = (data for data in research_data() if data.views.n_samples <= 1500) if files else ()
    return [digits(2), digits(6), *small]


def columns_of(data_sets: Sequence[Dataset], *, only: bool) -> dict[str, slice]:
    """Map each column to the data sets it averages."""
    if only:
        return {data.name: slice(i, i + 1) for i, data in enumerate(data_sets)}
    columns = {"digits, 2 views": slice(0, 1), "digits, 6 views": slice(1, 2)}
    return columns | ({f"mean of {len(data_sets)} data sets": slice(None)} if len(data_sets) > 2 else {})


def parts_table(draws: int, data_sets: Sequence[Dataset], columns: dict[str, slice], parts: Sequence[str]) -> None:
    """Mean ACC of each column, clean and corrupted, for each change, or only for those with a word in `parts`."""
    print(f"## What each part contributes: ACC clean / mean of {draws} draws at 20 % corruption\n")

    def rows() -> Iterator[list[object]]:
        for name, (params, change) in CHANGES.items():
            if parts and name != UNCHANGED and not any(part in name for part in parts):
                continue
            results = []
            with change():
                for data in data_sets:
                    clean = score(OCBR, data.views, data, **params)["acc"]
                    corrupted = mean_scores(score(OCBR, noisy(data, d), data, **params) for d in range(draws))["acc"]
                    results.append((clean, corrupted))
            means = (np.mean(results[which], axis=0) for which in columns.values())
            yield [name, *("{:.3f} / {:.3f}".format(*pair) for pair in means)]

    print_table(["change", *columns], rows())


def variants_table(draws: int) -> None:
    """The paper's equations as printed and corrected, beside the balanced form."""
    print(f"## Variants, digits with 2 views: mean ACC / NMI; clean, and {draws} draws at 20 % corruption\n")
    chosen = {
        "printed": {"variant": "printed"},
        "corrected": {"variant": "corrected"},
        "corrected, hard k-means bases as in the paper": {"variant": "corrected", "orthonormalize": "kmeans"},
        "corrected, lambda_2 = 0": {"variant": "corrected", "graph_weight": 0.0},
        "corrected, beta = 0": {"variant": "corrected", "consensus_weight": 0.0},
        "corrected, lambda_2 = beta = 0": {"variant": "corrected", "graph_weight": 0.0, "consensus_weight": 0.0},
        "balanced": {},
    }
    data = digits(2)

    def rows() -> Iterator[list[object]]:
        for name, params in chosen.items():
            cells = []
            for which in ([None], range(draws)):
                r = mean_scores(score(OCBR, noisy(data, draw), data, **params) for draw in which)
                cells.append(f"{r['acc']:.3f} / {r['nmi']:.3f}")
            yield [name, *cells]

    print_table(["variant", "clean", "20 % corrupted"], rows())


def errors_table() -> None:
    """Entries that `corruption_` reports, compared with those that were corrupted."""
    print("## Corrupted entries found on digits, 20 % corrupted, draw 0\n")
    data = digits(6)
    views = noisy(data, 0)
    model = OCBR(10).fit(views)
    clean_model = OCBR(10).fit(data.views)
    rows = []
    for i, name in enumerate(views.names):
        wrong = views.arrays[i] != data.views.arrays[i]
        reported = model.corruption_[i].toarray() != 0
        hits = (wrong & reported).sum()
        false_share = clean_model.corruption_[i].nnz / wrong.size
        rows.append([name, hits / reported.sum(), hits / wrong.sum(), false_share])
    print_table(["view", "precision", "recall", "share reported on clean data"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these files, including large ones")
    parser.add_argument("--parts", nargs="+", default=[], metavar="WORD", help="only changes with these words")
    parser.add_argument("--variants", action="store_true")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    with threadpool_limits(1):
        if options.variants:
            variants_table(options.draws)
        if options.errors:
            errors_table()
        if not (options.variants or options.errors):
            data_sets = cases(files=options.files, only=options.only)
            parts_table(options.draws, data_sets, columns_of(data_sets, only=bool(options.only)), options.parts)


if __name__ == "__main__":
    main()
