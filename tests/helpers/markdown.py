"""Markdown pages, as the tests read them."""

import re
from functools import cache


@cache
def anchors(path):
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    prose = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
