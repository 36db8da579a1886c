"""Gradient tapes: when they record, what they watch, what they are asked for."""

from __future__ import annotations

import itertools
import sys
import weakref
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.gradient_calls import hear_requests

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture


class TapeFacts:
    """What is known of one tape."""

    __slots__ = (
        *("began", "ended", "entered", "graph", "number"),
        *("persistent", "requests", "used_up", "watched", "watches_variables"),
    )

    def __init__(self, number: int, tape: Any, entered: Any, graph: Any) -> None:
        self.number = number
        self.began = self.ended = 0  # the recorder's clock when it was first entered and last left
        self.entered = entered
        self.graph = graph
        self.persistent = compat.is_persistent(tape)
        self.watches_variables = compat.watches_variables(tape)
        self.watched: dict[int, int] = {}  # tensor or handle id -> clock
        self.requests = 0
        self.used_up: Any = None  # where the one request of a tape that is not persistent was made


class Tapes:
    """All tapes of a capture; facts of dead tapes are kept only where a request needs them."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.numbers = itertools.count(1)
        self.facts: weakref.WeakKeyDictionary[Any, TapeFacts] = weakref.WeakKeyDictionary()

    def of(self, tape: Any) -> TapeFacts:
        facts = self.facts.get(tape)
        if facts is None:
            recorder = self.capture.recorder
            facts = TapeFacts(next(self.numbers), tape, recorder._place(sys._getframe(1)), self.capture.current_graph())
            self.facts[tape] = facts
        return facts

    def pushed(self, tape: Any) -> None:
        recorder, facts = self.capture.recorder, self.of(tape)
        self.capture.listen()
        if not recorder.open_tapes and self.capture.current_graph() is None:
            recorder.begin_step()
        if facts.graph is None:
            self.capture.episodes.entered(tape)
        facts.began = facts.began or recorder.now + 1
        recorder.tapes = (*recorder.tapes, facts.number)
        recorder.open_tapes += 1

    def popped(self, tape: Any) -> None:
        recorder, facts = self.capture.recorder, self.of(tape)
        facts.ended, number = recorder.now, facts.number
        recorder.open_tapes -= number in recorder.tapes
        recorder.tapes = tuple(active for active in recorder.tapes if active != number)
        recorder.trim()

    def still_needed(self) -> list[tuple[int, int]]:
        """From when to when the tapes recorded that may still be asked for a gradient."""
        living = [facts for facts in self.facts.values() if facts.persistent or facts.used_up is None]
        return [(facts.began, facts.ended) for facts in living if facts.graph is None]

    def watched(self, tape: Any, sources: Any) -> None:
        facts = self.of(tape)
        for item in compat.flatten(sources) if compat.flatten else ():
            entry = self.capture.variables.of(item) if hasattr(item, "assign") else None
            number = entry.id if entry is not None else compat.id_of(item)
            if number is not None:
                facts.watched.setdefault(number, self.capture.recorder.now)


def install(capture: Capture) -> None:
    """Hook the class; `tf.GradientTape` is the same object everywhere."""
    hooks, tapes = capture.hooks, capture.tapes
    owner = compat.GradientTape

    def push(original: Any) -> Any:
        def _push_tape(self: Any) -> Any:
            result = original(self)
            hooks.safely(tapes.pushed, self)
            return result

        return _push_tape

    def pop(original: Any) -> Any:
        def _pop_tape(self: Any) -> Any:
            result = original(self)
            hooks.safely(tapes.popped, self)
            return result

        return _pop_tape

    def watch(original: Any) -> Any:
        def watch(self: Any, tensor: Any) -> Any:
            hooks.safely(tapes.watched, self, tensor)
            return original(self, tensor)

        return watch

    hooks.replace(owner, "_push_tape", push)
    hooks.replace(owner, "_pop_tape", pop)
    hooks.replace(owner, "watch", watch)
    hear_requests(hooks, capture.requests, "gradient", "jacobian", "batch_jacobian")
