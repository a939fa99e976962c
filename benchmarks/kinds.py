"""What a view is, and what treating it as something else does to OCBR.

python benchmarks/kinds.py                  # each kind of view treated as each other kind: mean ACC over the sets
python benchmarks/kinds.py --by neighbors   # the same, by the share of neighbours that are of a sample's class
python benchmarks/kinds.py coordinates      # the same data as principal components and as features

Both read the folders MANYVIEW_DATA and MANYVIEW_DATA/omics. The first leaves out sets of over 3,000 samples.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from ablation import Change
from common import data_folder, print_table, read_npz, score
from manyview import OCBR, Dataset, InputError, Views
from manyview.preprocessing.kinds import AFFINITIES, COMPOSITION, COORDINATES, COUNTS, FEATURES, KINDS, recognize_kinds
from manyview.preprocessing.scaling import scale_views
from tuning import MEASURES

TREATMENTS = (FEATURES, COORDINATES, COMPOSITION, COUNTS)  # all sparse kinds are treated like counts
MOST_SAMPLES = 3000
WITH_FEATURES = ("teaseq1262", "pbmc1k_cite_inhouse", "scicar_a549")
COMPONENTS = 50  # the number in the files


def data_sets() -> Iterator[Dataset]:
    """Every set of at most `MOST_SAMPLES` samples of several classes."""
    for path in sorted([*data_folder().glob("*.npz"), *data_folder().glob("omics/*.npz")]):
        with np.load(path, allow_pickle=False) as archive:
            labels = archive["labels"]
        usable = len(labels) <= MOST_SAMPLES and len(np.unique(labels)) > 1
        if usable:
            yield read_npz(path)


def score_as(data: Dataset, kinds: dict[str, str], measure: str) -> float:
    """Return the score with these views treated as these kinds; NaN if that is refused."""
    try:
        return MEASURES[measure](Change({"kinds": kinds}), data, data.views)
    except InputError:
        return float("nan")


def treatments_table(measure: str) -> None:
    """Kinds by row, treatments by column; the other views of a set are treated as usual."""
    print(f"## Views of each kind, treated as each kind: mean {measure} over the sets that have such a view\n")
    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for data in data_sets():
        recognized = recognize_kinds(data.views)
        for kind in {kind.name for kind in recognized.values()}:
            of_kind = [name for name, own in recognized.items() if own.name == kind]
            found[kind].append({way: score_as(data, dict.fromkeys(of_kind, way), measure) for way in TREATMENTS})
    usual = {kind: kind if kind in TREATMENTS else COUNTS for kind in KINDS} | {AFFINITIES: FEATURES}

    def rows() -> Iterator[list[object]]:
        for kind, sets in found.items():
            if sets:
                means = {other: float(np.mean([one[other] for one in sets])) for other in TREATMENTS}
                yield [kind, len(sets), *(f"**{v:.3f}**" if o == usual[kind] else v for o, v in means.items())]

    print_table(["kind (usual treatment in bold)", "sets", *(f"as {other}" for other in TREATMENTS)], rows())


def coordinates_table() -> None:
    """The RNA view as components and as features, by two routes.

    The file's components are of unscaled genes; as features, the genes are recognised as sparse, and rare ones count
    more. So the last columns compare the same weights of genes: treated as features, and as their components, of which
    the directions are weighted as well.
    """
    print("## RNA as principal components and as features: ACC of OCBR\n")

    def rows() -> Iterator[list[object]]:
        for name in WITH_FEATURES:
            path = data_folder() / "omics" / f"{name}.npz"
            data = read_npz(path)
            with np.load(path, allow_pickle=False) as archive:
                genes = archive["rna_features"]
            depth = abs(np.corrcoef(data.views.arrays[0][:, 0], np.count_nonzero(genes, axis=1))[0, 1])
            given, raw = score(OCBR, data.views, data)["acc"], with_rna(data, genes)
            weighted = with_rna(data, genes, kinds={"view_0": FEATURES})
            own = with_rna(data, own_components(genes))
            yield [name, given, raw, abs(given - raw), float(depth), weighted, own, abs(weighted - own)]

    routes = ["components in the file", "genes as recognised", "difference", "correlation of component 1 with depth"]
    print_table(["data", *routes, "genes as features", "components of these", "difference"], rows())


def with_rna(data: Dataset, rna: np.ndarray, **params: object) -> float:
    """Return the ACC with another table in place of the first view."""
    return score(OCBR, Views([rna, *data.views.arrays[1:]]), data, **params)["acc"]


def own_components(genes: np.ndarray) -> np.ndarray:
    """Return the leading components of genes scaled as OCBR scales features."""
    (scaled,), _ = scale_views(Views([genes]), "soft")
    U, s, _ = np.linalg.svd(scaled - scaled.mean(axis=0), full_matrices=False)
    return (U * s)[:, :COMPONENTS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["treatments", "coordinates"], default="treatments")
    parser.add_argument("--by", choices=MEASURES, default="accuracy", help="what is compared (see tuning.py)")
    options = parser.parse_args()
    with threadpool_limits(1):
        treatments_table(options.by) if options.what == "treatments" else coordinates_table()


if __name__ == "__main__":
    main()
