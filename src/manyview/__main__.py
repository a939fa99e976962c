"""`python -m manyview`: the command line."""

from manyview.cli import main

main()
