"""TensorFlow and Keras: listen, log, freeze. What is wrong with a program is not decided here."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

from whygrad.backends import WatchOptions
from whygrad.backends.tensorflow.capability import MissingNameError
from whygrad.graph import Failure, Held, Recording


class TensorFlowBackend:
    """The face that `watch` sees."""

    def __init__(self, on_settled: Callable[[], None] | None, options: WatchOptions) -> None:
        from whygrad.backends.tensorflow.capture import Capture

        self.capture = Capture(on_settled, options)

    def start(self) -> None:
        try:
            self.capture.start()
        except MissingNameError:  # said already
            self.capture.stop()
        except Exception as error:
            self.capture.stop()
            self.capture.hooks.fail(error)

    def join(self, module: ModuleType) -> None:
        self.capture.hooks.safely(self.capture.join, module)

    def stop(self) -> None:
        """Put everything back, and say which steps were kept."""
        self.capture.stop()
        for line in self.capture.keeper.take_lines():
            print(line, file=sys.stderr)

    def record(self, failure: Failure | None = None) -> Recording:
        return self.capture.freezer.recording(failure)

    def has_failed(self) -> bool:
        """Whether something of ours failed, so that the program went on unwatched."""
        return self.capture.hooks.broken

    def held_in(self, value: object) -> tuple[Held, ...] | None:
        """The variables and gradients in a value, or in a list of them; None where there are none."""
        from whygrad.backends.tensorflow.freeze.operands import held_in

        with self.capture.recorder.pausing():
            return held_in(self.capture.variables, self.capture.updates, value)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """For ops of our own, which are none of the program's."""
        with self.capture.recorder.pausing():
            yield


def make(on_settled: Callable[[], None] | None = None, options: WatchOptions | None = None) -> TensorFlowBackend:
    return TensorFlowBackend(on_settled, options or WatchOptions())
