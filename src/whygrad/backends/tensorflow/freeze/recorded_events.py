"""What happened beside requests and updates, as events of the recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from whygrad.backends.tensorflow.freeze.traced_functions import traced_functions
from whygrad.backends.tensorflow.log.positions import span
from whygrad.graph import Event
from whygrad.graph.event import ClippedSum, RunningTotal

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture


def events_of(capture: Capture) -> Iterator[Event]:
    yield from capture.keras.events()
    yield from tuple(dict.fromkeys(capture.events))
    for (clipped, summed), noised in capture.recorder.labels.clipped_sums.items():
        yield ClippedSum(clipped=span(clipped), summed=span(summed), noised=noised)
    for asked, total in capture.recorder.labels.carried_sums.items():
        yield RunningTotal(asked=span(asked), summed=span(total))
    yield from traced_functions(capture)
    yield from capture.recorder.row_writes.events()
    yield from capture.sparse_updates.events()
    yield from capture.recorder.discarded.events()
    yield from capture.recorder.rebound_names.events()
    capture.histories.at_the_end()
    yield from capture.sentinel.events()
    yield from capture.compiled_steps.events()
    yield from capture.update_watch.events()
    yield from capture.scale_watch.events()
    last = capture.update_watch.at_the_end()
    if last is not None:
        yield last
