"""How certain a label is: the confidence of OCBR against the share of labels that are right.

python benchmarks/calibration.py                # error of the confidence on digits, omics and the other sets
python benchmarks/calibration.py reliability    # labels by confidence: how many, and how many of them are right
python benchmarks/calibration.py constants      # constants chosen on one half of the sets, and the error on the other

A label is right if its cluster is matched to the sample's class; clusters and classes are matched as for ACC. The error
(ECE) is the mean distance, over ten bins of confidence, between confidence and the share of right labels. "Links" is
the share of a sample's links in the consensus graph that stay in its cluster, which the report used before. "New" is
predict_proba for every other sample, after a fit to the rest. The sets are those of MANYVIEW_DATA; digits come with the
package.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from common import data_folder, digits, noisy, print_table, read_npz
from manyview import OCBR, Dataset
from manyview.evaluation.comparison import match_clusters
from manyview.partition import membership
from manyview.partition.membership import confidence
from tuning import FOLDERS, GROUPS

BINS = 10
DRAWS = (None, 0)  # clean, and one draw with 20 % of the entries corrupted
DIGITS = {"digits, 2 views": 2, "digits, 6 views": 6}
OMICS = ("bmmc_multiome500", "cbmc_cite", "nci60_4arrays", "pbmc1k_cite_inhouse", "scicar_a549", "tcga_brca398",
         "tcga_kidney737", "tcga_lgg267", "teaseq1262")  # fmt: skip
OTHERS = tuple(name for names in GROUPS.values() for name in names if name not in (*OMICS, "mfeat"))
TUNED = {**GROUPS, "cells": ("cbmc_cite", "scicar_a549", *GROUPS["cells"])}
HALVES = {half: tuple(n for names in TUNED.values() for n in names[start::2]) for half, start in (("A", 0), ("B", 1))}
WITNESSES = (1.0, 1.4, 2.0, 2.4, 2.8, 3.2, 4.0)
FALLS = (0.0, 0.15, 0.25, 0.35, 0.5)


@dataclass(frozen=True)
class Fit:
    """What a fit said about each sample, and which of its labels are right."""

    right: np.ndarray
    sure: np.ndarray
    links: np.ndarray
    evidence: np.ndarray  # log-probabilities over beta, from which other betas can be tried
    labels: np.ndarray

    def error(self, sure: np.ndarray | None = None) -> float:
        """Return the calibration error of the confidence, or of another one."""
        return calibration_error(self.sure if sure is None else sure, self.right)

    def error_with(self, beta: float) -> float:
        """Return the calibration error with another beta."""
        Q = np.exp(beta * (self.evidence - self.evidence.max(axis=1, keepdims=True)))
        return self.error(confidence(Q / Q.sum(axis=1, keepdims=True), self.labels))


@cache
def data_set(name: str) -> Dataset:
    """Read a set from wherever it is."""
    if name in DIGITS:
        return digits(DIGITS[name])
    folder = next(folder for folder in FOLDERS if (data_folder() / folder / f"{name}.npz").exists())
    return read_npz(data_folder() / folder / f"{name}.npz")


@cache
def fit(name: str, draw: int | None) -> Fit:
    """Fit OCBR with its defaults."""
    data = data_set(name)
    model = quietly_fitted(data, noisy(data, draw))
    z, n = model.labels_, len(model.labels_)
    W = model.affinity_
    shares = np.asarray(W @ np.eye(data.n_classes)[z])
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-12)
    evidence = np.log(np.maximum(model.membership_, 1e-300)) / model._calibration.beta
    return Fit(is_right(data.labels, z), confidence(model.membership_, z), shares[np.arange(n), z], evidence, z)


@cache
def error_of_new(name: str, draw: int | None) -> float:
    """Return the calibration error of every other sample, placed after a fit to the rest."""
    data = data_set(name)
    views = noisy(data, draw)
    fitted, new = np.arange(0, len(data.labels), 2), np.arange(1, len(data.labels), 2)
    frame = quietly_fitted(data, views[fitted]).to_frame(views[new])
    return calibration_error(frame["confidence"].to_numpy(), is_right(data.labels[new], frame["label"].to_numpy()))


def quietly_fitted(data: Dataset, views: object) -> OCBR:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return OCBR(data.n_classes).fit(views)


def is_right(truth: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return which labels agree with the class that their cluster is matched to."""
    class_of = match_clusters(pd.crosstab(labels, truth))
    return pd.Series(labels).map(class_of).to_numpy() == truth


