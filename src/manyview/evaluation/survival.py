"""Survival by cluster: Kaplan-Meier curves, log-rank tests and restricted means. Needs `manyview[survival]`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from manyview.checks import InputError, quoted
from manyview.evaluation.p_values import adjust_p_values
from manyview.numerics.division import or_one
from manyview.typing import Dense, Indices, Mask

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
HOW_EVENTS = "give 1 for an event, such as a death, 0 for none (censored), and leave unknown ones empty"
TIMES_SHOWN = 6  # times at which the samples at risk are counted


@dataclass(frozen=True)
class Curve:
    """Survival of one cluster.

    `times`, `survival`, `lower` and `upper` are the Kaplan-Meier curve and its 95% band: each value holds from its time
    onward. `at_risk` counts the samples under observation at the times of `Survival.shown`. `median` is infinite if
    more than half survive. `mean` is the restricted mean survival time up to `Survival.horizon`, with its 95% interval.
    """

    cluster: Any
    n: int
    events: int
    times: Dense
    survival: Dense
    lower: Dense
    upper: Dense
    at_risk: Indices
    median: float
    mean: float
    mean_lower: float
    mean_upper: float


@dataclass(frozen=True)
class Pair:
    """The log-rank test of two clusters; `p_corrected` for all pairs (Benjamini-Hochberg)."""

    first: Any
    second: Any
    statistic: float
    p_value: float
    p_corrected: float


@dataclass(frozen=True)
class Survival:
    """Survival by cluster: the curves, the log-rank test of all clusters, and of each pair.

    Attributes
    ----------
    curves : list of Curve
        Kaplan-Meier curve, median and restricted mean of each cluster.
    statistic, p_value : float
        Log-rank test of all clusters.
    pairs : list of Pair
        Log-rank test of each pair of clusters, with corrected p-values.
    horizon : float
        The time up to which all clusters are observed; means are restricted to it.
    shown : array
        Times at which the numbers at risk are given.
    missing : int
        Samples without a time or an event; they are left out.
    without : list
        Clusters without any known survival.
    """

    curves: list[Curve]
    statistic: float
    p_value: float
    pairs: list[Pair]
    horizon: float
    shown: Dense
    missing: int
    without: list[Any]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cluster: samples, events, median, and the restricted mean with its interval."""
        import pandas as pd

        names = ("cluster", "n", "events", "median", "mean", "mean_lower", "mean_upper")
        return pd.DataFrame([{name: getattr(curve, name) for name in names} for curve in self.curves])


def compare_survival(labels: ArrayLike, time: ArrayLike, event: ArrayLike) -> Survival:
    """Compare survival between the clusters.

    Parameters
    ----------
    labels : array (n_samples,)
        The clusters.
    time : array (n_samples,)
        Time to the event or to the end of observation, at least 0; NaN if unknown.
    event : array (n_samples,)
        1 if the event was observed (the patient died), 0 if not (censored); NaN if unknown.

    Examples
    --------
    >>> time, event = [1, 2, 3, 4, 9, 9, 9, 9], [1, 1, 1, 1, 0, 0, 0, 1]
    >>> found = compare_survival([0, 0, 0, 0, 1, 1, 1, 1], time, event)
    >>> round(found.p_value, 4), found.horizon, [curve.mean for curve in found.curves]
    (0.0067, 4.0, [2.5, 4.0])
    """
    T, E = check_survival(time, event)
    L = np.asarray(labels)
    if L.shape != T.shape:
        raise InputError(f"Got {L.size} labels for {T.size} survival times; give one of each per sample.")
    known = ~(np.isnan(T) | np.isnan(E))
    names = np.unique(L[known])
    if len(names) < 2:
        raise InputError(f"Survival is known in {len(names)} cluster; comparing needs at least two.")
    return _compare(L[known], T[known], E[known].astype(bool), missing=int((~known).sum()), every=np.unique(L))


def check_survival(
    time: ArrayLike, event: ArrayLike, names: tuple[str, str] = ("time", "event")
) -> tuple[Dense, Dense]:
    """Return times and events as numbers, or raise; `names` are their columns. Raises if lifelines is not installed."""
    require_lifelines()
    T = _as_numbers(time, names[0], "give times as numbers, and leave unknown ones empty")
    E = _as_numbers(event, names[1], HOW_EVENTS)
    if T.shape != E.shape or T.ndim != 1:
        raise InputError(f"{names[0]} has shape {T.shape} and {names[1]} {E.shape}; give one of each per sample.")
    wrong = T[(T < 0) | np.isinf(T)]
    if len(wrong):
        raise InputError(
            f"The survival times in {names[0]!r} include {wrong[0]:g}; times must be 0 or more, and empty if unknown."
        )
    odd = np.unique(E[~np.isnan(E) & (E != 0) & (E != 1)])
    if len(odd):
        raise InputError(
            f"The events in {names[1]!r} include {quoted((f'{value:g}' for value in odd), 3)}; {HOW_EVENTS}."
        )
    if np.isnan(T).all():
        raise InputError(f"No survival time is known: {names[0]!r} is empty for all {T.size:,} samples; fill it in.")
    if not np.any(E[~np.isnan(T)] == 1):
        raise InputError(
            f"{names[1]!r} holds no event (1) with a known time, so survival cannot be compared; {HOW_EVENTS}."
        )
    return T, E


