"""What is added to a run when it ends: what rules find in its numbers, and the ledger of a capture around it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from whygrad.diagnostics import Diagnostic
from whygrad.rules import find_rule
from whygrad.rules.engine import stamp
from whygrad.rules.odd_gradient.series import CHECKS, findings
from whygrad.rules.thresholds import DEFAULT as DEFAULT
from whygrad.rules.thresholds import Thresholds as Thresholds
from whygrad.store import Run, RunWriter

_BLOCKS: Final = 4  # of a long run: enough to judge by, and read in a moment


def diagnose_run(run: Run, thresholds: Thresholds = DEFAULT) -> tuple[Diagnostic, ...]:
    """What the numbers of a run show, worst first."""
    found = []
    for track in (each for each in run.tracks() if not each.is_of_replica):
        for name, finding in findings(run.everything(track.name, _BLOCKS), thresholds):
            rule = find_rule(name)
            assert rule is not None
            found.append(stamp(rule, finding, {}))
    return tuple(sorted(found, key=lambda diagnostic: -diagnostic.severity))


def store_diagnosis(
    writer: RunWriter, thresholds: Thresholds = DEFAULT, *, leave: Collection[str] = ()
) -> tuple[Diagnostic, ...]:
    """Diagnose a run that is being written, and keep the result with it in place of an earlier one.

    What the rules in `leave` found was found better by others, and stays.
    """
    if writer.path is None or not writer.flush():
        return ()
    found = tuple(each for each in diagnose_run(Run(writer.path), thresholds) if each.rule not in leave)
    writer.replace_diagnostics(found, rules=[rule for rule in CHECKS if rule not in leave])
    return found


def store_ledger(writer: RunWriter) -> None:
    """Keep who wrote to which variable so far; nothing happens where nobody watches."""
    from whygrad.backends.tensorflow.capture import running_capture

    capture = running_capture()
    if capture is not None:
        writer.set_ledger(capture.freezer.ledger())
