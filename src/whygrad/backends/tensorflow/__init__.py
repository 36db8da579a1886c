"""TensorFlow and Keras: capture, and the training toolkit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

from whygrad.backends import WatchOptions
from whygrad.graph import Failure, Recording


class TensorFlowBackend:
    """The face that `watch` sees."""

    def __init__(self, on_settled: Callable[[], None] | None, options: WatchOptions) -> None:
        from whygrad.backends.tensorflow.capture import Capture

        self.capture = Capture(on_settled, options)

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


def make(on_settled: Callable[[], None] | None = None, options: WatchOptions | None = None) -> TensorFlowBackend:
    return TensorFlowBackend(on_settled, options or WatchOptions())