def require_lifelines(part: str = "lifelines") -> Any:
    """Import lifelines, or say how to install it."""
    try:
        return import_module(part)
    except ImportError as error:
        raise InputError(f'Survival needs lifelines: pip install "manyview[survival]" ({error}).') from error


def _as_numbers(values: ArrayLike, name: str, how: str) -> Dense:
    import pandas as pd

    given = pd.Series(values).astype(object)
    numbers = pd.to_numeric(given, errors="coerce").astype(float)
    wrong = given[numbers.isna() & given.notna()]
    if len(wrong):
        raise InputError(f"{name!r} holds {str(wrong.iloc[0])!r}, which is not a number; {how}.")
    return numbers.to_numpy()


def _compare(labels: NDArray[Any], T: Dense, E: Mask, *, missing: int, every: NDArray[Any]) -> Survival:
    statistics = require_lifelines("lifelines.statistics")
    names = np.unique(labels)
    horizon = min(float(T[labels == name].max()) for name in names)
    shown = _round_times(float(T.max()))
    overall = statistics.multivariate_logrank_test(T, labels, E)
    tests = {
        (a, b): statistics.logrank_test(T[labels == a], T[labels == b], E[labels == a], E[labels == b])
        for i, a in enumerate(names)
        for b in names[i + 1 :]
    }
    corrected = adjust_p_values([test.p_value for test in tests.values()])
    return Survival(
        curves=[_curve(name.item(), T[labels == name], E[labels == name], horizon, shown) for name in names],
        statistic=float(overall.test_statistic),
        p_value=float(overall.p_value),
        pairs=[
            Pair(a.item(), b.item(), float(test.test_statistic), float(test.p_value), float(p))
            for ((a, b), test), p in zip(tests.items(), corrected, strict=True)
        ],
        horizon=horizon,
        shown=shown,
        missing=missing,
        without=[name.item() for name in every if name not in names],
    )


def _curve(cluster: Any, T: Dense, E: Mask, horizon: float, shown: Dense) -> Curve:
    fitted = require_lifelines().KaplanMeierFitter(alpha=1 - CONFIDENCE).fit(T, E)
    band = fitted.confidence_interval_.to_numpy()
    times, survival = fitted.survival_function_.index.to_numpy(), fitted.survival_function_.to_numpy().ravel()
    mean, error = restricted_mean(fitted.event_table, times, survival, horizon)
    reach = norm.ppf((1 + CONFIDENCE) / 2) * error
    return Curve(
        cluster=cluster,
        n=len(T),
        events=int(E.sum()),
        times=times,
        survival=survival,
        lower=band[:, 0],
        upper=band[:, 1],
        at_risk=(T[None, :] >= shown[:, None]).sum(axis=1),
        median=float(fitted.median_survival_time_),
        mean=mean,
        mean_lower=max(mean - reach, 0.0),
        mean_upper=min(mean + reach, horizon),
    )


def restricted_mean(events: pd.DataFrame, times: Dense, survival: Dense, horizon: float) -> tuple[float, float]:
    """Return the area under a survival curve up to the horizon, and its standard error (Greenwood).

    The variance is the sum over event times t of (area after t)^2 d / (n (n - d)), with d events among n at risk.
    """
    inside = times < horizon
    steps = np.diff(np.r_[times[inside], horizon]) * survival[inside]
    after = np.cumsum(steps[::-1])[::-1]
    d, n = (events[name].to_numpy(dtype=float)[inside] for name in ("observed", "at_risk"))
    left = np.where(n > d, n * (n - d), np.inf)  # no area is left after the last event
    return float(steps.sum()), float(np.sqrt((after**2 * d / or_one(left)).sum()))


def _round_times(largest: float) -> Dense:
    """Return round times from 0 to the largest."""
    if largest == 0:
        return np.zeros(1)
    rough = largest / TIMES_SHOWN
    unit = 10.0 ** np.floor(np.log10(rough))
    step = next(factor * unit for factor in (1, 2, 2.5, 5, 10) if factor * unit >= rough * (1 - 1e-9))
    return np.arange(0, largest * (1 + 1e-9), step)
