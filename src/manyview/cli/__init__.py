"""The command line: one file per command, named after it.

`app` brings the commands together, `terminal` prints, `parameters` creates estimators; `options`, `results` and
`running` hold what several commands share. Nothing here computes: a command parses its arguments, calls the package,
and writes the result.
"""

from manyview.cli.app import main

__all__ = ["main"]
