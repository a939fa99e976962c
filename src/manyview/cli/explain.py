"""`manyview explain`: what the entries of summary.json mean."""

from __future__ import annotations

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
    "n_samples": "Number of samples that were clustered or assigned.",
    "n_clusters": "Number of clusters: as given with -k, or as chosen with -k auto.",
    "n_landmarks": "Number of samples that were clustered themselves; the others were placed (strategy landmarks).",
    "views": "The views, by name; in a summary of 'manyview predict', only the names.",
    "views.features": "Number of columns of the view.",
    "views.scaling": "How much each column counts: standard, soft, robust, unit or none (--scaling changes it).",
    "views.samples": "Number of samples that are in the view.",
    "views.missing_values": "Number of values that are missing in the view.",
    "views.kind": "The kind of data that was recognised, which decides the treatment (--kind overrides it).",
    "views.why": "The evidence for the kind, and whether the view was cleaned of gross errors.",
    "views_missing": "Views of the model for which no file was given: all new samples are absent from them.",
    "model": "The file of the model that assigned the samples.",
    "imputation": "How missing values were filled in; null if nothing was (ocbr needs no imputation).",
    "neighbor_recall": "Share of the true neighbours that an approximate search found, by graph; empty if exact.",
    "unmatched": "Samples that are missing from a file, by view: their number (count) and some ids (first).",
    "cluster_sizes": "Number of samples of each cluster: cluster 0 first, which is the largest.",
    "confidence": "How sure the labels are, from the probabilities of the clusters (labels.csv has it per sample).",
    "confidence.mean": "Mean probability of the labels; if it is calibrated, the share of them that is right.",
    "confidence.doubtful": "Number of labels whose probability is below one half.",
    "converged": "Whether the iterations ended by themselves. If false, raise max_iter before relying on the result.",
    "iterations": "Number of iterations of the method; 0 if nothing is iterated.",
    "seconds": "Elapsed seconds by step: read, fit, repeats.",
    "versions": "Versions of Python and of the packages that the labels depend on.",
    "view_weights": "Share of each view in the result; they add up to 1. A view without information gets nearly 0.",
    "partition": "How ocbr found the partition.",
    "partition.objective": "J, the agreement of the views about the clusters; comparable only on the same data.",
    "partition.starts": "Number of partitions that the search tried, splits and merges included.",
    "partition.sweeps": "Number of passes over all samples.",
    "partition.converged": "Whether the search ended by itself.",
    "partition.runner_up": "J of the best other partition that was found; null if there was none.",
    "partition.agreement": "Adjusted Rand index of that one with the result. If far below 1, look at alternatives_.",
    "alternatives": "Other partitions of nearly the same quality that ocbr found; none if the list is empty.",
    "alternatives.separation": "How far apart its two nearest clusters are, from 0 to 1.",
    "alternatives.objective": "Its J, to compare with that of the result.",
    "alternatives.price": "The price of labels that it was found with; a higher one keeps smaller clusters.",
    "alternatives.difference": "What it does with the clusters of the result: which it merges, which it splits.",
    "selection": "How the number of clusters was chosen (-k auto): one value per candidate.",
    "selection.candidates": "The numbers of clusters that were tried.",
    "selection.separation": "How far apart the two nearest clusters are, from 0 to 1.",
    "selection.stability": "How well the worst cluster is found again on subsamples, from 0 to 1.",
    "selection.score": "The drop of the separation to the next candidate, times the stability; the highest is chosen.",
    "selection.eigengap": "Gap of the eigenvalues, for comparison; it is not used.",
    "selection.chosen": "The candidate with the highest score; 1 if the data show no clusters.",
    "selection.halves": "How far apart the two halves of all samples are, from 0 to 1.",
    "selection.by_chance": "The same in random data without clusters; 1 is chosen unless halves are clearly above.",
    "levels": "Coarser and finer partitions; cut(k) of a saved model returns their labels.",
    "levels.n_clusters": "Their numbers of clusters.",
    "levels.separation": "How far apart the two clusters are that one cluster fewer merges, from 0 to 1.",
    "stability": "What happened when random subsamples were clustered again (--repeats).",
    "stability.repeats": "Number of subsamples.",
    "stability.fraction": "Share of the samples in each.",
    "stability.corrected": "Mean adjusted Rand index with the result: 1 is the same clusters, 0 no better than chance.",
    "stability.verdict": "stable (at least 0.8), doubtful, or no better than noise (shuffled data reach it as well).",
    "stability.noise": "The same on data with shuffled features, which have no clusters.",
    "stability.together": "Share of the pairs in the same cluster that stay together.",
    "stability.apart": "Share of the pairs in different clusters that stay apart.",
    "stability.clusters": "Share of the pairs that stay together, by cluster; a low one is hardly a cluster.",
    "stability.agreement": "Adjusted Rand index of each repeat.",
    "survival": "Survival of the clusters (--survival).",
    "survival.log_rank": "Statistic of the log-rank test of all clusters.",
    "survival.p_value": "Its p-value: how likely such a difference is if survival does not depend on the cluster.",
    "survival.horizon": "Time up to which all clusters are observed; means are restricted to it.",
    "survival.missing": "Samples without a time or an event; they are left out.",
    "survival.clusters": "By cluster: samples (n), events, median (null if not reached), and the restricted mean.",
    "batches": "How batches mix in the clusters (--batch).",
    "batches.column": "The column of the metadata that names the batches.",
    "batches.p_value": "How likely such a difference is if batches do not depend on the cluster.",
    "batches.misplaced": "Share of the samples that are of another batch than expected; 0 is perfect mixing.",
    "batches.misplaced_without": "The same for clusters that were found without regard to batches.",
    "metrics": "Agreement with the labels given by --truth.",
    "metrics.acc": "Share of samples in the right cluster, under the best matching of clusters to classes.",
    "metrics.nmi": "Mutual information divided by the mean of the entropies, from 0 to 1.",
    "metrics.ari": "Rand index corrected for chance: 1 means the same, 0 no better than chance.",
    "metrics.purity": "Share of samples of the majority class of their cluster; many clusters make it high.",
    "metrics.f_score": "F1 score over pairs of samples, positive if both are in the same cluster.",
}
"""What each entry means. An entry of a view is found under `views.`, without the name of the view."""


