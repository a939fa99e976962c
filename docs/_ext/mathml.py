"""Formulas as MathML, which browsers draw themselves: no script and no network. docutils translates the LaTeX."""

import re

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import ExtensionError
from sphinx.util.typing import ExtensionMetadata


def setup(app) -> ExtensionMetadata:
    """Register the renderer, as `html_math_renderer = "mathml"`."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(translator, node) -> None:
    """Write a formula inside a line."""
    translator.body.append(translate(node, as_block=False))
    raise SkipNode


def block(translator, node) -> None:
    """Write a formula on a line of its own, which scrolls if it is too wide."""
    translator.body.append(f'<div class="formula">{translate(node, as_block=True)}</div>\n')
    raise SkipNode


def translate(node, *, as_block: bool) -> str:
    """Return the MathML of a formula; what docutils does not know is an error, not an empty place on the page."""
    try:
        return close_bars(tex2mathml(node.astext(), as_block=as_block))
    except SyntaxError as error:
        raise ExtensionError(f"{error} in the formula {node.astext()!r}") from error


def close_bars(mathml: str) -> str:
    """Set the bars of norms without the space of an operator; they may open or close, which browsers cannot know."""
    return re.sub(r"<mo[^>]*>\|</mo>", '<mo lspace="0" rspace="0" stretchy="false">|</mo>', mathml)
