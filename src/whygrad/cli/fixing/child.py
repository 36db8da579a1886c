"""One run of the user's program for `whygrad fix`, in a process of its own: watched, stopped early, told in a file.

Run as `python -m whygrad.cli.fixing.child ORDER RESULT`.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from whygrad.cli.program import Invocation, Program, load, run_as_main, set_stage, wait_for_children, wait_for_threads
from whygrad.diagnostics import Diagnostic, Selection, Severity
from whygrad.own_frames import hide_own_frames
from whygrad.source import SourceSpan
from whygrad.termination import at_termination
from whygrad.trial.order import Order, load_order
from whygrad.trial.overlay import compile_text, hand_on, install
from whygrad.trial.sighting import Ending, Sighting, dump, gradient_states
from whygrad.watch import Run, explain_recording, watch

_GRACE: Final = 2  # steps that are run after a certain finding was seen
_FIRST_LOOK: Final = 16  # steps before it is asked what is likely; then after twice as many, and so on
_KEPT_LOSSES: Final = 64
_LOOK: Final = 0.5  # seconds between two looks at the process that asked
_MAX_ERROR: Final = 300  # characters of an exception's text


class Performance:
    """The run of one program, from its start to the file that says what was seen."""

    def __init__(self, order: Order, result: Path) -> None:
        self._order = order
        self._result = result
        self._process = os.getpid()
        self._selection = _selection(order)
        self._limit = order.steps
        self._steps = 0
        self._losses: list[float] = []
        self._look = _FIRST_LOOK
        self._likely: set[tuple[str, SourceSpan | None]] = set()  # what the last look showed
        self._run: Run | None = None

    def play(self) -> None:
        """Run to the end, or until enough was seen; it does not return."""
        order = self._order
        invocation = Invocation(order.script, order.args, order.is_module)
        if order.overlay:
            install(order.overlay)
            hand_on(order.overlay, self._result.with_name("handed_on"))
        set_stage(invocation)
        program = None if order.is_module else self._load(invocation)
        with watch(selection=self._selection, on_certain=self._heard, on_step=self._stepped) as run:
            self._run = run
            with at_termination(lambda: self._finish(Ending(stopped=True, late=True))):
                error = run_as_main(program or self._load(invocation))
                if isinstance(error, Exception):
                    hide_own_frames(error)
                    run.failed(error)
                wait_for_threads()
                wait_for_children()
            self._finish(_ending(error))

    def _load(self, invocation: Invocation) -> Program:
        program = load(invocation)
        file = str(program.attributes["__file__"])
        text = self._order.overlay.get(file)
        return program if text is None else replace(program, code=compile_text(text, file))

    def _heard(self, _: Diagnostic) -> None:
        if self._limit is None:
            self._limit = self._steps + _GRACE

    def _stepped(self, loss: float | None) -> None:
        """Called before the step is recorded: the steps before it are complete."""
        if os.getpid() != self._process:  # a process that the program has forked
            return
        if self._limit is None and self._steps == self._look:
            with contextlib.suppress(Exception):  # a rule that fails here will be heard at the end
                self._look_at_what_is_likely()
        if self._limit is not None and self._steps >= self._limit:
            self._finish(Ending(stopped=True))
        self._steps += 1
        if loss is not None and len(self._losses) < _KEPT_LOSSES:
            self._losses.append(loss)

    def _look_at_what_is_likely(self) -> None:
        """What two looks in a row have shown will not go away by waiting: the run may end."""
        assert self._run is not None
        loud = [each for each in self._run.report().diagnostics if each.severity > Severity.NOTE and each.fixes]
        found = {(each.code, None if each.primary is None else each.primary.span) for each in loud}
        if found & self._likely:
            self._limit = self._steps
        self._likely, self._look = found, 2 * self._look

    def _finish(self, ending: Ending) -> None:
        assert self._run is not None
        recording = self._run.recording()
        report = explain_recording(recording, self._selection)
        sighting = Sighting(
            diagnostics=report.diagnostics,
            gradients=gradient_states(recording),
            ending=ending,
            steps=self._steps,
            losses=tuple(self._losses),
            sources=_sources(report.diagnostics, recording.sources),
        )
        part = self._result.with_suffix(".part")
        part.write_text(dump(sighting), encoding="utf-8")
        part.rename(self._result)
        os._exit(0)  # taking a framework down takes longer than most programs


def _sources(diagnostics: tuple[Diagnostic, ...], texts: Mapping[str, str]) -> dict[str, str]:
    spans = [each.primary.span for each in diagnostics if each.primary is not None]
    spans += [edit.span for each in diagnostics for fix in each.fixes for edit in fix.edits]
    return {file: texts[file] for file in dict.fromkeys(span.file for span in spans) if file in texts}


def _selection(order: Order) -> Selection:
    if not order.select and not order.ignore:
        return Selection()
    from whygrad.rules import selection_of

    return selection_of(order.select, order.ignore)


def _ending(error: BaseException | None) -> Ending:
    if error is None:
        return Ending()
    if isinstance(error, SystemExit):
        code = error.code
        return Ending(status=0 if code is None else code if isinstance(code, int) else 1)
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = (said[-1] if said[:1] == ["in user code:"] else " ".join(said)).removeprefix(f"{type(error).__name__}: ")
    return Ending(status=1, error=f"{type(error).__name__}: {text}"[:_MAX_ERROR])


def _end_with(parent: int) -> None:
    """Where the process that asked for the run is gone, nobody needs it any more."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


def main() -> None:
    if not sys.flags.safe_path:
        del sys.path[0]
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    order, result = (Path(word) for word in sys.argv[1:3])
    Performance(load_order(order.read_text(encoding="utf-8")), result).play()


if __name__ == "__main__":
    main()