def complete_entry(begun: str) -> list[tuple[str, str]]:
    """Return the entries that begin like this, with what they mean, for the completion of the shell."""
    return [(name, meaning) for name, meaning in ENTRIES.items() if name.startswith(begun)]


def explain(
    key: Annotated[
        str | None,
        typer.Argument(
            help="An entry, such as stability or stability.verdict; all entries if none is given.",
            autocompletion=complete_entry,
        ),
    ] = None,
) -> None:
    """Say what an entry of summary.json means."""
    shown = ENTRIES if key is None else {name: ENTRIES[name] for name in find_entries(key)}
    if len(shown) == 1:
        print_line(f"{next(iter(shown))}: {next(iter(shown.values()))}")
        return
    print_table(("entry", "what it means"), list(shown.items()))


def find_entries(key: str) -> list[str]:
    """Return the entry of this name and those below it; entries below others are found by their last word as well."""
    wanted = key.strip().lower()
    found = [name for name in ENTRIES if name == wanted or name.startswith(f"{wanted}.")]
    found = found or [name for name in ENTRIES if name.rpartition(".")[2] == wanted]
    if not found:
        raise InputError(f"{key!r} is not an entry of {SUMMARY}{did_you_mean(wanted, ENTRIES)}")
    return found


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a message that names similar words, if there are any."""
    last_words = {name.rpartition(".")[2]: name for name in known}
    similar = [last_words[match] for match in get_close_matches(word.rpartition(".")[2], last_words)]
    return f"; did you mean {quoted(similar)}?" if similar else "; 'manyview explain' lists all of them."
