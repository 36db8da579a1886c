"""Gradient tapes: when they record, what they watch, what they are asked for."""

from __future__ import annotations

import itertools
import sys
import weakref
from collections import deque
from types import FrameType
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.episode import Episodes
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.variables import VariableBook

KEPT_STOPS = 64  # of one tape, the last ones
_MOST_PLACES: Final = 4  # at which one tape was told to watch something


class TapeFacts:
    """What is known of one tape."""

    __slots__ = (
        *("began", "emptied", "ended", "entered", "graph", "number", "stopping", "stops"),
        *("persistent", "requests", "used_up", "watched", "watched_at", "watches_variables"),
    )

    def __init__(self, number: int, tape: Any, entered: Any, graph: Any) -> None:
        self.number = number
        self.began = self.ended = 0  # the recorder's clock when it was first entered and last left
        self.entered = entered
        self.graph = graph
        self.persistent = compat.is_persistent(tape)
        self.watches_variables = compat.watches_variables(tape)
        self.watched: dict[int, int] = {}  # tensor or handle id -> clock
        self.emptied: tuple[int, Any] | None = None  # the clock when it was last reset, and where
        self.stopping: Any = None  # where its recording is about to be stopped
        self.stops: deque[list[Any]] = deque(maxlen=KEPT_STOPS)  # from when to when, and where
        self.watched_at: list[Any] = []  # where, the first few
        self.requests = 0
        self.used_up: Any = None  # where the one request of a tape that is not persistent was made


class Tapes:
    """All tapes of a capture; facts of dead tapes are kept only where a request needs them."""

    def __init__(self, recorder: Recorder, variables: VariableBook, episodes: Episodes) -> None:
        self._recorder = recorder
        self._variables = variables
        self._episodes = episodes
        self.numbers = itertools.count(1)
        self.facts: weakref.WeakKeyDictionary[Any, TapeFacts] = weakref.WeakKeyDictionary()

    def of(self, tape: Any) -> TapeFacts:
        facts = self.facts.get(tape)
        if facts is None:
            entered = self._recorder.places.at(sys._getframe(1))
            facts = TapeFacts(next(self.numbers), tape, entered, compat.current_graph())
            self.facts[tape] = facts
        return facts

    def pushed(self, tape: Any) -> None:
        if self._recorder.replaying:
            return
        recorder, facts = self._recorder, self.of(tape)
        recorder.wake()
        if not recorder.open_tapes and compat.current_graph() is None:
            recorder.begin_step()
        if facts.graph is None:
            self._episodes.entered(tape)
        facts.began = facts.began or recorder.now + 1
        if facts.stops and facts.stops[-1][1] is None:
            facts.stops[-1][1] = recorder.now
        recorder.tapes = (*recorder.tapes, facts.number)
        recorder.open_tapes += 1

    def popped(self, tape: Any) -> None:
        if self._recorder.replaying:
            return
        recorder, facts = self._recorder, self.of(tape)
        facts.ended, number = recorder.now, facts.number
        if facts.stopping is not None:
            facts.stops.append([recorder.now, None, facts.stopping])
            facts.stopping = None
        recorder.open_tapes -= number in recorder.tapes
        recorder.tapes = tuple(active for active in recorder.tapes if active != number)
        recorder.trim()

    def stopping(self, tape: Any, frame: FrameType) -> None:
        """What runs next is not recorded."""
        self.of(tape).stopping = self._recorder.places.at(frame)

    def emptied(self, tape: Any, frame: FrameType) -> None:
        """What it has recorded is gone, and so is what it was told to watch."""
        facts = self.of(tape)
        facts.emptied = (self._recorder.now, self._recorder.places.at(frame))
        facts.watched.clear()

    def still_needed(self) -> list[tuple[int, int]]:
        """From when to when the tapes recorded that may still be asked for a gradient."""
        begun = [facts for facts in self.facts.values() if facts.began and facts.graph is None]
        return [(facts.began, facts.ended) for facts in begun if facts.persistent or facts.used_up is None]

    def watched(self, tape: Any, sources: Any) -> None:
        facts = self.of(tape)
        if len(facts.watched_at) < _MOST_PLACES:
            facts.watched_at.append(self._recorder.places.at(sys._getframe(1)))
        for item in compat.flatten(sources):
            entry = self._variables.of(item) if hasattr(item, "assign") else None
            number = entry.id if entry is not None else compat.id_of(item)
            if number is not None:
                facts.watched.setdefault(number, self._recorder.now)
