"""What a step must keep so that it can be replayed: the values that no op of it can make again.

Only what is alive anyway is held: the batch, reads of variables (a shared buffer, no copy), random draws. All of it is
let go before an update, so that the optimizer still writes in place.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple


class WayBack(NamedTuple):
    """A gradient that is no op's own: a user's custom one, or a compiled function's."""

    backward: Any
    outputs: tuple[int, ...]  # tensor ids
    inputs: tuple[int, ...]


class Episode:
    """From the moment a first tape records to the last gradient that is asked of its tapes."""

    __slots__ = ("__weakref__", "closures", "held", "scaled", "start", "tapes")

    def __init__(self, start: int) -> None:
        self.start = start  # the recorder's clock
        self.held: dict[int, Any] = {}  # tensor id -> tensor
        self.closures: dict[int, WayBack] = {}  # first output -> how to go back
        self.scaled: dict[int, int] = {}  # scaled loss -> loss, by tensor id
        self.tapes = 0  # tapes that may still be asked


class Episodes:
    """Which episode each living tape belongs to."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.of_tape: weakref.WeakKeyDictionary[Any, Episode] = weakref.WeakKeyDictionary()

    def entered(self, tape: Any) -> None:
        """A tape begins to record; the first one begins an episode."""
        recorder = self.recorder
        if not recorder.tapes or recorder.episode is None:
            recorder.episode = Episode(recorder.now)
        if tape not in self.of_tape:
            self.of_tape[tape] = recorder.episode
            recorder.episode.tapes += 1

    def asked(self, tape: Any, *, again: bool) -> None:
        """A gradient was taken; a tape that cannot be asked again needs nothing any more."""
        if again:
            return
        episode = self.of_tape.pop(tape, None)
        if episode is not None:
            episode.tapes -= 1
            if episode.tapes <= 0 and episode is self.recorder.episode:
                self.recorder.episode = None

    def updating(self) -> None:
        """Variables are about to be written; a living tape that may be asked again keeps its own episode."""
        if not self.recorder.tapes:
            self.recorder.episode = None
