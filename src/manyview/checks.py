"""Errors that speak to users, and the checks of parameters.

Every message says what was wrong, the value that was given, and what to do.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from numbers import Integral, Real


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what, and what to do."""


class InputTypeError(InputError, TypeError):
    """As `InputError`, where the type of the value is at fault."""


def check_int(name: str, value: object, *, minimum: int) -> int:
    """Return `value` as an int of at least `minimum`, or raise."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise InputTypeError(
            f"{name}={value!r} is a {type(value).__name__}; give a whole number of at least {minimum}."
        )
    if value < minimum:
        raise InputError(f"{name}={value!r} is too small; give a whole number of at least {minimum}.")
    return int(value)


def check_real(name: str, value: object, *, minimum: float = -math.inf, maximum: float = math.inf) -> float:
    """Return `value` as a finite float in [minimum, maximum], or raise."""
    allowed = f"a finite number from {minimum:g} to {maximum:g}"
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InputTypeError(f"{name}={value!r} is a {type(value).__name__}; give {allowed}.")
    number = float(value)
    if not (math.isfinite(number) and minimum <= number <= maximum):
        raise InputError(f"{name}={value!r} is out of range; give {allowed}.")
    return number


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return `value` if it is one of `choices`, or raise with the list."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"Unknown {name}={value!r}. Choose one of: {quoted(choices)}.")
    return value


def quoted(items: Iterable[object], limit: int = 8) -> str:
    """Write a list for a message: the first few items, and how many more there are."""
    items = list(items)
    shown = ", ".join(repr(str(item)) for item in items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"
