"""What lint sees in a script that died before it asked for a gradient: notes, because none of it was watched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from whygrad.diagnostics import Severity, is_suppressed
from whygrad.report import Report

_MOST: Final = 5  # notes beside the exception, which is what the user came for


def with_foresight(report: Report, script: str) -> Report:
    """The report with what awaits the script further on; as it is where the script got as far as a gradient."""
    if "error" not in report.run or report.run.get("requests") or not Path(script).is_file():
        return report
    from whygrad.lint.files.project import check_file

    _, _, checked = check_file(Path(script))
    known = {(each.rule, each.primary.span.line) for each in report.diagnostics if each.primary is not None}
    ahead = [
        replace(each, severity=Severity.NOTE, notes=(*each.notes, "seen in the source: the run did not get this far"))
        for each in checked.diagnostics
        if each.severity >= Severity.WARNING
        and each.primary is not None
        and (each.rule, each.primary.span.line) not in known
        and not is_suppressed(each)
    ]
    return replace(report, diagnostics=(*report.diagnostics, *ahead[:_MOST]))