def calibration_error(sure: np.ndarray, right: np.ndarray) -> float:
    """Return the expected calibration error: weighted by samples, over `BINS` bins of equal width."""
    each = np.full(len(sure), 1 / len(sure))
    return float(sum(share * abs(mean - correct) for share, mean, correct in bins(sure, right, each)))


def bins(sure: np.ndarray, right: np.ndarray, weights: np.ndarray) -> Iterator[tuple[float, float, float]]:
    """Yield the weight, the mean confidence and the share of right labels of each bin that is not empty."""
    of = np.minimum((sure * BINS).astype(int), BINS - 1)
    for k in np.unique(of):
        w = weights[of == k]
        yield float(w.sum()), float(sure[of == k] @ w / w.sum()), float(right[of == k] @ w / w.sum())


def errors_table() -> None:
    """Error of the confidence by set, before and after, clean and corrupted, and for new samples."""
    print("## Expected calibration error of OCBR, clean and with 20 % of the entries corrupted\n")
    measures = ("ACC", "confidence", "ECE", "ECE of links", "ECE of new")
    columns = [f"{measure}, {how}" for how in ("clean", "corrupted") for measure in measures]
    groups = {"digits": tuple(DIGITS), "omics": OMICS, "others": OTHERS}

    def rows() -> Iterator[list[object]]:
        for group, names in groups.items():
            found = {name: [value for draw in DRAWS for value in cells(name, draw)] for name in names}
            for name, values in found.items():
                yield [name, *values]
            yield [f"**mean of {group}**", *np.mean(list(found.values()), axis=0).tolist()]

    print_table(["data", *columns], rows())


def cells(name: str, draw: int | None) -> list[float]:
    """Return the measures of one set."""
    one = fit(name, draw)
    means = [float(one.right.mean()), float(one.sure.mean())]
    return [*means, one.error(), one.error(one.links), error_of_new(name, draw)]


def reliability_table() -> None:
    """Labels by confidence."""
    print("## Labels by confidence: share of the labels, and how many of them are right\n")
    groups = {f"{name}, {how}": (names, draw) for how, draw in (("clean", None), ("corrupted", 0))
              for name, names in (("digits", tuple(DIGITS)), ("omics", OMICS))}  # fmt: skip

    def rows() -> Iterator[list[object]]:
        for group, (names, draw) in groups.items():
            fits = [fit(name, draw) for name in names]
            sure, right = (np.concatenate([getattr(one, part) for one in fits]) for part in ("sure", "right"))
            weights = np.concatenate([np.full(len(one.right), 1 / len(one.right)) for one in fits])  # sets are equal
            for share, mean, correct in bins(sure, right, weights / weights.sum()):
                yield [group, share, mean, correct]

    print_table(["data", "share of labels", "mean confidence", "right"], rows())


def constants_table() -> None:
    """The two constants of beta, chosen on one half of the sets; each set counts clean and corrupted."""
    print("## Constants chosen on one half of the sets, and the mean error on the other\n")
    chosen = {half: min(product(WITNESSES, FALLS), key=lambda pair: mean_error(half, *pair)) for half in HALVES}
    default = (membership.WITNESSES, membership.FALL)

    def rows() -> Iterator[list[object]]:
        for half, other in (("A", "B"), ("B", "A")):
            pair, tried = chosen[half], {"chosen": chosen[half], "default": default, "one witness": (1.0, 0.0)}
            yield [half, str(pair[0]), str(pair[1]), *(mean_error(other, *constants) for constants in tried.values())]

    print_table(["chosen on", "witnesses", "fall", "error on the other", "default there", "beta = 1 there"], rows())


def mean_error(half: str, witnesses: float, fall: float) -> float:
    """Return the mean error over a half of the sets with other constants."""
    size = membership.NEIGHBORHOOD
    errors = [
        fit(name, draw).error_with(
            witnesses * (size / (size + len(data_set(name).labels) / data_set(name).n_classes)) ** fall
        )
        for name in HALVES[half]
        for draw in DRAWS
    ]
    return float(np.mean(errors))


TABLES = {"errors": errors_table, "reliability": reliability_table, "constants": constants_table}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=TABLES, default="errors")
    options = parser.parse_args()
    with threadpool_limits(1):
        TABLES[options.what]()


if __name__ == "__main__":
    main()
