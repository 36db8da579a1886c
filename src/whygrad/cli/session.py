"""One watched run of a script, from the command line to the exit status."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace

from whygrad.backends import require_framework
from whygrad.cli.complaint import WRONG_USAGE, complain
from whygrad.cli.ending import Ending, conclude, hide_own_frames
from whygrad.cli.live import LivePrinter
from whygrad.cli.output import Output, claim, deliver
from whygrad.cli.program import Invocation, Program, load
from whygrad.cli.script import run_as_main, set_stage, wait_for_children, wait_for_threads
from whygrad.cli.watching import Watching
from whygrad.diagnostics import Selection, Severity
from whygrad.errors import UsageError
from whygrad.notice import warn
from whygrad.report.report import Report
from whygrad.termination import at_termination


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What `whygrad run` was asked for, checked as far as it can be without looking at the script."""

    invocation: Invocation
    selection: Selection = field(default_factory=Selection)
    fail_on: Severity | None = None
    output: Output = field(default_factory=Output)
    find_nan: bool = False
    guard: str | None = None
    keep: str | None = None


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
    if plan.output.file is None:
        return plan
    return replace(plan, output=replace(plan.output, file=claim(plan.output.file)))


def _watched(plan: Plan, program: Program | None) -> int:
    process = os.getpid()
    live = LivePrinter() if plan.output.is_live else None
    watching = Watching(plan.selection, live, find_nan=plan.find_nan, guard=plan.guard, keep=plan.keep)

    def report_now() -> None:
        found = watching.stop()
        if found is not None:
            watching.attempt(lambda: _deliver(_interrupted(found), plan.output, live))

    with at_termination(report_now):
        ending = _play(plan.invocation, program)
        watching.failed(ending.crash)
        wait_for_threads()
        wait_for_children()
    try:
        report = watching.stop()
    except KeyboardInterrupt:  # an impatient Ctrl-C: no report
        report, ending = None, replace(ending, interrupted=True)
    if report is not None and ending.interrupted:
        report = _interrupted(report)
    if report is not None and ending.started and os.getpid() == process:  # else a child that the script forked
        watching.attempt(lambda: _deliver(report, plan.output, live))
    return _finish(ending, report, plan.fail_on)


def _interrupted(report: Report) -> Report:
    return replace(report, run={**report.run, "interrupted": True})


def _deliver(report: Report, output: Output, live: LivePrinter | None) -> None:
    try:
        deliver(report, output, live)
    except BrokenPipeError:  # nobody reads on, which is no trouble; Python must not try to flush again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1 if output.format != "text" else 2)
    except OSError as error:
        place = output.file or "the terminal"
        warn(f"cannot write the report to {place}: {error.strerror}", sys.__stderr__)


def _play(invocation: Invocation, program: Program | None) -> Ending:
    loaded = program or _load(invocation)
    return loaded if isinstance(loaded, Ending) else conclude(run_as_main(loaded))


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
    worst = None if report is None else report.worst
    if ending.status == 0 and fail_on is not None and worst is not None and worst >= fail_on:
        return 1
    return ending.status
