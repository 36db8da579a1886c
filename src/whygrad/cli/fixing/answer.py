"""What `whygrad fix` says: diffs with their evidence, as text or as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from whygrad.report import wants_color, write_report
from whygrad.report.json import diagnostic_data, fix_data
from whygrad.report.remarks import headline, place, title
from whygrad.trial.order import Order
from whygrad.trial.search import Attempt
from whygrad.trial.sighting import Sighting

SCHEMA_VERSION: Final = 1
_COLORS: Final = {"+": "32", "-": "31", "@": "36"}


class TextAnswer:
    """Diffs on stdout, what is going on on stderr."""

    def begin(self, order: Order, *, scratch: bool) -> None:
        where = "in a copy of this folder" if scratch else "here"
        again = "each run repeats what it writes, downloads or sends"
        _note(f"{order.script} is run {where}, and once more for each fix that is tried: {again}")

    def first(self, sighting: Sighting) -> None:
        if not sighting.loud:
            _note(f"nothing to fix: the program {sighting.ending.shown}, and nothing was found")
        for diagnostic in sighting.loud:
            if not diagnostic.fixes:
                span = "" if diagnostic.primary is None else f"{place(diagnostic.primary.span)}: "
                _note(f"{span}{title(diagnostic)} {headline(diagnostic)}: there is no fix that could be tried")

    def show(self, attempt: Attempt) -> None:
        finding, verdict = attempt.finding, attempt.verdict
        span = "" if finding.primary is None else f"{place(finding.primary.span)}: "
        lines = [f"{span}{title(finding)} {headline(finding)}"]
        lines += [f"fix: {fix.title}" for fix in attempt.fixes]
        if verdict.is_verified:
            lines += ["verified:", *(f"  {each}" for each in verdict.evidence)]
        else:
            lines += [f"not verified: {each}" for each in verdict.against]
        diff = _colored(attempt.diff) if wants_color(sys.stdout) else attempt.diff
        write_report(sys.stdout, "\n".join(lines) + "\n\n" + diff)

    def end(self, last: Sighting, written: tuple[str, ...]) -> None:
        for file in written:
            _note(f"{file} was changed")
        if last.loud:
            count = len(last.loud)
            _note(f"{count} finding{'s' if count > 1 else ''} left")


class JsonAnswer:
    """One document on stdout, when all is done."""

    def __init__(self) -> None:
        self._data: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "fixes": []}

    def begin(self, order: Order, *, scratch: bool) -> None:
        self._data["script"] = order.script

    def first(self, sighting: Sighting) -> None:
        self._data["found"] = [diagnostic_data(each) for each in sighting.loud]

    def show(self, attempt: Attempt) -> None:
        self._data["fixes"].append(
            {
                "code": attempt.finding.code,
                "rule": attempt.finding.rule,
                "message": attempt.finding.message,
                "changes": [fix_data(fix) for fix in attempt.fixes],
                "verified": attempt.verdict.is_verified,
                "evidence": list(attempt.verdict.evidence),
                "reasons": list(attempt.verdict.against),
                "diff": attempt.diff,
            }
        )

    def end(self, last: Sighting, written: tuple[str, ...]) -> None:
        self._data["written"] = list(written)
        self._data["left"] = [diagnostic_data(each) for each in last.loud]
        print(json.dumps(self._data, indent=2))


def _note(text: str) -> None:
    print(f"whygrad: {text}", file=sys.stderr, flush=True)


def _colored(diff: str) -> str:
    def line(text: str) -> str:
        color = _COLORS.get(text[:1])
        return text if color is None else f"\x1b[{color}m{text}\x1b[0m"

    return "\n".join(map(line, diff.split("\n")))
