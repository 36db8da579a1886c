"""TensorFlow and Keras: capture, and the training toolkit."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from whygrad.backends import WatchOptions
from whygrad.diagnostics import Diagnostic
from whygrad.graph import Failure, Recording

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.loop_recorder import LoopRecorder


class TensorFlowBackend:
    """The face that `watch` sees."""

    def __init__(self, on_settled: Callable[[], None] | None, options: WatchOptions) -> None:
        from whygrad.backends.tensorflow.capture import Capture

        self.capture = Capture(on_settled, options)
        self._steps: LoopRecorder | None = None

    def start(self) -> None:
        try:
            self.capture.start()
        except Exception as error:
            self.capture.stop()
            self.capture.hooks.fail(error)

    def join(self, module: ModuleType) -> None:
        self.capture.hooks.safely(self.capture.join, module)

    def stop(self) -> None:
        """Put everything back, and tell what the guards of `--guard` have held back, and what was kept."""
        self.capture.stop()
        for report in (*self.capture.guards.take_reports(), *self.capture.keeper.take_lines()):
            print(report, file=sys.stderr)

    def record(self, failure: Failure | None = None) -> Recording:
        from whygrad.backends.tensorflow.recording import record

        return record(self.capture, failure)

    def record_step(self, name: str, folder: str | os.PathLike[str] | None, numbers: Mapping[str, Any]) -> None:
        """Record one step of a loop; our own ops are none of the program's."""
        from whygrad.backends.tensorflow.loop_recorder import LoopRecorder

        recorder = self.capture.recorder
        recorder.paused += 1
        try:
            if self._steps is None:
                self._steps = LoopRecorder(name, folder=folder)
            self._steps.record(**numbers)
        finally:
            recorder.paused -= 1

    def close_steps(self, failure: Failure | None, found: Sequence[Diagnostic]) -> None:
        """End the run that was recorded, if one was, and keep what was found with it."""
        steps, self._steps = self._steps, None
        if steps is not None:
            steps.close("finished" if failure is None else "failed", found)


def make(on_settled: Callable[[], None] | None = None, options: WatchOptions | None = None) -> TensorFlowBackend:
    return TensorFlowBackend(on_settled, options or WatchOptions())
