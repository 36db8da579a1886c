"""One `whygrad fix`, from the first run to the exit status."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace

from whygrad.backends import require_framework
from whygrad.cli.complaint import complain
from whygrad.cli.fixing.answer import JsonAnswer, TextAnswer
from whygrad.cli.fixing.progress import Progress
from whygrad.errors import UsageError
from whygrad.trial.changes import Changes
from whygrad.trial.order import Order
from whygrad.trial.runner import Runner
from whygrad.trial.scratch import scratch_copy
from whygrad.trial.search import Attempt, search
from whygrad.trial.sighting import Sighting
from whygrad.trial.writing import write


@dataclass(frozen=True, slots=True)
class Plan:
    """What `whygrad fix` was asked for."""

    order: Order
    seconds: float
    output_format: str = "text"
    apply: bool = False
    interactive: bool = False
    scratch: bool = False


def execute(plan: Plan) -> int:
    """Search, show and, if asked, write; 0 where nothing is left to fix."""
    try:
        require_framework()
        _check(plan)
        with scratch_copy(os.getcwd()) if plan.scratch else nullcontext() as folder:
            return _Fixing(plan, folder).go()
    except UsageError as error:
        return complain(error)
    except KeyboardInterrupt:
        return 130


def _check(plan: Plan) -> None:
    order = plan.order
    if not order.is_module and not os.path.isfile(order.script):
        raise UsageError(f"script `{order.script}` not found")
    if plan.interactive and not sys.stdin.isatty():
        raise UsageError("--interactive needs a terminal to ask in", help="--apply writes all that was verified")


class _Fixing:
    """The state of one search: what was accepted, and what the program with it shows."""

    def __init__(self, plan: Plan, folder: str | None) -> None:
        self._plan = plan
        self._progress = Progress()
        self._runner = Runner(plan.seconds, self._progress.tick, folder)
        self._answer = JsonAnswer() if plan.output_format == "json" else TextAnswer()
        self._order = plan.order
        self._changes = Changes()
        self._last = Sighting()

    def go(self) -> int:
        order = self._order
        self._answer.begin(order, scratch=self._plan.scratch)
        self._last = first = self._runs(order, f"running {order.script}")
        self._order = replace(order, steps=order.steps or first.enough)
        self._answer.first(first)
        for attempt in search(first, self._run, self._accept):
            self._answer.show(attempt)
        written = write(self._changes) if self._plan.apply or self._plan.interactive else ()
        self._answer.end(self._last, written)
        return int(bool(self._last.loud))

    def _run(self, changes: Changes) -> Sighting:
        return self._runs(replace(self._order, overlay=changes.texts), "running it with a fix")

    def _runs(self, order: Order, what: str) -> Sighting:
        with self._progress.of(what):
            return self._runner.run(order)

    def _accept(self, attempt: Attempt) -> bool:
        if self._plan.interactive and not _said_yes():
            return False
        self._changes, self._last = attempt.after, attempt.sighting
        return True


def _said_yes() -> bool:
    print("write this fix? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
