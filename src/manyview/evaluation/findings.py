"""What the clusters are associated with: everything a table about the samples can show, in one call."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from manyview.checks import InputError, helped_by, quoted
from manyview.evaluation.associations import associate
from manyview.evaluation.batches import BatchMixing, check_batches, mix_batches
from manyview.evaluation.survival import Survival, check_survival, compare_survival

if TYPE_CHECKING:
    import pandas as pd

SIGNIFICANT = 0.05  # corrected p-value


@dataclass(frozen=True)
class Questions:
    """What to ask of a table: the columns for survival (time and event) and for the batch, if any."""

    survival: tuple[str, str] | None = None
    batch: str | None = None

    @helped_by("findings")
    def check(self, metadata: pd.DataFrame | None) -> None:
        """Raise if a column is missing, or has the wrong content."""
        asked = [*(self.survival or ()), *([self.batch] if self.batch is not None else [])]
        if metadata is None:
            if asked:
                raise InputError(f"The columns {quoted(asked)} must be in the metadata; give a table that has them.")
            return
        for name in asked:
            _check_column(metadata, name)
        if self.survival is not None:
            time, event = self.survival
            if time == event:
                raise InputError(f"{time!r} is named as time and as event; name two different columns.")
            check_survival(column(metadata, time), column(metadata, event), self.survival)
        if self.batch is not None:
            check_batches(column(metadata, self.batch), self.batch)


def _check_column(metadata: pd.DataFrame, name: str) -> None:
    """Raise unless exactly one column has this name."""
    known = [str(column) for column in metadata.columns]
    if name not in known:
        raise InputError(f"The metadata have no column {name!r}. Choose from: {quoted(known, 20)}.")
    if known.count(name) > 1:
        raise InputError(f"The metadata have {known.count(name)} columns {name!r}; give each its own name.")


@dataclass(frozen=True)
class Findings:
    """What the clusters are associated with: the table of `associate`, survival, and the mixing of batches.

    `batches_without` is the mixing in the clusters of a fit that ignored the batches.
    """

    questions: Questions = Questions()
    associations: pd.DataFrame | None = None
    survival: Survival | None = None
    batches: BatchMixing | None = None
    batches_without: BatchMixing | None = None

    @property
    def significant(self) -> pd.DataFrame:
        """Return the associations with a corrected p-value below 0.05, smallest first."""
        if self.associations is None:
            raise InputError("No metadata were given, so nothing was tested.")
        return self.associations[self.associations["p_corrected"] < SIGNIFICANT]


def relate(
    labels: ArrayLike,
    metadata: pd.DataFrame | None,
    questions: Questions | None = None,
    *,
    without_batches: ArrayLike | None = None,
    seed: int = 0,
) -> Findings:
    """Test every column of the metadata, and compare survival and batches if requested.

    `without_batches` are the labels of a fit that ignored the batches, if there is one.
    """
    questions = questions or Questions()
    questions.check(metadata)
    if metadata is None:
        return Findings(questions)
    if len(np.unique(np.asarray(labels))) < 2:
        warnings.warn("There is only one cluster, so the metadata were not compared with it.", stacklevel=2)
        return Findings(questions)
    batch = None if questions.batch is None else column(metadata, questions.batch)
    return Findings(
        questions,
        associate(labels, metadata, skip=dict.fromkeys(questions.survival or (), "compared as survival"), seed=seed),
        None if questions.survival is None else _survival(labels, metadata, *questions.survival),
        None if batch is None else mix_batches(labels, batch, seed=seed),
        None if batch is None or without_batches is None else mix_batches(without_batches, batch, seed=seed),
    )


def _survival(labels: ArrayLike, metadata: pd.DataFrame, time: str, event: str) -> Survival | None:
    """Compare survival; warn instead of raising, because by now the clusters exist and must not be lost."""
    times, events = column(metadata, time), column(metadata, event)
    known = (times.notna() & events.notna()).to_numpy()
    if len(np.unique(np.asarray(labels)[known])) < 2:
        warnings.warn("Survival is known in only one cluster, so it was not compared.", stacklevel=2)
        return None
    return compare_survival(labels, times, events)


def column(metadata: pd.DataFrame, name: str) -> pd.Series:
    """Return a column by its name as text."""
    return metadata.iloc[:, [str(known) for known in metadata.columns].index(name)]
