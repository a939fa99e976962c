"""Survival of the clusters of tumours: -log10 of the log-rank p-value, the measure of the multi-omics literature.

    python benchmarks/survival.py            # the quick methods on four TCGA data sets in MANYVIEW_DATA/omics
    python benchmarks/survival.py --methods ocbr mfmsc --data tcga_lgg267
    python benchmarks/survival.py --peers    # other packages too, after `python benchmarks/peers/run.py setup`

1.30 is p = 0.05; larger is better. Every method finds as many clusters as there are known classes ("k"); where none are
known, each chooses the number itself, and the other packages get the number that OCBR chose. "known classes" is what
the true classes reach, "k-means" is k-means on all features, "sum of graphs" the cut of the views' summed neighbour
graphs. Survival is never shown to a method. The p-value is an approximation that is poor for clusters of a few samples;
the last column has the smallest size.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

sys.path.append(str(Path(__file__).parent / "peers"))  # its modules import each other by name

from cases import Case
from environments import HERE, Peer, read_peers
from runs import Adapters, FitLimits, fit

from common import SLOW_METHODS, SumOfGraphs, data_folder, print_table
from manyview import METHODS, OCBR, Views
from manyview.evaluation import compare_survival
from manyview.methods.base import AUTO
from manyview.preprocessing.scaling import scale_views

DATA = ("tcga_kidney737", "tcga_brca398", "tcga_lgg267", "tcga_kirc124_survival")
LIMITS = FitLimits(cpu_seconds=120, memory_mb=6144)
COLUMNS = ("data", "samples", "with survival", "method", "k", "-log10 p", "smallest cluster")


@dataclass(frozen=True)
class Study:
    """Views of patients, their survival, and their known classes, if any."""

    name: str
    views: Views
    time: np.ndarray
    event: np.ndarray
    classes: np.ndarray | None


def read_study(name: str) -> Study:
    with np.load(data_folder() / "omics" / f"{name}.npz", allow_pickle=False) as archive:
        keys = sorted(key for key in archive.files if key.startswith("view_") and key[5:].isdigit())
        views = Views({str(word): archive[key] for word, key in zip(archive["view_names"], keys, strict=True)})
        classes = archive["labels"] if len(np.unique(archive["labels"])) > 1 else None
        return Study(name, views, archive["time"].astype(float), archive["event"].astype(float), classes)


def k_means(study: Study, k: int) -> np.ndarray:
    """K-means on all standardised features together."""
    tables, _ = scale_views(study.views)
    return KMeans(k, n_init=10, random_state=0).fit_predict(np.hstack(tables))


def clusterings(study: Study, methods: list[str]) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Names, and how to get the labels."""
    classes = study.classes
    k = AUTO if classes is None else len(np.unique(classes))
    for key in methods:
        yield key, lambda key=key: METHODS[key](k, random_state=0).fit(study.views).labels_
    if classes is not None and k != AUTO:
        yield "k-means", lambda: k_means(study, int(k))
        yield "sum of graphs", lambda: SumOfGraphs(int(k)).fit_predict(study.views)
        yield "known classes", lambda: classes


def peer_clusterings(
    study: Study, peers: list[Peer], adapters: Adapters | None
) -> Iterator[tuple[str, Callable[[], np.ndarray | str]]]:
    """The same for other packages; labels, or a word if there are none."""
    if adapters is None:
        return
    classes = OCBR(AUTO).fit(study.views).labels_ if study.classes is None else study.classes
    case = Case(study.name, "clean", 0, study.views, classes)

    def labels_of(peer: Peer, method: str) -> np.ndarray | str:
        row = fit(case, adapters.of(peer), method, LIMITS)
        return np.array(row["labels"]) if "labels" in row else str(row["status"])

    for peer in peers:
        for method in peer.accuracy:
            yield f"{peer.name}: {method}", lambda peer=peer, method=method: labels_of(peer, method)


def rows(names: list[str], methods: list[str], peers: list[Peer], adapters: Adapters | None) -> Iterator[list[object]]:
    for study in map(read_study, names):
        known = int((~np.isnan(study.time) & ~np.isnan(study.event)).sum())
        for name, find in [*clusterings(study, methods), *peer_clusterings(study, peers, adapters)]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels = find()
            yield [study.name, study.views.n_samples, known, name, *measures(study, labels)]


def measures(study: Study, labels: np.ndarray | str) -> list[object]:
    """Number of clusters, -log10 p, and the smallest cluster; of a fit without labels, how it ended."""
    if isinstance(labels, str):
        return [None, labels, None]
    sizes = np.unique(labels, return_counts=True)[1]
    p = compare_survival(labels, study.time, study.event).p_value if len(sizes) > 1 else 1.0
    return [len(sizes), f"{-np.log10(p):.2f}", sizes.min()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--methods", nargs="+", choices=list(METHODS), default=[m for m in METHODS if m not in SLOW_METHODS]
    )
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--peers", nargs="*", metavar="PEER", help="other packages; without names, all that are there")
    parser.add_argument("--envs", type=Path, default=HERE / ".envs", help="folder of their environments")
    options = parser.parse_args()
    asked = [] if options.peers is None else read_peers(options.peers)
    peers = [peer for peer in asked if peer.pip and peer.is_ready(options.envs)]
    print("## Survival of the clusters\n")
    with ExitStack() as stack:
        adapters = stack.enter_context(Adapters(options.envs)) if peers else None
        print_table(COLUMNS, rows(options.data, options.methods, peers, adapters))


if __name__ == "__main__":
    main()
