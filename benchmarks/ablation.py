"""What each part of OCBR contributes: one part changed at a time, the rest at the defaults.

python benchmarks/ablation.py                # digits only
python benchmarks/ablation.py --files        # digits and the data sets in the folder MANYVIEW_DATA
python benchmarks/ablation.py --only wikipedia --parts narrow     # only these data sets and parts
python benchmarks/ablation.py --variants     # the paper's equations as printed, corrected, and balanced
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from common import digits, mean_scores, noisy, print_table, research_data, score
from manyview import OCBR, Dataset, PaperOCBR


@dataclass(frozen=True)
class Change:
    """Parameters and constants of OCBR, and constants of its search for the partition, all by name."""

    params: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    search: dict[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> type[OCBR]:
        """OCBR with these constants."""
        search = replace(OCBR._settings.search, **self.search)
        return type("OCBR", (OCBR,), {"_settings": replace(OCBR._settings, **self.settings, search=search)})


UNCHANGED = "all of it"
CHANGES = {
    UNCHANGED: Change(),
    "no gross errors E (noise level kept)": Change({"sparsity": 1e6}),
    "no shrinkage of the spectrum either": Change({"sparsity": 1e6, "noise_level": 1e-3}),
    "no higher noise level in narrow views": Change(settings={"narrowest": 1.0}),
    "every dense view cleaned": Change(settings={"tolerated": -1.0}),
    "no dense view cleaned": Change(settings={"tolerated": 1.0}),
    "features standardised": Change({"scaling": "standard"}),
    "features not scaled": Change({"scaling": "none"}),
    "rows U S instead of U S^0.5": Change(settings={"exponent": 1.0}),
    "directions not weighted by their signal": Change(settings={"weigh_noise": False}),
    "far-out samples not drawn in": Change(settings={"soft_rows": False}),
    "coordinates not weighted by their valleys": Change(settings={"weigh_valleys": False}),
    "basis of 30 instead of 60": Change({"n_components": 30}),
    "no rarity weights in sparse views": Change(settings={"rarity": False}),
    "no cleaning of sparse views": Change(settings={"clean_counts": False}),
    "10 neighbours in sparse views too": Change(settings={"sparse_neighbors": 10}),
    "joint graph, normalised cut": Change({"graph": "joint"}),
    "sum of graphs, normalised cut": Change({"graph": "sum"}),
    "blend of both, normalised cut": Change({"graph": "blend"}),
    "no splits and merges": Change(search={"rounds": 0}),
    "no price of labels": Change(search={"label_price": 0.0}),
    "always the candidate of the highest J": Change(search={"farther": 1e9}),
    "always the candidate that is farthest apart": Change(search={"farther": 1.0, "least_information": 0.0}),
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
        for name, change in CHANGES.items():
            if parts and name != UNCHANGED and not any(part in name for part in parts):
                continue
            results = []
            for data in data_sets:
                clean = score(change.method, data.views, data, **change.params)["acc"]
                draw_scores = (score(change.method, noisy(data, d), data, **change.params) for d in range(draws))
                results.append((clean, mean_scores(draw_scores)["acc"]))
            means = (np.mean(results[which], axis=0) for which in columns.values())
            yield [name, *("{:.3f} / {:.3f}".format(*pair) for pair in means)]

    print_table(["change", *columns], rows())


def variants_table(draws: int) -> None:
    """The paper's equations as printed and corrected, next to the balanced form."""
    print(f"## Variants, digits with 2 views: mean ACC / NMI; clean, and {draws} draws at 20 % corruption\n")
    chosen: dict[str, tuple[type, dict[str, Any]]] = {
        "printed": (PaperOCBR, {"variant": "printed"}),
        "corrected": (PaperOCBR, {}),
        "corrected, hard k-means bases as in the paper": (PaperOCBR, {"orthonormalize": "kmeans"}),
        "corrected, lambda_2 = 0": (PaperOCBR, {"graph_weight": 0.0}),
        "corrected, beta = 0": (PaperOCBR, {"consensus_weight": 0.0}),
        "corrected, lambda_2 = beta = 0": (PaperOCBR, {"graph_weight": 0.0, "consensus_weight": 0.0}),
        "balanced": (OCBR, {}),
    }
    data = digits(2)

    def rows() -> Iterator[list[object]]:
        for name, (method, params) in chosen.items():
            cells = []
            for which in ([None], range(draws)):
                r = mean_scores(score(method, noisy(data, draw), data, **params) for draw in which)
                cells.append(f"{r['acc']:.3f} / {r['nmi']:.3f}")
            yield [name, *cells]

    print_table(["variant", "clean", "20 % corrupted"], rows())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these files, including large ones")
    parser.add_argument("--parts", nargs="+", default=[], metavar="WORD", help="only changes with these words")
    parser.add_argument("--variants", action="store_true")
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    with threadpool_limits(1):
        if options.variants:
            variants_table(options.draws)
        else:
            data_sets = cases(files=options.files, only=options.only)
            parts_table(options.draws, data_sets, columns_of(data_sets, only=bool(options.only)), options.parts)


if __name__ == "__main__":
    main()
