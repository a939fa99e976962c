"""The report in words: what stands out, and a paragraph for a paper's methods section."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyview._version import __version__
from manyview.environment import versions
from manyview.methods import MultiViewClusterer
from manyview.report.summary import Summary
from manyview.views.container import Views


@dataclass(frozen=True)
class Source:
    """How a method is named in a text, and where it is published."""

    name: str
    cited: str
    reference: str


SOURCES = {
    "OCBR": Source(
        "orthogonal clustering basis reconstruction (OCBR)",
        "Wang and Wu, 2017",
        "Wang Y, Wu L. Beyond low-rank representations: orthogonal clustering basis reconstruction with optimized "
        "graph structure for multi-view spectral clustering. arXiv:1708.02288, 2017.",
    ),
    "MFMSC": Source(
        "spectral clustering of the concatenated views (MFMSC)",
        "Ng, Jordan and Weiss, 2001",
        "Ng AY, Jordan MI, Weiss Y. On spectral clustering: analysis and an algorithm. NIPS, 2001.",
    ),
    "MAASC": Source(
        "affinity aggregation for spectral clustering (MAASC)",
        "Huang, Chuang and Chen, 2012",
        "Huang HC, Chuang YY, Chen CS. Affinity aggregation for spectral clustering. CVPR, 2012.",
    ),
    "CCAMSC": Source(
        "spectral clustering in the subspace of canonical correlation analysis (CCAMSC)",
        "Chaudhuri et al., 2009",
        "Chaudhuri K, Kakade SM, Livescu K, Sridharan K. Multi-view clustering via canonical correlation analysis. "
        "ICML, 2009.",
    ),
    "CoTraining": Source(
        "co-trained spectral clustering (CoTraining)",
        "Kumar and Daumé III, 2011",
        "Kumar A, Daumé III H. A co-training approach for multi-view spectral clustering. ICML, 2011.",
    ),
    "RLRR": Source(
        "robust low-rank representation (RLRR)",
        "Xia et al., 2014",
        "Xia R, Pan Y, Du L, Yin J. Robust multi-view spectral clustering via low-rank and sparse decomposition. "
        "AAAI, 2014.",
    ),
    "RMSC": Source(
        "robust multi-view spectral clustering (RMSC)",
        "Xia et al., 2014",
        "Xia R, Pan Y, Du L, Yin J. Robust multi-view spectral clustering via low-rank and sparse decomposition. "
        "AAAI, 2014.",
    ),
    "PaperOCBR": Source(
        "orthogonal clustering basis reconstruction as published (PaperOCBR)",
        "Wang and Wu, 2017",
        "Wang Y, Wu L. Beyond low-rank representations: orthogonal clustering basis reconstruction with optimized "
        "graph structure for multi-view spectral clustering. arXiv:1708.02288, 2017.",
    ),
    "LRRGL": Source(
        "low-rank representation with multi-graph regularisation (LRRGL)",
        "Wang et al., 2016",
        "Wang Y, Zhang W, Wu L, Lin X, Fang M, Pan S. Iterative views agreement: an iterative low-rank based "
        "structured optimization method to multi-view spectral clustering. IJCAI, 2016. arXiv:1608.05560.",
    ),
}
SCALINGS = {
    "standard": "features were standardised",
    "robust": "features were standardised by mean and deviation without outliers",
    "unit": "samples were scaled to the same length",
    "none": "values were used as given",
}
TOLD_ELSEWHERE = ("n_clusters", "random_state")


def parameters(model: MultiViewClusterer) -> dict[str, Any]:
    """Return the parameters that say something about the result."""
    return {name: value for name, value in model.get_params().items() if name != "callback"}


def methods_paragraph(model: MultiViewClusterer, views: Views, stability: Any = None) -> str:
    """Describe the analysis as a methods section would."""
    sentences = (
        _data_sentence(views),
        _scaling_sentence(model, views),
        _missing_sentence(model, views),
        _method_sentence(model),
        _settings_sentence(model),
        _convergence_sentence(model),
        f"Stability was assessed by {stability.repeats} repetitions on resampled data."
        if stability is not None
        else "",
        f"Software: {listed([f'{name} {number}' for name, number in versions().items()])}.",
    )
    return " ".join(sentence for sentence in sentences if sentence)


def references(model: MultiViewClusterer) -> list[str]:
    """Return what to cite: the software, and the method."""
    name = "manyview: clustering of samples that are described by several views"
    source = SOURCES.get(type(model).__name__)
    return [f"The manyview developers. {name}. Version {__version__}.", *([source.reference] if source else [])]


def _data_sentence(views: Views) -> str:
    sizes = listed([f"{name} ({counted(X.shape[1], 'feature')})" for name, X in views.items()])
    return (
        f"{counted(views.n_samples, 'sample')}, described by {counted(views.n_views, 'view')}, were clustered: {sizes}."
    )


def _scaling_sentence(model: MultiViewClusterer, views: Views) -> str:
    ways = {model.scaling_[name] for name in views.names}
    if len(ways) == 1:
        return f"In all views, {SCALINGS[ways.pop()]}."
    return f"By view: {listed([f'in {name}, {SCALINGS[model.scaling_[name]]}' for name in views.names])}."


def _missing_sentence(model: MultiViewClusterer, views: Views) -> str:
    missing = sum(views.n_missing.values())
    if not missing:
        return ""
    in_model = type(model).__name__ == "OCBR"
    how = (
        "did not enter the fit, which counts observed values only"
        if in_model
        else "were filled in with the mean over the nearest samples that have them"
    )
    return f"Missing values ({percent(missing / (views.n_samples * views.shape[1]))} of all) {how}."


def _method_sentence(model: MultiViewClusterer) -> str:
    name = type(model).__name__
    source = SOURCES.get(name, Source(name, "", ""))
    cited = f" ({source.cited})" if source.cited else ""
    found = int(model.labels_.max()) + 1
    chosen = model.get_params()["n_clusters"] == "auto"
    how = ", a number chosen by the eigengap and by stability under resampling" if chosen else ""
    return (
        f"We used {source.name}{cited} as implemented in manyview {__version__}, with {counted(found, 'cluster')}{how}."
    )


def _settings_sentence(model: MultiViewClusterer) -> str:
    defaults = inspect.signature(type(model)).parameters
    changed = [
        f"{name} = {value}"
        for name, value in parameters(model).items()
        if name not in TOLD_ELSEWHERE and repr(value) != repr(defaults[name].default)
    ]
    settings = f"Set were {listed(changed)}; other" if changed else "Other"
    seed = model.get_params().get("random_state")
    return f"{settings} parameters were at their defaults, and the random seed was {seed}."


def _convergence_sentence(model: MultiViewClusterer) -> str:
    if model.n_iter_ <= 1:
        return ""
    ended = "converged after" if model.converged_ else "was stopped, before it had converged, after"
    return f"The algorithm {ended} {model.n_iter_} iterations."


def highlights(model: MultiViewClusterer, summary: Summary) -> list[str]:
    """Return what a reader should know first, a sentence each."""
    found = [_sizes_sentence(summary)]
    if summary.n_clusters > 1:
        found.append(
            f"{percent(summary.within)} of the links in the consensus graph join samples of the same cluster. Samples "
            f"with most of their links outside their own cluster: {summary.n_loose:,} "
            f"({percent(summary.n_loose / summary.n_samples)})."
        )
    found += [sentence for sentence in (_views_sentence(summary), _suspects_sentence(summary)) if sentence]
    if summary.stability is not None:
        values = summary.stability.clusters
        found.append(
            f"Over {summary.stability.repeats} repetitions on resampled data, the stability of the clusters ranges "
            f"from {np.nanmin(values):.2f} to {np.nanmax(values):.2f}."
        )
    if not model.converged_:
        found.append(
            f"Not converged: the algorithm stopped after {model.n_iter_} iterations. Look at the convergence below "
            "before you rely on this result."
        )
    return found


def _sizes_sentence(summary: Summary) -> str:
    low, high = int(summary.clusters.size.min()), int(summary.clusters.size.max())
    if summary.n_clusters == 1:
        return f"One cluster of {counted(high, 'sample')}."
    sizes = f"{low:,} to {high:,}" if high > low else f"{low:,}"
    return f"{summary.n_clusters} clusters of {sizes} samples."


def _views_sentence(summary: Summary) -> str:
    known = sorted((view.acc, view.name) for view in summary.agreement.views if view.acc is not None)
    if len(known) < 2:
        return ""
    (low, worst), *_, (high, best) = known
    return (
        f"The views, each clustered on its own, agree with the consensus to ACC {low:.2f} ({worst}) to "
        f"{high:.2f} ({best})."
    )


def _suspects_sentence(summary: Summary) -> str:
    if summary.suspects is None:
        return ""
    worst = max(summary.suspects.views, key=lambda view: view.share)
    total = sum(view.count for view in summary.suspects.views)
    where = f", most of all in {worst.name} ({percent(worst.share)} of it)" if len(summary.suspects.views) > 1 else ""
    return f"{counted(total, 'value')} do not look right{where}."


def counted(number: int, noun: str) -> str:
    """Write "1 sample", "2,000 samples"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(share: float) -> str:
    """Write a share as a percentage."""
    return "<0.1%" if 0 < share < 0.0005 else f"{share:.1%}"


def listed(items: list[str]) -> str:
    """Write "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
