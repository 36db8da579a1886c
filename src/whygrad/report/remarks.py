"""What is said about a diagnostic besides its message and its places; every renderer says the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from whygrad.diagnostics import Diagnostic, Fix
from whygrad.source import SourceSpan, shown_file

_NAMED = 8  # variables that are listed by name


class Remark(NamedTuple):
    kind: str  # note, help or more
    text: str


def title(diagnostic: Diagnostic) -> str:
    """`error[WG101]`, with `(likely)` where it is inferred and the message does not say so itself."""
    title = f"{diagnostic.severity.label}[{diagnostic.code}]"
    if diagnostic.certain or re.search(r"\blikely\b", diagnostic.message, re.IGNORECASE):
        return title
    return f"{title} (likely)"


def headline(diagnostic: Diagnostic) -> str:
    """The message, on one line whatever it holds."""
    return " ".join(diagnostic.message.splitlines())


def place(span: SourceSpan) -> str:
    """`train.py:6:14`, with the column counted from 1, as editors do."""
    column = "" if span.column is None else f":{span.column + 1}"
    return f"{shown_file(span.file)}:{span.line}{column}"


def remarks(diagnostic: Diagnostic) -> tuple[Remark, ...]:
    """Evidence first, then advice, then where to read more."""
    found = [Remark("note", note) for note in diagnostic.notes]
    if variables := _unnamed_variables(diagnostic):
        found.append(Remark("note", variables))
    if diagnostic.steps.of > 1:
        found.append(Remark("note", f"in {diagnostic.steps.seen} of {diagnostic.steps.of} steps"))
    if diagnostic.help is not None:
        found.append(Remark("help", diagnostic.help))
    found.append(Remark("more", f"whygrad explain {diagnostic.code}"))
    return tuple(found)


def name_some(names: Sequence[str], most: int = _NAMED) -> str:
    """The first few names, and how many more there are."""
    listed = ", ".join(f"`{name}`" for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"


def _unnamed_variables(diagnostic: Diagnostic) -> str:
    """The list of variables, unless the message has them all."""
    message = diagnostic.message
    if all(f"`{name}`" in message for name in diagnostic.variables):
        return ""
    noun = "variable" if len(diagnostic.variables) == 1 else "variables"
    return f"{noun}: {name_some(diagnostic.variables)}"


def edits_shown(fix: Fix) -> str:
    """What a fix writes where: `train.py:6:14: tf.sqrt(x)`, a line an edit."""
    return "\n".join(f"{place(edit.span)}: {edit.text.strip() or '(deleted)'}" for edit in fix.edits)
