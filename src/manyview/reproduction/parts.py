"""The parts of the paper: its tables and figures and our checks, each defined by a spec in `specs`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from manyview.checks import InputError, check_choice, helped_by, quoted
from manyview.experiments.spec import Experiment
from manyview.experiments.spec_file import read_spec
from manyview.methods import METHODS

PRINTED_TABLES = ("table-acc", "table-nmi", "table-consensus")
CHECKS = ("table-baselines", "table-ratio", "table-classes", "table-small")
TABLES = (*PRINTED_TABLES, *CHECKS)
FIGURES = ("figure-affinity", "figure-parameters")
PARTS = (*TABLES, *FIGURES)
DATASETS = ("digits", "awa", "nus")


def read_part(part: str) -> Experiment:
    """Read the spec of a table or figure."""
    return read_spec(Path(str(files("manyview.reproduction") / "specs" / f"{part}.toml")))


@helped_by("reproducing")
def select_parts(
    what: str, datasets: Sequence[str], methods: Sequence[str], repeats: int | None
) -> dict[str, Experiment]:
    """Return the experiment of each requested part; a part with none of the methods or data sets is left out.

    By default, the methods are the registered ones (in a check, all of its spec); other variants run only when they are
    named. Figures and checks never use more repeats than their spec says.
    """
    names = [check_choice("part of the paper", part, (*PARTS, "all")) for part in what.split(",")]
    chosen = {part: read_part(part) for part in (PARTS if "all" in names else names)}
    _check_known("data set", datasets, DATASETS, what)
    _check_known("method", methods, [name for part in chosen.values() for name in part.method_names], what)
    selected = {}
    for part, experiment in chosen.items():
        default = experiment.method_names if part in CHECKS else METHODS
        wanted = [name for name in experiment.method_names if name in (methods or default)]
        where = [d for d in DATASETS if d in experiment.dataset_names and (not datasets or d in datasets)]
        if wanted and where:
            n = repeats if repeats is None or part in PRINTED_TABLES else min(repeats, experiment.repeats)
            selected[part] = experiment.select(where, wanted, n)
    if not selected:
        raise InputError(
            f"{what} has no runs of {quoted(methods)} on {quoted(datasets)}; choose other methods or data."
        )
    return selected


def _check_known(kind: str, names: Sequence[str], known: Sequence[str], what: str) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(
            f"Unknown {kind} {quoted(unknown)} in {what}. Choose from: {quoted(dict.fromkeys(known), 20)}."
        )
