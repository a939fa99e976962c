"""How often n_clusters="auto" is correct, on synthetic data like the digits with 3 to 20 groups, and on real data.

    python benchmarks/selection.py                  # 40 draws, clean and with 20 % of the entries corrupted
    python benchmarks/selection.py --files          # the files in MANYVIEW_DATA and its folder omics
    python benchmarks/selection.py --nothing        # data without clusters: how often the answer is 1

A draw has 3 to 20 groups of about 100 samples each, with sizes of up to 1 : 3. They are anisotropic Gaussian clouds in
8 to 15 dimensions, seen in 2 to 4 views of 20 to 200 features: a random map of the clouds, bent by a sine, plus noise
with half the standard deviation of the signal. In each view half of the groups move closer together in pairs, different
ones in every view. All choices are made from the joint graph of the views recovered by OCBR, without labels. "eigengap"
and "stability" choose the number that maximises this criterion alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from common import digits, noisy, print_table, research_data, research_file
from manyview import OCBR, Dataset, Views, check_views, clustering_accuracy
from manyview.datasets.synthetic import spread_centres
from manyview.evaluation.noise import shuffle_columns
from manyview.methods import MultiViewClusterer
from manyview.partition.selection import Selection, clearly_above, compare_with_chance
from rivals import OMICS

SIZE = 200  # samples of data without clusters
FIRST_SEED = 1000  # earlier seeds were used to develop the rule
RANGES = {"3-6": range(3, 7), "7-12": range(7, 13), "13-20": range(13, 21), "all": range(3, 21)}


def draw(seed: int) -> Dataset:
    """Draw groups as described above."""
    rng = np.random.default_rng(seed)
    separation = rng.uniform(2.3, 3.1)
    k, q, n_views = int(rng.integers(3, 21)), int(rng.integers(8, 16)), int(rng.integers(2, 5))
    share = rng.uniform(1, 3, k)
    sizes = np.round(max(300, 100 * k) * share / share.sum()).astype(int)
    labels = np.repeat(np.arange(k), sizes)
    centres = spread_centres(k, q, rng) * separation
    within = np.concatenate([rng.standard_normal((size, q)) @ random_shape(q, rng) for size in sizes])
    order = rng.permutation(k)
    return Dataset(
        f"draw {seed}",
        Views([view(pull_together(centres, np.roll(order, -v))[labels] + within, rng) for v in range(n_views)]),
        labels,
    )


def random_shape(q: int, rng: np.random.Generator) -> np.ndarray:
    """Random axes with standard deviations from 0.15 to 1."""
    axes, _ = np.linalg.qr(rng.standard_normal((q, q)))
    return (axes * np.exp(rng.uniform(np.log(0.15), 0, q))).T


def pull_together(centres: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Move half of the centres, in pairs, to half of their distance."""
    moved = centres.copy()
    pairs = order[: 2 * max(1, len(order) // 4)].reshape(-1, 2)
    middle = centres[pairs].mean(axis=1, keepdims=True)
    moved[pairs] = (middle + centres[pairs]) / 2
    return moved


def view(Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Map to features, bend, and add noise."""
    H = Z @ rng.standard_normal((Z.shape[1], int(rng.integers(20, 201)))) / np.sqrt(Z.shape[1])
    X = H + 0.5 * np.sin(2 * H)
    return X + 0.5 * X.std(axis=0) * rng.standard_normal(X.shape)


def select(views: Views) -> Selection:
    """What fit does, without the partition."""
    model = OCBR("auto")
    return model._select(model._prepare(check_views(views)))


NOTHING = {
    "Gaussian, 2 columns": lambda n, rng: Views([rng.standard_normal((n, 2))]),
    "Gaussian, views of 5 and 20 columns": lambda n, rng: Views([rng.standard_normal((n, d)) for d in (5, 20)]),
    "Gaussian, one factor in both views": lambda n, rng: Views(one_factor(n, rng)),
    "uniform square": lambda n, rng: Views([rng.uniform(size=(n, 2))]),
    "digits, columns shuffled": lambda n, rng: shuffle_columns(digits(2).views[rng.permutation(2000)[:n]], rng),
}


def one_factor(n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Two views that vary mostly along one common direction."""
    shared = 5 * rng.standard_normal((n, 1))
    return [shared + rng.standard_normal((n, d)) for d in (5, 20)]


def is_one(model: MultiViewClusterer, views: Views) -> bool:
    """Return whether fit would choose one cluster; the rest of the choice takes longer and does not change that."""
    rows = model._rows_to_select_by(model._prepare(check_views(views)))
    return not clearly_above(*compare_with_chance(rows, seed=0))


def nothing_rows(draws: int) -> Iterator[list[object]]:
    for name, make in NOTHING.items():
        drawn = (make(SIZE, np.random.default_rng(seed)) for seed in range(FIRST_SEED, FIRST_SEED + draws))
        yield [name, sum(is_one(OCBR("auto"), views) for views in drawn)]


def choices(found: Selection) -> dict[str, int]:
    """Return the number by each rule."""
    return {
        "auto": found.chosen,
        "eigengap": int(found.candidates[found.eigengap.argmax()]),
        "stability": int(found.candidates[found.stability.argmax()]),
    }


def synthetic_rows(draws: int) -> Iterator[list[object]]:
    for name, corrupted in (("clean", False), ("20 % corrupted", True)):
        truth, made, acc = [], [], []
        for seed in range(FIRST_SEED, FIRST_SEED + draws):
            data = draw(seed)
            views = noisy(data, seed if corrupted else None)
            truth.append(data.n_classes)
            made.append(choices(select(views)))
            if seed < FIRST_SEED + 10:  # how hard the data are
                acc.append(clustering_accuracy(data.labels, OCBR(data.n_classes).fit(views).labels_))
        k = np.array(truth)
        for rule in made[0]:
            off = np.abs(np.array([choice[rule] for choice in made]) - k)
            correct = [f"{(off[np.isin(k, among)] == 0).mean():.2f}" for among in RANGES.values()]
            yield [name, rule, *correct, f"{(off <= 1).mean():.2f}", f"{np.mean(acc):.3f}"]


def real_data(most: int, only: Sequence[str] = ()) -> Iterator[Dataset]:
    """The files with classes and up to this many samples: images, text, cells and tumours."""
    omics = (research_file(f"{OMICS.folder}/{name}") for name in OMICS.names)
    wanted = (data for data in (*research_data(large=True), *omics) if data.name in only or not only)
    small = [data for data in wanted if data.views.n_samples <= most]
    yield from sorted(small, key=lambda data: data.views.n_samples)


def is_near(found: int, classes: int) -> bool:
    """Whether a number is within 30 % of the classes, or, below five classes, equal."""
    return found == classes if classes < 5 else abs(found - classes) <= 0.3 * classes


def file_rows(most: int, only: Sequence[str]) -> Iterator[list[object]]:
    near: dict[str, list[Sequence[bool]]] = {}
    for data in real_data(most, only):
        for name, draw_ in (("clean", None), ("20 % corrupted", 0)):
            found = select(noisy(data, draw_))
            rules = choices(found).values()
            numbers = [*([number] for number in rules), found.suggestions.tolist()]
            near.setdefault(name, []).append([any(is_near(k, data.n_classes) for k in some) for some in numbers])
            yield [data.name, data.views.n_views, name, data.n_classes, *rules, " ".join(map(str, numbers[-1]))]
    for name, hits in near.items():
        yield [f"within 30 %, of {len(hits)}", "", name, "", *np.sum(hits, axis=0)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--files", action="store_true", help="real data instead of synthetic")
    parser.add_argument("--most", type=int, default=10_000, help="samples of a file, for --files")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these files")
    parser.add_argument("--nothing", action="store_true", help="data without clusters instead")
    options = parser.parse_args()
    if options.nothing:
        print(f"## Of {options.draws} draws of {SIZE} samples, those in which OCBR chooses one cluster\n")
        print_table(("data without clusters", "one cluster"), nothing_rows(options.draws))
        return
    if options.files:
        columns = ("data", "views", "noise", "classes", "auto", "eigengap", "stability", "suggestions")
        print_table(columns, file_rows(options.most, options.only))
        return
    print(f"## Share of {options.draws} draws with the correct number, by the number of groups\n")
    columns = ("data", "rule", *RANGES, "all, within 1", "ACC of OCBR with the correct number (10 draws)")
    print_table(columns, synthetic_rows(options.draws))


if __name__ == "__main__":
    main()
