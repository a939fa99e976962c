"""Whether clusters are associated with what else is known about the samples, tested column by column."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2, fisher_exact, kruskal, random_table

from manyview.checks import InputError, InputTypeError, a_type_of
from manyview.evaluation.columns import numbers_of, texts_of
from manyview.evaluation.p_values import adjust_p_values
from manyview.evaluation.ranks import compare_ranks
from manyview.numerics.division import or_one
from manyview.typing import Dense, Indices

if TYPE_CHECKING:
    import pandas as pd

PERMUTATIONS = 9999
BATCH = 1000  # random tables drawn at a time
NEARLY_UNIQUE = 0.5  # categories with more values than this share of the samples are names, not groups
LEAST_EXPECTED, USUAL_EXPECTED, MOST_SMALL = 1, 5, 0.2  # Cochran's rule for the chi-square approximation
_NAMES_IDS = re.compile(r"(.*[\s_.-])?(ids?|identifiers?|barcodes?|index|row|number|no|nr)", re.IGNORECASE)


@dataclass(frozen=True)
class Association:
    """The test of one column; see `associate`."""

    column: str
    kind: str
    n: int
    missing: int
    test: str = ""
    statistic: float = np.nan
    p_value: float = np.nan
    p_corrected: float = np.nan
    effect: float = np.nan
    effect_name: str = ""
    cluster: Any = None
    level: str | None = None
    inside: float = np.nan
    outside: float = np.nan
    left_out: str = ""


def associate(
    labels: ArrayLike, frame: pd.DataFrame, *, skip: Mapping[str, str] | None = None, seed: int = 0
) -> pd.DataFrame:
    """Test every column of a table against the clusters.

    Categories are tested by chi-square or, if expected counts are small, by Fisher's exact test (two by two) or 9,999
    random tables with the same margins. Their effect is Cramér's V. Numbers are tested by Kruskal-Wallis; their effect
    is epsilon squared. Whole numbers with at most 12 values count as categories.

    Parameters
    ----------
    labels : array (n_samples,)
        The clusters.
    frame : DataFrame
        One row per sample, in the same order. Missing values are left out of the test of their column.
    skip : mapping, optional
        Columns to leave out, each with the reason.
    seed : int, default=0
        Seed of the random tables.

    Returns
    -------
    DataFrame
        One row per column, smallest p-value first: `column`, `kind`, `n` (values), `missing`, `test`, `statistic`,
        `p_value`, `p_corrected` over all columns (Benjamini-Hochberg), `effect` from 0 to 1 and `effect_name`; the
        `cluster` that stands out most, for categories the `level` it has more or less of, and `inside` and `outside`,
        the shares of that level, or the medians of numbers. `left_out` says why a column was not tested.

    Notes
    -----
    The tests do not take into account how the clusters were found. For a column that is part of the clustered data, or
    was computed from them, the p-values are too small.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("ffffmmmm"), "site": ["a"] * 8})
    >>> found = associate([0, 0, 0, 0, 1, 1, 1, 1], frame)
    >>> found[["column", "test", "effect", "left_out"]].values.tolist()
    [['sex', 'Fisher', 1.0, ''], ['site', '', nan, 'constant']]
    """
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise InputTypeError(f"frame is {a_type_of(frame)}; give a DataFrame with one row per sample.")
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    if codes.ndim != 1 or len(codes) != len(frame):
        raise InputError(f"Got {codes.size} labels for {len(frame)} rows of the table; give one row per sample.")
    skip = skip or {}
    tested = [
        _test_column(str(name), values, codes, reason=skip.get(str(name), ""), seed=seed)
        for name, values in frame.items()
    ]
    p_corrected = adjust_p_values([found.p_value for found in tested])
    order = np.lexsort((-np.array([found.effect for found in tested], dtype=float), p_corrected))
    rows = [
        replace(tested[i], p_corrected=float(p_corrected[i]), cluster=_named(names, tested[i].cluster)) for i in order
    ]
    found = pd.DataFrame([asdict(row) for row in rows], columns=list(Association.__dataclass_fields__))
    return found.assign(cluster=pd.Series([row.cluster for row in rows], dtype=object))  # keeps whole numbers whole


def _named(names: NDArray[Any], cluster: int | None) -> Any:
    return None if cluster is None else names[cluster].item()


def _test_column(name: str, values: pd.Series, labels: Indices, *, reason: str, seed: int) -> Association:
    numbers = numbers_of(values)
    numeric = numbers is not None
    every: NDArray[Any] = texts_of(values).to_numpy(dtype=object) if numbers is None else numbers
    observed = _observed(every)
    kept, here = every[observed], labels[observed]
    kind = "numbers" if numeric else "categories"
    found = Association(name, kind, n=len(kept), missing=len(every) - len(kept))
    reason = reason or _reason_to_leave_out(name, kept, here, numeric)
    if reason:
        return replace(found, left_out=reason)
    clusters, codes = np.unique(here, return_inverse=True)
    test = _test_numbers(kept, codes) if numeric else _test_categories(kept, codes, seed)
    return replace(found, **test | {"cluster": int(clusters[test["cluster"]])})


def _observed(values: NDArray[Any]) -> NDArray[np.bool_]:
    import pandas as pd

    return np.asarray(pd.notna(values))


def _reason_to_leave_out(name: str, values: NDArray[Any], labels: Indices, numeric: bool) -> str:
    """Return why testing a column is impossible or meaningless; empty if it can be tested."""
    levels, n = len(np.unique(values)), len(values)
    if n == 0:
        return "no values"
    if levels == 1:
        return "constant"
    if len(np.unique(labels)) == 1:
        return "known in one cluster only"
    if levels == n and (not numeric or _are_ids(name, values)):
        return "ids: all values differ"
    if not numeric and levels > NEARLY_UNIQUE * n:
        return f"nearly unique: {levels:,} values in {n:,} samples"
    return ""


def _are_ids(name: str, numbers: Dense) -> bool:
    """Return whether whole numbers, all different, are ids: their name says so, or they have no gaps."""
    whole = bool(np.all(numbers == np.round(numbers)))
    return whole and (_NAMES_IDS.fullmatch(name.strip()) is not None or np.ptp(numbers) == len(numbers) - 1)


# Numbers -----------------------------------------------------------------------------------------------


def _test_numbers(values: Dense, labels: Indices) -> dict[str, Any]:
    """Kruskal-Wallis, with epsilon squared = H / (n - 1)."""
    H, p = kruskal(*(values[labels == k] for k in range(labels.max() + 1)))
    k = int(np.argmax(np.abs(compare_ranks(values[:, None], labels).z)))
    return {
        "test": "Kruskal-Wallis",
        "statistic": float(H),
        "p_value": float(p),
        "effect": float(H / (len(values) - 1)),
        "effect_name": "ε²",
        "cluster": k,
        "inside": float(np.median(values[labels == k])),
        "outside": float(np.median(values[labels != k])),
    }


# Categories --------------------------------------------------------------------------------------------


def _test_categories(values: NDArray[Any], labels: Indices, seed: int) -> dict[str, Any]:
    levels, codes = np.unique(values.astype(str), return_inverse=True)
    counts = np.zeros((len(levels), labels.max() + 1), dtype=int)
    np.add.at(counts, (codes, labels), 1)
    test, statistic, p = independence_test(counts, seed)
    n = counts.sum()
    level, k = _stands_out(counts)
    inside, whole = counts[level, k] / counts[:, k].sum(), counts[level]
    return {
        "test": test,
        "statistic": statistic,
        "p_value": p,
        "effect": float(np.sqrt(statistic / (n * (min(counts.shape) - 1)))),
        "effect_name": "Cramér's V",
        "cluster": k,
        "level": str(levels[level]),
        "inside": float(inside),
        "outside": float((whole.sum() - whole[k]) / (n - counts[:, k].sum())),
    }


def independence_test(counts: NDArray[Any], seed: int = 0) -> tuple[str, float, float]:
    """Test a table of counts; return the name of the test, the chi-square statistic, and the p-value."""
    expected = _expected(counts)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    if expected.min() >= LEAST_EXPECTED and np.mean(expected < USUAL_EXPECTED) <= MOST_SMALL:
        rows, columns = counts.shape
        return "chi-square", statistic, float(chi2.sf(statistic, (rows - 1) * (columns - 1)))
    if counts.shape == (2, 2):
        return "Fisher", statistic, float(fisher_exact(counts)[1])
    return "permutation", statistic, _permutation_p_value(counts, statistic, seed)


def _permutation_p_value(counts: NDArray[Any], statistic: float, seed: int) -> float:
    """Return the share of random tables with the same margins whose chi-square is as large, counting this one."""
    drawn = random_table(counts.sum(axis=1), counts.sum(axis=0), seed=np.random.RandomState(seed))
    expected, least, larger = _expected(counts), statistic * (1 - 1e-9), 0
    for start in range(0, PERMUTATIONS, BATCH):
        tables = drawn.rvs(min(BATCH, PERMUTATIONS - start))
        larger += int(np.sum(((tables - expected) ** 2 / expected).sum(axis=(1, 2)) >= least))
    return (larger + 1) / (PERMUTATIONS + 1)


def _stands_out(counts: NDArray[Any]) -> tuple[int, int]:
    """Return the level and the cluster with the largest adjusted residual."""
    expected, n = _expected(counts), counts.sum()
    left = (1 - counts.sum(axis=1, keepdims=True) / n) * (1 - counts.sum(axis=0, keepdims=True) / n)
    residual = np.abs(counts - expected) / np.sqrt(or_one(expected * left))
    level, k = np.unravel_index(int(residual.argmax()), counts.shape)
    return int(level), int(k)


def _expected(counts: NDArray[Any]) -> Dense:
    return np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
