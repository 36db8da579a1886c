"""What all rules together say of a hand-built recording: a rule is tested for what it leaves to others, too."""

from __future__ import annotations

import textwrap
from pathlib import Path

from recording_checks import verify
from whygrad.backends import words_of
from whygrad.diagnostics import Diagnostic, Severity
from whygrad.graph import Recording
from whygrad.rules import all_rules, diagnose
from whygrad.source import SourceSpan


def diagnostics(recording: Recording) -> tuple[Diagnostic, ...]:
    assert verify(recording) == [], "the test's own recording is unsound"
    return diagnose(recording, all_rules(), words=words_of("tensorflow"))


def loud(recording: Recording) -> list[Diagnostic]:
    """Errors and warnings: what a healthy program must not get."""
    return [found for found in diagnostics(recording) if found.severity >= Severity.WARNING]


def codes(recording: Recording) -> list[str]:
    return [found.code for found in loud(recording)]


def notes(recording: Recording) -> list[str]:
    """The codes of what is only worth knowing."""
    return [found.code for found in diagnostics(recording) if found.severity is Severity.NOTE]


def one(recording: Recording) -> Diagnostic:
    """The only error or warning."""
    [found] = loud(recording)
    return found


def at(line: int) -> SourceSpan:
    """A line of a script that nobody can read."""
    return SourceSpan("train.py", line)


class Script:
    """A script on disk; `script["tape.gradient(loss, [w])"]` is where that text stands."""

    def __init__(self, folder: Path, text: str) -> None:
        self.path = folder / "train.py"
        self.text = textwrap.dedent(text).strip() + "\n"
        self.path.write_text(self.text)

    def __getitem__(self, fragment: str) -> SourceSpan:
        start = self.text.index(fragment)
        line = self.text.count("\n", 0, start)
        column = start - (self.text.rfind("\n", 0, start) + 1)
        assert "\n" not in fragment
        return SourceSpan(str(self.path), line + 1, column, line + 1, column + len(fragment))
