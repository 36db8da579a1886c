"""What lint found, in the form that was asked for."""

from __future__ import annotations

import difflib
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from whygrad.cli.output import FILE_WIDTH, claim
from whygrad.diagnostics import Diagnostic, FixSafety, Selection, Severity
from whygrad.lint.files.discovery import is_excluded
from whygrad.report import Report, render, terminal_width, wants_color, write_report
from whygrad.report.summary import summary
from whygrad.source import shown_file

if TYPE_CHECKING:
    from whygrad.report.sarif import RuleInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which findings are shown, and how."""

    selection: Selection
    per_file: tuple[tuple[str, Selection], ...] = ()
    format: str = "text"
    file: str | None = None
    statistics: bool = False
    quiet: bool = False

    def admit(self, file: Path, diagnostic: Diagnostic) -> bool:
        code, rule = diagnostic.code, diagnostic.rule
        file = file if diagnostic.primary is None else Path(diagnostic.primary.span.file)
        if not self.selection.admits(code, rule):
            return False
        return all(each.admits(code, rule) for pattern, each in self.per_file if is_excluded(file, [pattern]))


def mend(files: Sequence[Path], wanted: Wanted, *, unsafe: bool, write: bool) -> int:
    """Fix what can be fixed, in the files or as a diff; how many files that changes."""
    from whygrad.lint.files.mending import mended

    count = 0
    for file in files:
        made = mended(file, partial(wanted.admit, file), unsafe=unsafe)
        if made is None or not made.is_changed:
            continue
        count += 1
        if write:
            made.write()
            print(f"fixed {shown_file(str(file))}: {', '.join(made.titles)}", file=sys.stderr)
        else:
            for path, before, after in made.texts():
                name = shown_file(path)
                lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}")
                sys.stdout.write("".join(lines))
    return count


def _lines(text: str) -> list[str]:
    return [f"{line}\n" for line in text.splitlines()]


def deliver(report: Report, wanted: Wanted) -> None:
    """Write the report: to a file, or to standard output."""
    if wanted.quiet and wanted.format == "text" and (report.worst or Severity.NOTE) < Severity.WARNING:
        return
    rules: Iterable[RuleInfo] = ()
    if wanted.format == "sarif":
        from whygrad.lint.pages import static_pages

        rules = static_pages()
    if wanted.file is not None:
        with open(claim(wanted.file), "w", encoding="utf-8") as file:
            file.write(_text(report, wanted, False, FILE_WIDTH, rules) + "\n")
        return
    try:
        write_report(sys.stdout, _text(report, wanted, wants_color(sys.stdout), terminal_width(sys.stdout), rules))
    except BrokenPipeError:  # nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _text(report: Report, wanted: Wanted, color: bool, width: int, rules: Iterable[RuleInfo]) -> str:
    if wanted.statistics and wanted.format == "text":
        return _statistics(report)
    if wanted.format == "text" and not report.run["files"]:
        return "whygrad: no Python file and no notebook to check"
    if wanted.format == "text" and not report.diagnostics:
        return summary(report)  # one line needs no library for drawing
    text = render(report, wanted.format, color=color, width=width, rules=rules)
    return text + _fixable(report.diagnostics) if wanted.format == "text" else text


def _fixable(found: Sequence[Diagnostic]) -> str:
    """How much of what was found a fix is known for."""
    best = [{fix.safety for fix in each.fixes} for each in found if each.fixes]
    safe = sum(FixSafety.SAFE in each for each in best)
    unsafe = sum(FixSafety.UNSAFE in each for each in best if FixSafety.SAFE not in each)
    if not safe and not unsafe:
        return ""
    more = f"{unsafe}{' more' if safe else ''} with --fix --unsafe-fixes" if unsafe else ""
    return f"\ncan be fixed: {', '.join(filter(None, [f'{safe} with --fix' if safe else '', more]))}"


def _statistics(report: Report) -> str:
    counted = Counter((each.code, each.rule, each.severity.label) for each in report.diagnostics)
    rows = [f"{count:6}  {code}  {rule} ({severity})" for (code, rule, severity), count in counted.most_common()]
    return "\n".join([*rows, summary(report)])
