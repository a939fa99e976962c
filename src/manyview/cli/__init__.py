"""The command line: one file per command, named after it.

`app` joins the commands, `terminal` prints, `parameters` makes estimators; `options`, `results` and `running` hold what
several commands share. Nothing here computes: a command parses its arguments, calls the package, and writes the result.
"""

from manyview.cli.app import main

__all__ = ["main"]
