"""Turn command-line arguments into an estimator with its parameters."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from manyview.checks import InputError, helped_by, quoted, shown
from manyview.methods import MultiViewClusterer, get_method
from manyview.methods.base import AUTO
from manyview.preprocessing.kinds import KINDS

MOST_DIGITS = 18  # of a number of clusters


def make_model(
    method: str, n_clusters: str, seed: int, params: Sequence[str], scaling: Sequence[str], kinds: Sequence[str]
) -> MultiViewClusterer:
    """Create the estimator from command-line arguments."""
    cls = get_method(method)
    known = cls().get_params()
    with helped_by(cls()._reference()):
        given = parse_params(params, known)
    if scaling:
        given["scaling"] = parse_scaling(scaling)
    if kinds:
        if "kinds" not in known:
            raise InputError(f"--kind {kinds[0]!r} is for ocbr, which treats views by their kind; {method} does not.")
        given["kinds"] = parse_kinds(kinds)
    model = cls(**{"n_clusters": parse_n_clusters(n_clusters), "random_state": seed, **given})
    model._check_parameters()  # before files are read
    return model


def parse_params(words: Sequence[str], known: Collection[str]) -> dict[str, Any]:
    """Parse NAME=VALUE for parameters of the method."""
    given = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            raise InputError(f"--param {shown(word)} is not name=value with a name from: {quoted(known, 20)}.")
        given[name] = parse_value(value)
    return given


@helped_by("choosing-k")
def parse_n_clusters(text: str) -> int | str:
    """Parse a number of clusters, or "auto"."""
    if text == AUTO:
        return AUTO
    number = int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else 0
    if number < 1:
        raise InputError(
            f"-k {text:.40} is not a valid number of clusters; give a whole number of at least 1, or {AUTO}."
        )
    return number


def parse_value(text: str) -> Any:
    """Parse numbers, true, false, null and lists as JSON; anything else is a string."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, or thousands of brackets
        return text


@helped_by("use#scaling")
def parse_scaling(words: Sequence[str]) -> str | dict[str, str]:
    """Parse one scaling for all views, or VIEW=SCALING for some of them."""
    if len(words) == 1 and "=" not in words[0]:
        return words[0]
    odd = [word for word in words if not word.rpartition("=")[0]]
    if odd:
        raise InputError(
            f"--scaling {odd[0]!r} is not VIEW=SCALING, but others are; give one scaling for all views, or "
            "VIEW=SCALING each time."
        )
    return {view: way for view, _, way in (word.rpartition("=") for word in words)}


@helped_by("use#what-a-view-is")
def parse_kinds(words: Sequence[str]) -> dict[str, str]:
    """Parse VIEW=KIND for some views."""
    odd = [word for word in words if "=" not in word]
    if odd:
        raise InputError(f"--kind {odd[0]!r} is not VIEW=KIND; the kinds are {quoted(KINDS)}.")
    return {view: kind for view, _, kind in (word.rpartition("=") for word in words)}
