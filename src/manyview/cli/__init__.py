"""The command line: one file per command, named after it.

`app` brings the commands together, `terminal` prints, `parameters` creates estimators; `options`, `results` and
`running` hold what several commands share. Nothing here computes: a command parses its arguments, calls the package,
and writes the result.
"""

import sys

__all__ = ["main"]

INTERRUPTED = 130  # exit code


def main(words: list[str] | None = None) -> None:
    """Run the command line. Ctrl-C ends it without a traceback, also during the imports, which take up to a second."""
    try:
        from manyview.cli.app import main as run

        run(words)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
