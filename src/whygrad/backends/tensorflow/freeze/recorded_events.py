"""What happened beside requests and updates, as events of the recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from whygrad.backends.tensorflow.freeze.traced_functions import traced_functions
from whygrad.graph import Event

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture


def events_of(capture: Capture) -> Iterator[Event]:
    yield from capture.keras.events()
    yield from tuple(dict.fromkeys(capture.events))
    yield from traced_functions(capture)
    yield from capture.recorder.folds.events()
    yield from capture.sparse_updates.events()
    capture.histories.at_the_end()
    yield from capture.sentinel.events()
    yield from capture.compiled_steps.events()
    yield from capture.update_watch.events()
    yield from capture.scale_watch.events()
    last = capture.update_watch.at_the_end()
    if last is not None:
        yield last
