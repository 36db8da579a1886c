"""`assert_diagnoses`: a piece of code has the trouble it is meant to have."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from whygrad.errors import UsageError
from whygrad.rules import find_rule
from whygrad.watch import Run, watch


@contextlib.contextmanager
def assert_diagnoses(rule: str) -> Iterator[Run]:
    """Watch the block; the rule, given by name or code, must find something in it.

    An exception of the block is let through where the rule has spoken: often it is the symptom.
    """
    wanted = find_rule(rule)
    if wanted is None:
        raise UsageError(f"unknown rule `{rule}`", help="`whygrad rules` lists the codes and names")
    error: Exception | None = None
    with watch() as run:
        try:
            yield run
        except Exception as raised:
            run.failed(raised)
            error = raised
    report = run.report()
    if all(diagnostic.code != wanted.code for diagnostic in report.diagnostics):
        raise AssertionError(f"{wanted.code} {wanted.name} was not diagnosed; the report says:\n\n{report}") from error
    if error is not None:
        raise error
