"""Reports on results: HTML pages (`render_report`, `render_comparison`), and their pictures as matplotlib figures.

A new figure is a function in `plots`; numbers that it shares with the page are computed in a separate file. The script
of a page is assembled from parts: first `page.js`, which all pages share, and last the one named after the page.
Nothing here changes a result. The figures need the extra `manyview[plot]` and are imported on first use.
"""

from typing import TYPE_CHECKING, Any

from manyview.report.comparison import render_comparison
from manyview.report.html import render_report

if TYPE_CHECKING:
    from manyview.report.plots import (
        plot_affinity,
        plot_cluster_sizes,
        plot_comparison,
        plot_convergence,
        plot_corruption,
        plot_embedding,
        plot_features,
        plot_levels,
        plot_markers,
        plot_selection,
        plot_silhouette,
        plot_stability,
        plot_survival,
        plot_view_agreement,
    )

__all__ = [
    "plot_affinity",
    "plot_cluster_sizes",
    "plot_comparison",
    "plot_convergence",
    "plot_corruption",
    "plot_embedding",
    "plot_features",
    "plot_levels",
    "plot_markers",
    "plot_selection",
    "plot_silhouette",
    "plot_stability",
    "plot_survival",
    "plot_view_agreement",
    "render_comparison",
    "render_report",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from manyview.report import plots
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error}; to draw figures: pip install 'manyview[plot]'.", name=error.name
        ) from error
    return getattr(plots, name)
