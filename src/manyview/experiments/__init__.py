"""Experiments: a spec defines runs, each run leaves a row in a store, and the rows become tables.

`spec_file` reads a `spec` -> `runner` starts a child process (`worker`) per run -> `store` keeps one row per run ->
`results` groups the rows -> `result_tables` and `bench_report` write them. `sources` finds methods and data sets,
including those of users. The tables and figures of the paper belong in `reproduction`.
"""

from manyview.experiments.spec import Experiment, Run
from manyview.experiments.spec_file import read_spec
from manyview.experiments.store import Store

__all__ = ["Experiment", "Run", "Store", "read_spec"]
