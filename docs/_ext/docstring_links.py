"""In docstrings, `docs/selection.md` names a page of the documentation; on the site it becomes a link to it."""

import re

from sphinx.util.typing import ExtensionMetadata

PAGE = re.compile(r"\bdocs/([\w-]+)\.md")


def setup(app) -> ExtensionMetadata:
    """Rewrite docstrings as they are read."""
    app.connect("autodoc-process-docstring", link_pages)
    return {"parallel_read_safe": True}


def link_pages(app, what, name, obj, options, lines) -> None:
    """Replace the names of pages by links, in place."""
    lines[:] = [PAGE.sub(r":doc:`/\1`", line) for line in lines]
