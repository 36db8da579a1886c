"""Is what whygrad says of a program right? All that is said counts, not only the best of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scoring.program import Program

Diagnostic = Mapping[str, Any]  # as in the JSON report


def judge(program: Program, diagnostics: Sequence[Diagnostic]) -> str:
    """Empty if all is well, else what is wrong.

    Only errors and warnings count. A healthy program gets none. A bug gets an accepted rule at an accepted line,
    nothing else but what the header lists as true too, and the variables of the header are named.
    """
    loud = [each for each in diagnostics if each["severity"] in ("error", "warning")]
    if program.healthy:
        return f"healthy, but: {_said(loud)}" if loud else ""
    right = [each for each in loud if _is_right(each, program)]
    if not right:
        lines = " or ".join(map(str, sorted(program.lines))) or "any"
        return f"wanted {' or '.join(sorted(program.causes))} at line {lines}, got: {_said(loud)}"
    wrong = [each for each in loud if each not in right and not _is_true_too(each, program)]
    if wrong:
        return f"wrong besides the right one: {_said(wrong)}"
    named = [name for each in right for name in each["variables"]]
    unnamed = [pattern for pattern in program.variables if not any(fits(pattern, name) for name in named)]
    return f"does not name {', '.join(unnamed)}, only: {', '.join(named) or 'nothing'}" if unnamed else ""


def fits(pattern: str, name: str) -> bool:
    """Whether the pattern is the name or its last parts: `dense/*` fits `net/dense/kernel`, `t` fits `self.t`."""
    expression = ".*".join(map(re.escape, pattern.split("*")))
    return re.fullmatch(rf"(.*[/.])?{expression}", name) is not None


def _is_right(diagnostic: Diagnostic, program: Program) -> bool:
    if diagnostic["rule"] not in program.causes:
        return False
    return not program.lines or any(_covers(diagnostic, line, program.file) for line in program.lines)


def _is_true_too(diagnostic: Diagnostic, program: Program) -> bool:
    return any(diagnostic["rule"] == rule and _covers(diagnostic, line, program.file) for rule, line in program.also)


def _covers(diagnostic: Diagnostic, line: int, file: Path) -> bool:
    place = diagnostic["location"]
    if place is None or Path(place["file"]).name != file.name:
        return False
    return bool(place["line"] <= line <= (place.get("end_line") or place["line"]))


def _said(diagnostics: Iterable[Diagnostic]) -> str:
    said = [f"{each['rule']} at line {(each['location'] or {}).get('line')}" for each in diagnostics]
    return ", ".join(said) or "nothing"
