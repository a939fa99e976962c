"""The README's example runs and prints what it promises."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_example_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len([line for line in code.splitlines() if line]) == 8
    exec(compile(code, str(README), "exec"), {})
    accuracy = float(re.search(r"ACC ([\d.]+)", capsys.readouterr().out)[1])
    assert accuracy > 0.96
