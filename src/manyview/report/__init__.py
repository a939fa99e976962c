"""Pictures of results. Needs the extra `manyview[plot]`."""

from manyview.report.plots import plot_affinity, plot_comparison

__all__ = ["plot_affinity", "plot_comparison"]
