"""Commands and output wrap between words only: `--report` is not broken after its hyphens."""

from pygments.lexer import RegexLexer
from pygments.token import Name, Whitespace
from sphinx.application import Sphinx


class WordLexer(RegexLexer):
    """Marks every word, so that the style sheet can keep it on one line."""

    name = "Words"
    tokens = {"root": [(r"\S+", Name), (r"\s+", Whitespace)]}  # noqa: RUF012 - as Pygments declares it


def setup(app: Sphinx) -> dict[str, bool]:
    """Use it for blocks without a language."""
    app.add_lexer("none", WordLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
