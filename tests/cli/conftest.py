"""A project of files to cluster."""

import pandas as pd
import pytest

from manyview import make_views


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Two CSV views with ids, and the true groups."""
    data = make_views(60, 3, (5, 8), noise=0.3, seed=1)
    ids = pd.Index([f"patient {i}" for i in range(60)], name="id")
    for name, X in data.views.items():
        pd.DataFrame(X, index=ids).to_csv(tmp_path / f"{name}.csv")
    pd.DataFrame({"group": data.labels}, index=ids).iloc[::-1].to_csv(tmp_path / "truth.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path
