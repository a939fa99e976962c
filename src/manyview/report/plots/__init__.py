"""The pictures of the report as matplotlib figures. Nothing here opens a window or writes a file.

To add a figure, write a function in the file for its topic and list its name below; `style` holds what all figures
share.
"""

from manyview.report.plots.clusters import plot_cluster_sizes, plot_embedding, plot_silhouette, plot_view_agreement
from manyview.report.plots.findings import plot_features, plot_markers, plot_survival
from manyview.report.plots.fits import plot_convergence, plot_corruption, plot_selection, plot_stability
from manyview.report.plots.graphs import plot_affinity, plot_comparison
from manyview.report.plots.levels import plot_levels

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
]
