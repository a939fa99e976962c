"""Colours of clusters and of scales, for light and dark backgrounds.

Every cluster colour has a contrast of at least 3 to 1 with its background, and can be distinguished from the others by
readers with colour vision deficiencies (tests/report/test_palette.py measures both). Beyond ten clusters the colours
repeat, with another marker.
"""

from __future__ import annotations

BACKGROUND = {"light": "#ffffff", "dark": "#16191d"}
CLUSTERS = {
    "light": (
        *("#1564a6", "#c35d04", "#22906c", "#b22935", "#8d65d8"),
        *("#473701", "#3b9bc8", "#db66a2", "#22356f", "#5f6062"),
    ),
    "dark": (
        *("#387ac7", "#e2842e", "#4cb984", "#d84952", "#b38ff3"),
        *("#cac44b", "#9ce2ff", "#f499c4", "#f3e3aa", "#828b95"),
    ),
}
# for numbers: the larger, the more contrast with the background
STEPS = {
    "light": ("#52bfb9", "#12aab9", "#0391b4", "#0577ae", "#235ca4", "#35428d", "#392b6f", "#35174f"),
    "dark": ("#65418a", "#5660b2", "#2883c9", "#11a4c2", "#07c3b8", "#68da9f", "#bce88b", "#fff19c"),
}


def css_variables(theme: str) -> str:
    """Return a theme as CSS variables: --c0, --c1, ... for clusters, --s0, --s1, ... for steps."""
    named = {"bg": BACKGROUND[theme]}
    named |= {f"c{i}": colour for i, colour in enumerate(CLUSTERS[theme])}
    named |= {f"s{i}": colour for i, colour in enumerate(STEPS[theme])}
    return "".join(f"--{name}:{colour};" for name, colour in named.items())
