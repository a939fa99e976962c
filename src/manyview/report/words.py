"""The report in words: the main findings, and a paragraph for the methods section of a paper."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from manyview._version import __version__
from manyview.checks import plural
from manyview.environment import versions
from manyview.evaluation.batches import BatchMixing
from manyview.evaluation.findings import SIGNIFICANT, Findings
from manyview.evaluation.stability import Stability
from manyview.evaluation.survival import Survival
from manyview.methods import MultiViewClusterer
from manyview.partition.selection import Selection
from manyview.report.data import ReportData
from manyview.views.container import Views

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Publication:
    """The name of a method in running text, and its publication."""

    name: str
    cited: str
    reference: str


WANG_2017 = (
    "Wang Y, Wu L. Beyond low-rank representations: orthogonal clustering basis reconstruction with optimized graph "
    "structure for multi-view spectral clustering. arXiv:1708.02288, 2017."
)
XIA_2014 = (
    "Xia R, Pan Y, Du L, Yin J. Robust multi-view spectral clustering via low-rank and sparse decomposition. AAAI, "
    "2014."
)
PUBLICATIONS = {
    "OCBR": Publication("orthogonal clustering basis reconstruction (OCBR)", "Wang and Wu, 2017", WANG_2017),
    "PaperOCBR": Publication(
        "orthogonal clustering basis reconstruction as published (PaperOCBR)", "Wang and Wu, 2017", WANG_2017
    ),
    "MFMSC": Publication(
        "spectral clustering of the concatenated views (MFMSC)",
        "Ng, Jordan and Weiss, 2001",
        "Ng AY, Jordan MI, Weiss Y. On spectral clustering: analysis and an algorithm. NIPS, 2001.",
    ),
    "MAASC": Publication(
        "affinity aggregation for spectral clustering (MAASC)",
        "Huang, Chuang and Chen, 2012",
        "Huang HC, Chuang YY, Chen CS. Affinity aggregation for spectral clustering. CVPR, 2012.",
    ),
    "CCAMSC": Publication(
        "spectral clustering in the subspace of canonical correlation analysis (CCAMSC)",
        "Chaudhuri et al., 2009",
        "Chaudhuri K, Kakade SM, Livescu K, Sridharan K. Multi-view clustering via canonical correlation analysis. "
        "ICML, 2009.",
    ),
    "CoTraining": Publication(
        "co-trained spectral clustering (CoTraining)",
        "Kumar and Daumé III, 2011",
        "Kumar A, Daumé III H. A co-training approach for multi-view spectral clustering. ICML, 2011.",
    ),
    "RLRR": Publication("robust low-rank representation (RLRR)", "Xia et al., 2014", XIA_2014),
    "RMSC": Publication("robust multi-view spectral clustering (RMSC)", "Xia et al., 2014", XIA_2014),
    "LRRGL": Publication(
        "low-rank representation with multi-graph regularisation (LRRGL)",
        "Wang et al., 2016",
        "Wang Y, Zhang W, Wu L, Lin X, Fang M, Pan S. Iterative views agreement: an iterative low-rank based "
        "structured optimization method to multi-view spectral clustering. IJCAI, 2016. arXiv:1608.05560.",
    ),
}
SCALINGS = {
    "standard": "features were standardised",
    "soft": "features were divided by their standard deviation, and nearly constant ones by more",
    "robust": "features were standardised by a mean and standard deviation without outliers",
    "unit": "samples were scaled to the same length",
    "none": "values were used as given",
}
SELECTION_RULE = "separation of the clusters and by their stability under resampling"
MOST_NAMED = 4  # associations at the top of the page
LONGEST_NAME = 80  # characters of a name in a sentence
REPORTED_ELSEWHERE = ("n_clusters", "random_state")


def parameters(model: MultiViewClusterer) -> dict[str, Any]:
    """Return the parameters that affect the result."""
    return {name: value for name, value in model.get_params().items() if name != "callback"}


def methods_paragraph(model: MultiViewClusterer, views: Views, stability: Any = None) -> str:
    """Describe the analysis as a methods section would."""
    sentences = (
        _data_sentence(views),
        _scaling_sentence(model, views),
        _missing_sentence(model, views),
        _method_sentence(model),
        _settings_sentence(model),
        _neighbors_sentence(model),
        _convergence_sentence(model),
        "" if stability is None else _stability_sentence(stability),
        f"Software: {join_words([f'{name} {number}' for name, number in versions().items()])}.",
    )
    return " ".join(sentence for sentence in sentences if sentence)


def references(model: MultiViewClusterer) -> list[str]:
    """Return the references to cite: the software and the method."""
    name = "manyview: clustering of samples described by several views"
    source = PUBLICATIONS.get(type(model).__name__)
    return [f"The manyview developers. {name}. Version {__version__}.", *([source.reference] if source else [])]


def _data_sentence(views: Views) -> str:
    sizes = join_words([f"{name} ({plural(X.shape[1], 'feature')})" for name, X in views.items()])
    samples, n_views = plural(views.n_samples, "sample"), plural(views.n_views, "view")
    return f"{samples}, described by {n_views}, were clustered: {sizes}."


def _scaling_sentence(model: MultiViewClusterer, views: Views) -> str:
    ways = {model.scaling_[name] for name in views.names}
    if len(ways) == 1:
        return f"In all views, {SCALINGS[ways.pop()]}."
    return f"By view: {join_words([f'in {name}, {SCALINGS[model.scaling_[name]]}' for name in views.names])}."


def _missing_sentence(model: MultiViewClusterer, views: Views) -> str:
    missing = sum(model.n_missing_.values())
    if not missing:
        return ""
    how = (
        "were left out of the fit, which uses observed values only"
        if model.imputation_ is None
        else f"were replaced by the {model.imputation_}"
    )
    return f"Missing values ({percent(missing / (views.n_samples * views.shape[1]))} of all) {how}."


def _method_sentence(model: MultiViewClusterer) -> str:
    name = type(model).__name__
    source = PUBLICATIONS.get(name, Publication(name, "", ""))
    cited = f" ({source.cited})" if source.cited else ""
    found = int(model.labels_.max()) + 1
    chosen = model.get_params()["n_clusters"] == "auto"
    how = f", a number chosen by the {SELECTION_RULE}" if chosen else ""
    clusters = plural(found, "cluster")
    return f"We used {source.name}{cited} as implemented in manyview {__version__}, with {clusters}{how}."


def _settings_sentence(model: MultiViewClusterer) -> str:
    defaults = inspect.signature(type(model)).parameters
    changed = [
        f"{name} = {value}"
        for name, value in parameters(model).items()
        if name not in REPORTED_ELSEWHERE and repr(value) != repr(defaults[name].default)
    ]
    settings = f"Non-default parameters: {join_words(changed)}. Other" if changed else "All"
    seed = model.get_params().get("random_state")
    return f"{settings} parameters had their default values, and the random seed was {seed}."


def _neighbors_sentence(model: MultiViewClusterer) -> str:
    recall = model.neighbor_recall_.values()
    if not recall:
        return ""
    return f"Neighbours were searched approximately; {percent(min(recall))} or more of the true ones were found."


def _stability_sentence(stability: Stability) -> str:
    noise = f", and {stability.noise.mean():.2f} on data with shuffled features" if len(stability.noise) else ""
    return (
        f"Stability was assessed by {stability.repeats} repetitions on {percent(stability.fraction)} of the samples: "
        f"the adjusted Rand index was {stability.corrected:.2f} on average{noise}."
    )


def _convergence_sentence(model: MultiViewClusterer) -> str:
    if model.n_iter_ <= 1:
        return ""
    ended = "converged after" if model.converged_ else "was stopped, without having converged, after"
    return f"The algorithm {ended} {model.n_iter_} iterations."


def highlights(model: MultiViewClusterer, data: ReportData) -> list[str]:
    """Return the main findings, one sentence each."""
    found = [_sizes_sentence(data), *_number_sentences(model), *findings_sentences(data.findings, data.clustered)]
    if data.n_clusters > 1:
        found.append(
            f"{percent(data.within)} of the links in the consensus graph join samples of the same cluster. Labels "
            f"are {percent(data.membership.own.mean())} likely on average; below one half: {data.n_doubtful:,} "
            f"({percent(data.n_doubtful / data.n_described)})."
        )
    about = (_views_sentence(data), _suspects_sentence(data), _landmarks_sentence(data))
    found += [sentence for sentence in about if sentence]
    if data.stability is not None:
        values = data.stability.clusters
        found.append(
            f"The clusters are {data.stability.verdict}: over {data.stability.repeats} repetitions on resampled data, "
            f"their agreement corrected for chance (ARI) is {data.stability.corrected:.2f}, and the stability of a "
            f"cluster ranges from {np.nanmin(values):.2f} to {np.nanmax(values):.2f}."
        )
    if not model.converged_:
        found.append(
            f"Not converged: the algorithm stopped after {model.n_iter_} iterations. Check the convergence below "
            "before you rely on this result."
        )
    return found


def _landmarks_sentence(data: ReportData) -> str:
    if data.n_described == data.n_samples:
        return ""
    return (
        f"{data.n_described:,} of {data.n_samples:,} samples are landmarks, and only these have neighbours: the map, "
        "links, silhouettes, likelihoods, agreement of views and suspected entries are theirs. Sizes, levels, features "
        "and metadata count all samples."
    )


def _sizes_sentence(data: ReportData) -> str:
    low, high = int(data.clusters.size.min()), int(data.clusters.size.max())
    if data.n_clusters == 1:
        return f"One cluster of {plural(high, 'sample')}."
    sizes = f"{low:,} to {high:,} samples" if high > low else f"{plural(low, 'sample')} each"
    return f"{data.n_clusters} clusters of {sizes}."


def _number_sentences(model: MultiViewClusterer) -> list[str]:
    """Say why one cluster was chosen, if it was, or which other numbers of clusters may fit."""
    selection = model.selection_
    if selection is None:
        return []
    if selection.chosen > 1:
        others = other_numbers(selection)
        return [f"The number of clusters was chosen; {others}."] if others else []
    return [
        f"No clusters were found: the two best halves of the samples are {selection.halves:.2f} apart (at most 1), "
        f"and those of random data without clusters up to {selection.by_chance.max():.2f}."
    ]


def other_numbers(selection: Selection) -> str:
    """Say which other numbers of clusters may fit; empty if none, or if there are no clusters."""
    others = [str(k) for k in sorted(selection.suggestions) if k != selection.chosen]
    return f"{join_words(others)} may fit too" if others and selection.chosen > 1 else ""


def findings_sentences(findings: Findings, clustered: Collection[str] = ()) -> list[str]:
    """Say what the clusters are associated with: the strongest associations, survival, and batches.

    Columns that were `clustered` themselves do not count as findings.
    """
    found = []
    if findings.associations is not None:
        tested = findings.associations[findings.associations["left_out"] == ""]
        new = [table[~table["column"].isin(clustered)] for table in (findings.significant, tested)]
        found += _association_sentences(new[0], len(new[1]))
    if findings.survival is not None:
        found.append(_survival_sentence(findings.survival))
    if findings.batches is not None:
        found.append(_batches_sentence(findings.batches))
        if findings.batches_without is not None:
            found.append(_without_batches_sentence(findings.batches, findings.batches_without))
    return found


def _batches_sentence(mixing: BatchMixing) -> str:
    if mixing.p_value >= SIGNIFICANT:
        return f"Batches are mixed in the clusters as if by chance (p {p_text(mixing.p_value)})."
    k = int(np.argmax(mixing.misplaced - mixing.by_chance))
    return (
        f"Batches are not evenly mixed (p {p_text(mixing.p_value)}), least in cluster {mixing.clusters[k]}: "
        f"{percent(mixing.misplaced[k])} of its samples come from a batch other than expected; in random clusters, "
        f"{percent(mixing.by_chance[k])}."
    )


def _without_batches_sentence(mixing: BatchMixing, without: BatchMixing) -> str:
    return (
        f"Over all clusters, {percent(mixing.overall)} of the samples come from a batch other than expected; clustered "
        f"without using the batches, {percent(without.overall)}."
    )


def _association_sentences(significant: pd.DataFrame, tested: int) -> list[str]:
    """Name the strongest associations, each with the cluster that stands out and by how much."""
    if not tested:
        return ["No column of the metadata could be tested against the clusters."]
    if significant.empty and tested == 1:
        return ["The one tested column of the metadata is not associated with the clusters."]
    if significant.empty:
        return [f"None of the {plural(tested, 'tested column')} of the metadata is associated with the clusters."]
    number = f"{len(significant):,} {'is' if len(significant) == 1 else 'are'}"
    which = f"; the {MOST_NAMED} strongest follow" if len(significant) > MOST_NAMED else ""
    return [
        f"Of {plural(tested, 'tested column')} of the metadata, {number} associated with the clusters{which}.",
        *(_association_sentence(row) for row in significant.head(MOST_NAMED).to_dict("records")),
    ]


def _association_sentence(row: Mapping[Any, Any]) -> str:
    name, inside, outside = shortened(row["column"], LONGEST_NAME), row["inside"], row["outside"]
    if row["kind"] == "numbers":
        most = f"the median is {inside:.4g} in cluster {row['cluster']}, {outside:.4g} elsewhere"
    else:
        level = shortened(row["level"], LONGEST_NAME)
        most = f"“{level}” makes up {percent(inside)} of cluster {row['cluster']}, {percent(outside)} elsewhere"
    strength = f"{row['effect_name']} {row['effect']:.2f}, corrected p {p_text(row['p_corrected'])}"
    return f"{name}: {most} ({strength})."


def _survival_sentence(survival: Survival) -> str:
    test = f"(log-rank p {p_text(survival.p_value)})"
    if survival.p_value >= SIGNIFICANT:
        return f"Survival does not differ clearly between the clusters {test}."
    shortest, *_, longest = sorted(survival.curves, key=lambda curve: curve.mean)
    return (
        f"Survival differs between the clusters {test}: shortest in cluster {shortest.cluster}, longest in "
        f"{longest.cluster} (restricted means {shortest.mean:.4g} and {longest.mean:.4g})."
    )


def p_text(p: float) -> str:
    """Return a p-value for a sentence: "= 0.012", "= 3e-09", "< 1e-300"."""
    return "< 1e-300" if p < 1e-300 else f"= {p:.2g}"


def _views_sentence(data: ReportData) -> str:
    known = sorted((view.acc, view.name) for view in data.agreement.views if view.acc is not None)
    if len(known) < 2:
        return ""
    (low, worst), *_, (high, best) = known
    span = f"{low:.2f}"
    if span != f"{high:.2f}":
        span = f"{span} ({worst}) to {high:.2f} ({best})"
    return f"The views, each clustered on its own, agree with the consensus with an ACC of {span}."


def _suspects_sentence(data: ReportData) -> str:
    if data.suspects is None:
        return ""
    worst = max(data.suspects.views, key=lambda view: view.share)
    total = sum(view.count for view in data.suspects.views)
    if total == 0:
        return "No value looks corrupted."
    where = f", with the largest share in {worst.name} ({percent(worst.share)})" if len(data.suspects.views) > 1 else ""
    return f"{plural(total, 'value')} {'looks' if total == 1 else 'look'} suspect{where}."


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return "<0.1%" if 0 < share < 0.0005 else f"{share:.1%}"


def shortened(text: str, most: int) -> str:
    """Shorten a text that is too long for a name."""
    return text if len(text) <= most else text[: most - 1] + "…"


def join_words(items: list[str]) -> str:
    """Return "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
