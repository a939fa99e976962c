"""The kernels that asv times still run; their times are asv's business."""

import importlib.util
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

PATH = Path(__file__).parents[1] / "benchmarks" / "asv" / "kernels" / "steps.py"
spec = importlib.util.spec_from_file_location("steps", PATH)
steps = importlib.util.module_from_spec(spec)
spec.loader.exec_module(steps)

KERNELS = [
    (suite, name)
    for suite in (steps.Neighbors, steps.Sweeps, steps.Graphs, steps.Fits)
    for name in vars(suite)
    if name.startswith(("time_", "peakmem_"))
]


@pytest.mark.parametrize(("suite", "name"), KERNELS, ids=lambda part: getattr(part, "__name__", part))
def test_a_kernel_runs(suite, name):
    with threadpool_limits():  # puts back what a kernel limits
        kernel = suite()
        kernel.setup(300)
        getattr(kernel, name)(300)
