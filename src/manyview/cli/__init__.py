"""The command line: one file per command, named after it.

`app` puts the commands together, `terminal` prints; `options`, `results` and `running` hold what several commands
share. Nothing here computes: a command reads its words, calls the package, and writes what comes back.
"""

from manyview.cli.app import main

__all__ = ["main"]
