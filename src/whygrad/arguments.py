"""What a caller has handed over: one check for each kind of argument, and one sentence for each mistake.

Each check is given the name of the parameter, so that the sentence can name it, and the type of error to raise.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Final

from whygrad.errors import UsageError, WhygradError

_LONGEST: Final = 40  # characters of a value in a sentence


def given(value: object) -> str:
    """What was handed over, in a few words: None, 'adam', the class `Adam`, an empty list, a `Sequential`."""
    if isinstance(value, type):
        return f"the class `{value.__name__}`"
    if value is None or isinstance(value, str | int | float):
        text = repr(value)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    if isinstance(value, list | tuple | dict | set):
        kind = type(value).__name__
        return f"a {kind} of {len(value)}" if value else f"an empty {kind}"
    return f"a `{type(value).__name__}`"


def check_choice(
    name: str, value: object, choices: Sequence[object], *, error: type[WhygradError] = UsageError
) -> None:
    """Raise unless the value is one of a few words (or None)."""
    if not isinstance(value, str | None) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise error(f"`{name}` cannot be {given(value)}", help=f"`{name}` must be one of {listed}")


def check_callable(name: str, value: object, *, help: str, error: type[WhygradError] = UsageError) -> None:
    """Raise unless the value can be called; a class is refused too, because what is wanted is a function or object."""
    if not callable(value) or isinstance(value, type):
        raise error(f"`{name}` must be a function, got {given(value)}", help=help)


def check_whole(
    name: str, value: object, *, least: int | None = 1, help: str = "", error: type[WhygradError] = UsageError
) -> None:
    """Raise unless the value is a whole number, at least so large."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or (least is not None and int(value) < least):  # type: ignore[call-overload]
        bound = "" if least is None else f" of at least {least}"
        advice = help or f"write `{name}={max(1, least or 1)}`, for example"
        raise error(f"`{name}` must be a whole number{bound}, got {given(value)}", help=advice)


def check_number(
    name: str,
    value: Any,
    wanted: str = "a number",
    holds: Callable[[float], bool] = math.isfinite,
    *,
    help: str | None = None,
    error: type[WhygradError] = UsageError,
) -> None:
    """Raise unless the value is one number for which the condition holds; `wanted` says so in words."""
    try:
        number = math.nan if isinstance(value, str | bool | type) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) or not holds(number):
        raise error(f"`{name}` must be {wanted}, got {given(value)}", help=help)


def check_text(name: str, value: object, *, help: str | None = None, error: type[WhygradError] = UsageError) -> None:
    """Raise unless the value is a text."""
    if not isinstance(value, str):
        raise error(f"`{name}` must be a string, got {given(value)}", help=help or f'write `{name}="..."`')


def check_module_name(value: object, *, error: type[WhygradError] = UsageError) -> None:
    """Raise unless the value is a name that a module of a framework can have, or None."""
    if value is not None and not (isinstance(value, str) and value.isidentifier()):
        raise error(f"`name` must be a Python name, got {given(value)}", help='write `name="my_name"`, without spaces')


def check_path(name: str, value: object) -> None:
    """Raise unless the value is a path, or None."""
    if value is not None and not isinstance(value, str | os.PathLike):
        raise UsageError(f"`{name}` must be a path, got {given(value)}", help=f'write `{name}="..."`')


def check_type(name: str, value: object, wanted: type, *, help: str) -> None:
    """Raise unless the value is an object of this type."""
    if not isinstance(value, wanted):
        raise UsageError(f"`{name}` must be a `{wanted.__name__}`, got {given(value)}", help=help)


def words_in(name: str, value: object, *, help: str) -> tuple[str, ...]:
    """The words of a text, or of a list of texts."""
    words = (value,) if isinstance(value, str) else value
    if not isinstance(words, Iterable) or isinstance(words, Mapping | type):
        raise UsageError(f"`{name}` must be a string or a list of strings, got {given(value)}", help=help)
    listed = tuple(words)
    if not all(isinstance(word, str) for word in listed):
        raise UsageError(f"`{name}` must contain only strings, got {given(value)}", help=help)
    return listed


def listed(name: str, value: Any, what: str, *, help: str, error: type[WhygradError] = UsageError) -> list[Any]:
    """The list of things that was handed over as any iterable."""
    is_many = (
        isinstance(value, Iterable) and not isinstance(value, str | Mapping | type) and not hasattr(value, "dtype")
    )
    if not is_many:
        raise error(f"`{name}` must be a list of {what}, got {given(value)}", help=help)
    return list(value)
