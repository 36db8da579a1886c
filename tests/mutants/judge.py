"""Is what whygrad says of a mutant right?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from .operators import Change, Operator

Diagnostic = Mapping[str, Any]  # as in the JSON report
LOUD = ("error", "warning")


class Verdict(StrEnum):
    """From best to worst."""

    PLACED = "placed"  # a warning or an error, with an accepted rule, at the changed lines
    NAMED = "named"  # an accepted rule, elsewhere
    NOTE = "note"  # the right rule at the right lines, but only as a note
    SILENT = "silent"  # nothing
    WRONG = "wrong"  # warnings or errors, none of them with an accepted rule


class Peace(StrEnum):
    """What a healthy variant got."""

    QUIET = "quiet"
    LOUD = "loud"  # a warning or an error: a false alarm


def judge(operator: Operator, change: Change, script: str, diagnostics: Sequence[Diagnostic]) -> Verdict:
    right = [each for each in diagnostics if each["rule"] in operator.accepted]
    here = [each for each in right if is_here(change, script, each)]
    if any(map(_is_loud, here)):
        return Verdict.PLACED
    if any(map(_is_loud, right)):
        return Verdict.NAMED
    if here:
        return Verdict.NOTE
    return Verdict.WRONG if any(map(_is_loud, diagnostics)) else Verdict.SILENT


def beside(operator: Operator, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """What is loud and names something else: worth a look also where the verdict is good."""
    return [each for each in diagnostics if _is_loud(each) and each["rule"] not in operator.accepted]


def is_here(change: Change, script: str, diagnostic: Diagnostic) -> bool:
    """Whether one of the places that a diagnostic shows touches the changed lines."""
    if not change.first:
        return True
    places = [diagnostic["location"], *diagnostic.get("related", ())]
    return any(
        Path(place["file"]).name == Path(script).name
        and place["line"] <= change.last
        and change.first <= (place.get("end_line") or place["line"])
        for place in places
        if place
    )


def said(diagnostics: Sequence[Diagnostic]) -> list[str]:
    """Each finding in a few words."""
    return [f"{each['severity']} {each['rule']}:{(each['location'] or {}).get('line', '-')}" for each in diagnostics]


def peace(diagnostics: Sequence[Diagnostic]) -> Peace:
    return Peace.LOUD if any(map(_is_loud, diagnostics)) else Peace.QUIET


def _is_loud(diagnostic: Diagnostic) -> bool:
    return diagnostic["severity"] in LOUD
