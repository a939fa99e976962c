"""What all figures share: colours, markers, axes, and rendering."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from matplotlib.figure import Figure

from manyview.report.palette import CLUSTERS

INK, ACCENT, MUTED = "#1f2933", "#0b6e99", "#b8c4ce"
MARKERS = "o^sDvP"


def cluster_colour(k: int) -> str:
    """Return the colour of a cluster, as in the report."""
    return CLUSTERS["light"][k % len(CLUSTERS["light"])]


def cluster_marker(k: int) -> str:
    """Return the marker of a cluster, which changes each time the colours repeat."""
    return MARKERS[k // len(CLUSTERS["light"]) % len(MARKERS)]


def literal(name: object) -> str:
    """Escape dollar signs in a name, so that matplotlib does not read it as mathematics."""
    return str(name).replace("$", r"\$")


def rows_of_clusters(n_clusters: int, measure: str) -> tuple[Figure, Any]:
    """Return a figure with one row per cluster, the first on top."""
    figure = Figure(figsize=(5, 0.9 + 0.25 * n_clusters), layout="constrained")
    ax = figure.subplots()
    ax.set_yticks(range(n_clusters))
    ax.set_ylim(n_clusters - 0.4, -0.6)
    ax.set_xlabel(measure, fontsize=9, color=INK)
    ax.set_ylabel("cluster", fontsize=9, color=INK)
    tidy(ax)
    return figure, ax


def tidy(ax: Any) -> None:
    """Keep only the left and bottom axes, in muted colours."""
    ax.tick_params(labelsize=8, colors=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED)


def png_bytes(figure: Figure, dpi: int = 150) -> bytes:
    """Render a figure as PNG; afterwards its layout is final for other formats too."""
    for _ in range(3):  # images, titles and labels settle one after another
        figure.draw_without_rendering()
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()
