"""The form of the facts of a run: a file may be somebody else's, and readers rely on their types."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

_LATEST: Final = 1e11  # seconds since 1970, the year 5138: clocks are never later


def check_facts(facts: Mapping[str, Any]) -> None:
    """Raise a ValueError that names the first fact which is not what is written under its name."""
    for key, form in _FORMS.items():
        if key in facts and not form(facts[key]):
            raise ValueError(f"its fact `{key}` is malformed")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_moment(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value < _LATEST


def _is_environment(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    packages, words = value.get("packages", {}), value.get("argv", [])
    return (
        isinstance(words, list)
        and isinstance(packages, dict)
        and all(map(_is_text, (*words, *packages.values(), value.get("commit") or "", value.get("host") or "")))
        and type(value.get("pid", 0)) is int
        and 0 <= value.get("pid", 0) < 2**31
    )


def _is_worker(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(_is_text(value.get(key)) for key in ("name", "cluster"))
        and all(_is_count(value.get(key)) for key in ("index", "count"))
    )


_FORMS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "started": _is_moment,
    "ended": _is_moment,
    "seen": _is_moment,
    "status": _is_text,
    "failure": _is_text,
    "thinned": _is_count,
    "overwritten": _is_count,
    "environment": _is_environment,
    "worker": _is_worker,
}
