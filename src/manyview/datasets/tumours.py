"""Generated data of a tumour study: three omics views, clinical columns and survival, with known subtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from manyview.checks import check_int, check_real
from manyview.datasets.record import Dataset
from manyview.views.container import Views

if TYPE_CHECKING:
    import pandas as pd

DESCRIPTION = "Generated tumours of several subtypes in three omics views, with clinical columns and survival."
VIEWS = {"expression": ("gene", 120), "methylation": ("site", 80), "mirna": ("mir", 60)}
MARKED = 0.1  # share of the features that mark each subtype
SHIFT = 2.0  # of a feature that marks a subtype, in standard deviations
LONGEST_FOLLOW_UP = 120.0  # months
MEDIAN_SURVIVAL = (90.0, 12.0)  # months, of the mildest and of the worst subtype
UNKNOWN = 0.05  # share of the patients without age, stage or survival


def make_tumours(n_samples: int = 300, n_subtypes: int = 4, *, missing: float = 0.1, seed: int = 0) -> Dataset:
    """Draw a tumour study with known subtypes, for learning to read the report and for testing it.

    Parameters
    ----------
    n_samples : int, default=300
        Number of tumours.
    n_subtypes : int, default=4
        Number of subtypes, of about equal size.
    missing : float, default=0.1
        Share of the samples that lack the methylation view, and of others that lack the miRNA view; at most 0.5.
    seed : int, default=0
        Seed of the random draw; the same seed gives the same data.

    Returns
    -------
    Dataset
        The study, with `metadata`, one row per sample: `age` and `stage` rise with the subtype; `sex`, `centre` and
        `treatment` do not depend on it; in higher subtypes, `time` (months) is shorter and `event` (1 if the patient
        died) more frequent. Some entries are missing.

    Examples
    --------
    >>> tumours = make_tumours(100)
    >>> tumours.views
    Views(100 samples; features expression: 120, methylation: 80, mirna: 60)
    >>> list(tumours.metadata)
    ['age', 'sex', 'stage', 'centre', 'treatment', 'time', 'event']
    """
    import pandas as pd

    check_int("n_subtypes", n_subtypes, minimum=1)
    check_int("n_samples", n_samples, minimum=n_subtypes)
    check_real("missing", missing, minimum=0, maximum=0.5)
    check_int("seed", seed, minimum=0)
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n_samples) % n_subtypes)
    ids = pd.Index([f"T{i:04d}" for i in range(n_samples)], name="sample")
    drawn = {name: _draw_view(labels, width, rng) for name, (_, width) in VIEWS.items()}
    drawn["methylation"] = expit(drawn["methylation"])  # shares of methylated copies
    tables = {
        name: pd.DataFrame(X, ids, [f"{VIEWS[name][0]}{j:03d}" for j in range(X.shape[1])]) for name, X in drawn.items()
    }
    order, lost = rng.permutation(n_samples), round(missing * n_samples)
    tables["methylation"].iloc[order[:lost]] = np.nan
    tables["mirna"].iloc[order[lost : 2 * lost]] = np.nan
    return Dataset("tumours", Views(tables), labels, DESCRIPTION, _draw_metadata(labels, n_subtypes, ids, rng))


def _draw_view(labels: np.ndarray, width: int, rng: np.random.Generator) -> np.ndarray:
    """Draw standard normal features; some of them are shifted, up or down, in each subtype."""
    c = int(labels.max()) + 1
    shift = SHIFT * rng.choice([-1, 1], (c, width)) * (rng.random((c, width)) < MARKED)
    return rng.standard_normal((len(labels), width)) + shift[labels]


def _draw_metadata(labels: np.ndarray, c: int, ids: pd.Index, rng: np.random.Generator) -> pd.DataFrame:
    import pandas as pd

    n, worse = len(labels), labels / max(c - 1, 1)  # from 0, the mildest subtype, to 1
    frame = pd.DataFrame(
        {
            "age": (rng.normal(58, 10, n) + 8 * worse).round(1),
            "sex": rng.choice(["female", "male"], n),
            "stage": np.array(["I", "II", "III", "IV"])[rng.binomial(3, 0.2 + 0.5 * worse)],
            "centre": rng.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2]),
            "treatment": rng.choice(["surgery", "chemotherapy", "radiation"], n, p=[0.6, 0.3, 0.1]),
        },
        index=ids,
    )
    mild, worst = MEDIAN_SURVIVAL
    died = rng.exponential(mild * (worst / mild) ** worse / np.log(2))
    left = rng.uniform(LONGEST_FOLLOW_UP / 10, LONGEST_FOLLOW_UP, n)
    frame["time"], frame["event"] = np.minimum(died, left).round(1), (died <= left).astype(int)
    for column in ("age", "stage"):
        frame.loc[rng.random(n) < UNKNOWN, column] = np.nan
    frame["event"] = frame["event"].astype("Int64")
    frame.loc[rng.random(n) < UNKNOWN, ["time", "event"]] = pd.NA
    return frame
