"""Errors addressed to users, and the rules for parameters.

Every message says what is wrong, which value was given, and what to do. An estimator lists a rule for each of its
parameters; all of them are checked before any work is done.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np

DOCUMENTATION = "https://manyview.readthedocs.io/en/stable"


def printable(text: str, keep: str = "") -> str:
    """Escape control characters, line breaks and the like, except those to keep: names in files may contain any.

    Parameters
    ----------
    text : str
        The text.
    keep : str
        Characters that stay as they are, such as a line break.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in text)


class InputError(ValueError):
    """Something the user gave cannot be used; the one-line message says what, and what to do."""

    def __str__(self) -> str:
        return printable(super().__str__())


class InputTypeError(InputError, TypeError):
    """An `InputError` about the type of a value."""


def help_line(page: str) -> str:
    """Return the line that names a page of the documentation, such as "files" or "files#what-is-refused"."""
    name, _, anchor = page.partition("#")
    return f"Help: {DOCUMENTATION}/{name}.html{'#' if anchor else ''}{anchor}"


@contextmanager
def helped_by(page: str) -> Iterator[None]:
    """Add a link to the page that helps to errors that leave this block or decorated function.

    The link becomes a note on the exception, below the message. An error that already has a note keeps it: it is closer
    to the cause.
    """
    try:
        yield
    except InputError as error:
        if not hasattr(error, "__notes__"):
            error.add_note(help_line(page))
        raise


def a_type_of(value: object) -> str:
    """Return the type of a value with its article: "a list", "an int"."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def shown(value: object, limit: int = 40) -> str:
    """Write a value for a message, shortened if it is long; Python does not write integers of thousands of digits."""
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:
        text = f"<{a_type_of(value)} that is too long to write>"
    return text if len(text) <= limit else f"{text[:limit]}..."


LARGEST_WHOLE = 10**100  # messages can show it


def check_int(name: str, value: object, *, minimum: int, maximum: int | None = None) -> int:
    """Return `value` as an int of at least `minimum`, and at most `maximum` if that is given, or raise."""
    allowed = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise InputTypeError(f"{name}={shown(value)} is {a_type_of(value)}; give a whole number {allowed}.")
    number = int(value)
    if number < minimum:
        raise InputError(f"{name}={shown(value)} is too small; give a whole number {allowed}.")
    if number > (LARGEST_WHOLE if maximum is None else maximum):
        raise InputError(f"{name}={shown(value)} is too large; give a whole number {allowed}.")
    return number


def check_real(name: str, value: object, *, minimum: float = -math.inf, maximum: float = math.inf) -> float:
    """Return `value` as a finite float in [minimum, maximum], or raise."""
    allowed = f"a finite number{_range(minimum, maximum)}"
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InputTypeError(f"{name}={shown(value)} is {a_type_of(value)}; give {allowed}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and minimum <= number <= maximum):
        raise InputError(f"{name}={shown(value)} is out of range; give {allowed}.")
    return number


def _range(minimum: float, maximum: float) -> str:
    if math.isinf(maximum):
        return "" if math.isinf(minimum) else f" of at least {minimum:g}"
    return f" of at most {maximum:g}" if math.isinf(minimum) else f" from {minimum:g} to {maximum:g}"


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return `value` if it is one of `choices`, or raise with the list."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"Unknown {name}={shown(value)}. Choose one of: {quoted(choices, len(choices))}.")
    return value


def quoted(items: Iterable[object], limit: int = 8) -> str:
    """Write a list for a message: the first few items, and how many more there are."""
    items = list(items)
    shown = ", ".join(repr(str(item)) for item in items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"


def plural(number: int, noun: str) -> str:
    """Write a count with its noun: "1 sample" or "2,000 samples"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


# Rules for the parameters of estimators ----------------------------------------------------------


class Rule(Protocol):
    """What a parameter may be."""

    def check(self, name: str, value: object) -> object:
        """Raise `InputError` if the value breaks the rule."""


Rules = Mapping[str, Rule]


def check_parameters(rules: Rules, values: Mapping[str, object]) -> None:
    """Check the value of every parameter by its rule."""
    for name, rule in rules.items():
        rule.check(name, values[name])


@dataclass(frozen=True)
class Whole:
    """A whole number."""

    minimum: int

    def check(self, name: str, value: object) -> object:
        """Raise if the value is something else, or too small."""
        return check_int(name, value, minimum=self.minimum)


LARGEST = 1e15  # of a parameter: its square is far from what single precision can represent


@dataclass(frozen=True)
class Number:
    """A number from `minimum` to `maximum`."""

    minimum: float
    maximum: float = LARGEST

    def check(self, name: str, value: object) -> object:
        """Raise if the value is something else, or out of range."""
        return check_real(name, value, minimum=self.minimum, maximum=self.maximum)


@dataclass(frozen=True)
class OneOf:
    """One of some words."""

    choices: tuple[str, ...]

    def check(self, name: str, value: object) -> object:
        """Raise if the value is not one of them."""
        return check_choice(name, value, self.choices)


@dataclass(frozen=True)
class OrWord:
    """A special word, or whatever another rule allows."""

    word: str
    rule: Rule

    def check(self, name: str, value: object) -> object:
        """Raise if the value is neither."""
        if not isinstance(value, str):
            return self.rule.check(name, value)
        if value != self.word:
            raise InputTypeError(f"{name}={shown(value)} is a str; give a whole number, or {self.word!r}.")
        return value


@dataclass(frozen=True)
class OrNone:
    """None, or whatever another rule allows."""

    rule: Rule

    def check(self, name: str, value: object) -> object:
        """Raise if the value is neither."""
        return None if value is None else self.rule.check(name, value)


@dataclass(frozen=True)
class Is:
    """A value of some kind: `holds` checks it, `kind` describes it in words."""

    holds: Callable[[Any], bool]
    kind: str

    def check(self, name: str, value: object) -> object:
        """Raise if the value is of another kind."""
        if not self.holds(value):
            raise InputTypeError(f"{name}={shown(value)} is {a_type_of(value)}; give {self.kind}.")
        return value


@dataclass(frozen=True)
class Each:
    """A sequence whose items all follow a rule."""

    rule: Rule

    def check(self, name: str, value: object) -> object:
        """Raise if the value is not a sequence, or an item breaks the rule."""
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise InputTypeError(f"{name}={shown(value)} is {a_type_of(value)}; give a sequence, such as a list.")
        return [self.rule.check(name, item) for item in value]


LARGEST_SEED = 2**32 - 1


def _is_seed(value: object) -> bool:
    if isinstance(value, Integral) and not isinstance(value, bool):
        return 0 <= int(value) <= LARGEST_SEED
    return isinstance(value, np.random.RandomState)


FLAG = Is(lambda value: isinstance(value, bool | np.bool_), "True or False")
SEED = OrNone(Is(_is_seed, f"a whole number from 0 to {LARGEST_SEED}, a numpy RandomState, or None"))
CALLBACK = OrNone(Is(callable, "a function, or None"))
TEXT = Is(lambda value: isinstance(value, str), "a string")
