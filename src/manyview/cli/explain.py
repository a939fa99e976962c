"""`manyview explain`: what the entries of summary.json mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated

import typer

from manyview.checks import InputError, quoted
from manyview.cli.terminal import print_line, print_table
from manyview.io.results import SUMMARY

ENTRIES = {
    "method": "Key of the method, as listed by 'manyview methods'.",
    "parameters": "All parameters of the method, given or default; the reference of its class describes them.",
    "seed": "Random seed. The same seed, files and versions give the same labels.",
    "files": "The files as they were named on the command line.",
    "reading": "How the files were read, where options say so: samples, id_column, missing and so on.",
    "n_samples": "Number of samples that were clustered or assigned.",
    "n_clusters": "Number of clusters: as given with -k, or as chosen with -k auto.",
    "n_landmarks": "Number of samples that were clustered; the others were assigned to their clusters afterwards.",
    "views": "The views, by name; in a summary of 'manyview predict', only the names.",
    "views.features": "Number of columns in the view.",
    "views.scaling": "How the columns were scaled: standard, soft, robust, unit or none (--scaling changes it).",
    "views.samples": "Number of samples that are in the view.",
    "views.missing_values": "Number of values that are missing in the view.",
    "views.kind": "The kind of data detected in the view, which decides how it is treated (--kind overrides it).",
    "views.why": "The evidence for the kind, and whether the view was cleaned of gross errors.",
    "views_missing": "Views of the model for which no file was given; all new samples are missing from them.",
    "model": "The file of the model that assigned the samples.",
    "imputation": "How missing values were filled in; null if they were not (ocbr needs no imputation).",
    "neighbor_recall": "Share of the true neighbours that an approximate search found, by graph; empty if exact.",
    "unmatched": "Samples that are missing from a file, by view.",
    "unmatched.count": "Number of samples that are missing from the file of the view.",
    "unmatched.first": "The first few of their ids.",
    "cluster_sizes": "Number of samples in each cluster, starting with cluster 0, the largest.",
    "confidence": "How certain the labels are, from the cluster probabilities (labels.csv has it per sample).",
    "confidence.mean": "Mean probability of the labels; if well calibrated, the share of labels that are right.",
    "confidence.doubtful": "Number of labels whose probability is below one half.",
    "converged": "Whether the iterations converged. If false, raise max_iter before you rely on the result.",
    "iterations": "Number of iterations; 0 if the method does not iterate.",
    "seconds": "Elapsed time in seconds of each step.",
    "seconds.read": "Reading the files.",
    "seconds.fit": "Clustering.",
    "seconds.repeats": "Clustering subsamples again (--repeats).",
    "seconds.without_batches": "Clustering again without using the batches, for comparison (--batch).",
    "versions": "Versions of Python and of the packages that the labels depend on.",
    "view_weights": "Share of each view in the result; they add up to 1. A view without information gets nearly 0.",
    "partition": "How ocbr found the partition.",
    "partition.objective": "J, the agreement of the views about the clusters; comparable only on the same data.",
    "partition.starts": "Number of partitions that the search tried, including splits and merges.",
    "partition.sweeps": "Number of passes over all samples.",
    "partition.converged": "Whether the search converged.",
    "partition.runner_up": "J of the first of the alternatives; null if there is none.",
    "partition.agreement": "Adjusted Rand index of the first of the alternatives with the result; 1 if there is none.",
    "alternatives": "Other partitions of nearly the same quality that ocbr found; may be empty.",
    "alternatives.separation": "How far apart its two nearest clusters are, from 0 to 1.",
    "alternatives.objective": "Its J, to compare with partition.objective.",
    "alternatives.price": "The price of labels it was found with; a higher price keeps smaller clusters.",
    "alternatives.difference": "How it differs from the result: which clusters it merges, and which it splits.",
    "selection": "How the number of clusters was chosen (-k auto): one value per candidate.",
    "selection.candidates": "The numbers of clusters that were tried.",
    "selection.separation": "How far apart the two nearest clusters are, from 0 to 1.",
    "selection.stability": "How well the least stable cluster is recovered from subsamples, from 0 to 1.",
    "selection.score": "The drop in separation to the next candidate, times squared stability and entropy of sizes.",
    "selection.eigengap": "Gap between eigenvalues, for comparison only; it is not used.",
    "selection.chosen": "The candidate with the highest score near the highest sum of scores; 1 without clusters.",
    "selection.suggestions": "Up to three candidates worth a look, best first: the best around each peak of the score.",
    "selection.halves": "How far apart the samples are when split in two, from 0 to 1.",
    "selection.by_chance": "The same for random data without clusters; 1 is chosen unless halves is clearly larger.",
    "levels": "Coarser and finer partitions; the method cut(k) of a saved model returns their labels.",
    "levels.n_clusters": "Their numbers of clusters.",
    "levels.separation": "How far apart the two clusters are that are merged next, from 0 to 1.",
    "stability": "What happened when random subsamples were clustered again (--repeats).",
    "stability.repeats": "Number of subsamples.",
    "stability.fraction": "Share of the samples in each subsample.",
    "stability.corrected": "Mean adjusted Rand index with the result: 1 means identical, 0 no better than chance.",
    "stability.verdict": "stable (at least 0.8), doubtful, or no better than noise (shuffled data score as high).",
    "stability.noise": "The same for data with shuffled features, which have no clusters.",
    "stability.together": "Share of pairs in the same cluster that stay together.",
    "stability.apart": "Share of pairs in different clusters that stay apart.",
    "stability.clusters": "Share of pairs that stay together, by cluster; if it is low, the cluster may not be real.",
    "stability.agreement": "Adjusted Rand index of each repeat.",
    "survival": "Survival by cluster (--survival).",
    "survival.log_rank": "Log-rank test statistic over all clusters.",
    "survival.p_value": "Its p-value: the chance of a difference this large if survival is unrelated to the clusters.",
    "survival.horizon": "Time up to which all clusters are observed; means are restricted to it.",
    "survival.missing": "Number of samples without a time or an event, which are left out.",
    "survival.clusters": "The survival of each cluster.",
    "survival.clusters.cluster": "The cluster.",
    "survival.clusters.n": "Number of its samples.",
    "survival.clusters.events": "Number of its events, such as deaths.",
    "survival.clusters.median": "Time by which half of its samples had the event; null if that was not reached.",
    "survival.clusters.mean": "Mean time without the event, up to the horizon.",
    "survival.clusters.mean_lower": "Lower limit of the mean, at 95% confidence.",
    "survival.clusters.mean_upper": "Upper limit of the mean, at 95% confidence.",
    "batches": "How well the batches are mixed within clusters (--batch).",
    "batches.column": "The column of the metadata that names the batches.",
    "batches.p_value": "The chance of a difference this large if batches are unrelated to the clusters.",
    "batches.misplaced": "Share of samples that come from a batch other than expected; 0 means perfect mixing.",
    "batches.misplaced_without": "The same for clusters found without using the batches.",
    "metrics": "Agreement with the labels given by --truth.",
    "metrics.acc": "Share of samples in the right cluster, under the best matching of clusters to classes.",
    "metrics.nmi": "Normalized mutual information: divided by the mean of the two entropies, from 0 to 1.",
    "metrics.ari": "Rand index corrected for chance: 1 means the same, 0 no better than chance.",
    "metrics.purity": "Share of samples in the majority class of their cluster; it rises with the number of clusters.",
    "metrics.f_score": "F1 score over pairs of samples; a pair counts as positive if both are in the same cluster.",
}
"""What each entry means. Names of views and positions in lists are left out: `views.kind`, `alternatives.price`."""


OF_NAMES = ("parameters", "reading", "versions", "views", "view_weights", "unmatched", "neighbor_recall")
"""Entries whose keys are names: of parameters, packages, views or graphs."""


def complete_entry(begun: str) -> list[tuple[str, str]]:
    """Return the entries that begin with this text, and what they mean, for shell completion."""
    return [(name, meaning) for name, meaning in ENTRIES.items() if name.startswith(begun)]


def explain(
    key: Annotated[
        str | None,
        typer.Argument(
            help="An entry, such as stability or stability.verdict; by default all entries.",
            autocompletion=complete_entry,
        ),
    ] = None,
) -> None:
    """Explain what an entry of summary.json means."""
    shown = ENTRIES if key is None else {name: ENTRIES[name] for name in find_entries(key)}
    if len(shown) == 1:
        print_line(f"{next(iter(shown))}: {next(iter(shown.values()))}")
        return
    print_table(("entry", "what it means"), list(shown.items()))


def find_entries(key: str) -> list[str]:
    """Return the entry of this name and those below it; nested entries are also found by their last word."""
    wanted = re.sub(r"\[\d*\]", "", key.strip().lower())
    found = [name for name in ENTRIES if name == wanted or name.startswith(f"{wanted}.")]
    found = found or [name for name in ENTRIES if name.rpartition(".")[2] == wanted] or entry_of_path(wanted)
    if not found:
        raise InputError(f"{key!r} is not an entry of {SUMMARY}{did_you_mean(wanted, ENTRIES)}")
    return found


def entry_of_path(path: str) -> list[str]:
    """Return the entry of a path with names of the user's own: `views.rna.kind`, or `view_weights.rna`."""
    first, _, rest = path.partition(".")
    inner = f"{first}.{rest.rpartition('.')[2]}"
    if inner in ENTRIES:
        return [inner]
    return [first] if rest and first in OF_NAMES else []


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a message: similar words, if there are any."""
    last_words = {name.rpartition(".")[2]: name for name in known}
    similar = [last_words[match] for match in get_close_matches(word.rpartition(".")[2], last_words)]
    return f"; did you mean {quoted(similar)}?" if similar else "; 'manyview explain' lists all entries."
