"""One watched run of a script, from the command line to the exit status.

Whatever fails in whygrad is one warning, never the script's trouble.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from whygrad.backends import WATCHED, require_framework
from whygrad.backends.first_import import FirstImport
from whygrad.cli.complaint import WRONG_USAGE, complain
from whygrad.cli.ending import Ending, conclude
from whygrad.cli.linting.foresight import with_foresight
from whygrad.cli.output import LivePrinter, Output, claim, deliver, keep_stdout
from whygrad.cli.program import Invocation, Program, load, run_as_main, set_stage, wait_for_children, wait_for_threads
from whygrad.diagnostics import Diagnostic, Selection, Severity
from whygrad.errors import GradientError, UsageError
from whygrad.notice import remark, spot, warn
from whygrad.own_frames import hide_own_frames
from whygrad.report import Report
from whygrad.termination import at_termination

if TYPE_CHECKING:
    from whygrad.watch import Run

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What `whygrad run` was asked for, checked as far as it can be without looking at the script."""

    invocation: Invocation
    selection: Selection = field(default_factory=Selection)
    fail_on: Severity | None = None
    output: Output = field(default_factory=Output)
    raise_on: str | None = None
    find_nan: bool = False
    terms: bool = False
    guard: str | None = None
    keep: str | None = None
    record: str | None = None  # the folder to keep the report in as a run


def execute(plan: Plan) -> int:
    """Run and report; the script's exit status, or 1 where `fail_on` has found something in one that succeeded."""
    set_stage(plan.invocation)
    # A module is found later, while watching: to find it, its packages are imported.
    program = None if plan.invocation.is_module else _load(plan.invocation)
    if isinstance(program, Ending):
        return program.status
    try:
        plan = _ready(plan)
    except UsageError as error:
        return complain(error)
    return _watched(plan, program)


def _ready(plan: Plan) -> Plan:
    require_framework()
    if plan.output.is_document:
        return replace(plan, output=replace(plan.output, descriptor=keep_stdout()))
    if plan.output.file is None:
        return plan
    return replace(plan, output=replace(plan.output, file=claim(plan.output.file)))


def _watched(plan: Plan, program: Program | None) -> int:
    process = os.getpid()
    live = LivePrinter() if plan.output.is_live else None
    watching = Watching(plan, live)

    def report_now() -> None:
        found = watching.stop()
        if found is not None:
            watching.attempt(lambda: _deliver(_interrupted(found), plan.output, live))

    with at_termination(report_now):
        ending = _play(plan.invocation, program)
        stopped = isinstance(ending.crash, GradientError)  # by a finding, which the traceback has shown
        watching.failed(None if stopped else ending.crash)
        wait_for_threads()
        wait_for_children()
    try:
        report = watching.stop()
    except KeyboardInterrupt:  # an impatient Ctrl-C: no report
        report, ending = None, replace(ending, interrupted=True)
    if report is not None and ending.interrupted:
        report = _interrupted(report)
    if report is not None and ending.crash is not None and plan.invocation.is_file:
        found = report
        report = watching.attempt(lambda: with_foresight(found, plan.invocation.target)) or report
    told = stopped and plan.output.file is None and plan.output.format == "text"
    if report is not None and ending.started and not told and os.getpid() == process:  # else a forked child
        watching.attempt(lambda: _deliver(report, plan.output, live))
        _offer(report, plan)
    return _finish(ending, report, plan.fail_on)


def _interrupted(report: Report) -> Report:
    return replace(report, run={**report.run, "interrupted": True})


class Watching:
    """One capture, begun and ended by hand because a script may end in more ways than a block does.

    It begins when there is something to watch: a script without a framework starts as fast as under `python`.
    """

    def __init__(self, plan: Plan, on_certain: Callable[[Diagnostic], None] | None) -> None:
        self._stack = contextlib.ExitStack()
        self._warned = False
        self._run: Run | None = None
        self._waits = True

        def start() -> Run:
            from whygrad.watch import watch

            watched = watch(
                selection=plan.selection,
                on_certain=on_certain,
                raise_on=plan.raise_on,
                find_nan=plan.find_nan,
                terms=plan.terms,
                guard=plan.guard,
                keep=plan.keep,
                name=os.path.basename(plan.invocation.target),
                folder=plan.record,
                record=plan.record is not None,
            )
            return self._stack.enter_context(watched)

        def begin() -> None:
            self._waits = False
            self._run = self.attempt(start)

        self._begin = begin
        self._first = FirstImport(WATCHED, begin)
        if plan.record is None:
            self._first.start()
        else:
            begin()

    def failed(self, crash: Exception | None) -> None:
        """Tell the capture what the script did not catch: the crash is often the symptom."""
        if self._waits and crash is not None:
            self._first.stop()
            self._begin()
        run = self._run
        if run is not None and crash is not None:
            self.attempt(lambda: run.failed(crash))

    def stop(self) -> Report | None:
        """End the capture and explain it; None where whygrad failed."""
        self._first.stop()
        if self._waits:
            return Report(run={"requests": 0, "updates": 0, "variables": 0})
        run = self._run
        self.attempt(self._stack.close)
        return None if run is None else self.attempt(run.report)

    def attempt(self, step: Callable[[], T]) -> T | None:
        """The result of a step, or None and the one warning."""
        try:
            return step()
        except Exception as error:
            if not self._warned:
                what = f"an internal error{spot(error)} spoils the report: {type(error).__name__}: {error}"
                warn(f"{what}; the script is not affected (please report this line)", sys.__stderr__)
            self._warned = True
            return None


def _deliver(report: Report, output: Output, live: LivePrinter | None) -> None:
    try:
        deliver(report, output, live)
    except BrokenPipeError:  # nobody reads on, which is no trouble; Python must not try to flush again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1 if output.format != "text" else 2)
    except OSError as error:
        place = output.file or "the terminal"
        warn(f"cannot write the report to {place}: {error.strerror}", sys.__stderr__)


def _offer(report: Report, plan: Plan) -> None:
    """One line that says that a fix can be tried."""
    if not plan.invocation.is_file and not plan.invocation.is_module:
        return  # there is no file to change
    loud = [each for each in report.diagnostics if each.severity > Severity.NOTE]
    if plan.output.format != "text" or plan.output.file is not None or not any(each.fixes for each in loud):
        return
    given = plan.invocation
    words = ["whygrad", "fix", *(["-m"] if given.is_module else []), given.target, *given.args]
    remark(f"a fix can be tried: {shlex.join(words)}", sys.__stderr__)


def _play(invocation: Invocation, program: Program | None) -> Ending:
    loaded = program or _load(invocation)
    if isinstance(loaded, Ending):
        return loaded
    error = run_as_main(loaded)
    return Ending() if error is None else conclude(error)


def _load(invocation: Invocation) -> Program | Ending:
    try:
        return load(invocation)
    except UsageError as error:
        return Ending(complain(error), started=False)
    except SyntaxError as error:
        hide_own_frames(error)
        if error.__traceback__ is not None:  # in another file, which a package of the module imports
            return conclude(error)
        sys.__excepthook__(type(error), error, None)
        return Ending(WRONG_USAGE, started=False)
    except BaseException as error:
        return conclude(error)


def _finish(ending: Ending, report: Report | None, fail_on: Severity | None) -> int:
    if ending.interrupted:
        # Python ends by the signal where KeyboardInterrupt leaves `__main__`; it has been shown already.
        sys.excepthook = lambda *_: None
        raise KeyboardInterrupt
    if ending.status == 0 and fail_on is not None and report is not None:
        return int(report.worst is not None and report.worst >= fail_on)
    return ending.status
