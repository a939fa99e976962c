"""Experiments: a spec becomes runs, each run a row in a store, and the rows a report.

`spec` (what to run) -> `runner` (a child process per run, `worker`) -> `store` (a row per run) -> `report` (tables).
`sources` finds methods and data sets, also those of users; `paper` holds the tables and figures of the paper.
"""

from manyview.experiments.spec import Experiment, Run, read_spec
from manyview.experiments.store import Store

__all__ = ["Experiment", "Run", "Store", "read_spec"]
