"""Calls of a compiled training step that is known by now: one in sixteen is looked at as the first were, or fewer where
steps are so short that this would be felt.

The others run without the ops that measure the step, and are noted in a few lines: on a step of a fraction of a
millisecond, everything else would be felt. What may come of such a call is the same as of the full ones: its arguments
are kept for a replay, its small results are looked at, the ledger's clock goes on, and an op that takes its results
finds out who made them.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.nonfinite.replay.step_histories import SMALL_RESULT, StepHistories
from whygrad.backends.tensorflow.nonfinite.replay.step_history import Call, StepHistory

FULLY: Final = 16  # one call in so many, or a multiple
FULLY_AT_LEAST: Final = 256  # one call in so many, however short they are
SELDOM: Final = 0.1  # seconds between two of those, as far as that allows it
KNOWN_AFTER: Final = 64  # calls, a multiple of that
_ASK: Final = 8  # full calls after which a step is asked again how often it ran: another may count with it
_NOTHING: Final[dict[int, Any]] = {}
_MAY_WAIT: Final = 2**18  # bytes that a call takes, at most, if its note may wait
_SMALL: Final = 4000  # ops of a graph that is worth a second function: with more, a step takes longer than it saves


class KnownStep:
    """One function, and what is the same for all of its calls."""

    def __init__(self, function: Any, history: StepHistory, recorder: Recorder, histories: StepHistories) -> None:
        self.function = function
        self.history = history
        self.lean = compat.without_own_ops(function) if _may_be_doubled(history) else None
        self.call = compat.short_call(function, self.lean)  # None: only TensorFlow itself may call it
        self.left = 0  # calls until a full one
        self.every = FULLY
        self._last_look = (history.calls, time.perf_counter())  # the call, and when
        self.ahead = 0  # by how much the step's own count, which says when it measures, is ahead of that of its calls
        self.looks = 0
        self._recorder, self._histories = recorder, histories
        self._runs = recorder.ledger.runs_known(history.graph)
        self._numbers = recorder.traced.has_values(history.graph)
        self._labels = recorder.labels.tensors
        self._variables = recorder.variables
        self._takes_data = history.facts.takes_data
        self._changed = _NOTHING  # by other code, before the call that is about to be made
        self._opens: tuple[Any, Any] = (None, None)  # what such values are like, and the short way to take one
        outputs = history.graph.outputs
        self._looked_at = [i for i, each in enumerate(outputs) if _is_small(each) and each.dtype.is_floating]
        # a note that waits keeps what the call took and gave
        size = history.data_bytes
        self._may_wait = size is not None and size <= _MAY_WAIT and all(map(_is_small, outputs))

    def looked(self) -> None:
        """A call is about to be looked at in full; how long is it to the next?"""
        self.looks += 1
        (before, then), self._last_look = self._last_look, (self.history.calls, time.perf_counter())
        calls, now = self._last_look
        period = (now - then) / max(1, calls - before)
        self.every = FULLY
        while self.every < FULLY_AT_LEAST and self.every * period < SELDOM:
            self.every *= 2
        self.left = self.every - 1 - (calls + self.ahead) % self.every

    def takes(self, arguments: tuple[Any, ...], hooks: Hooks) -> bool:
        """Whether the call that is about to be made may pass without a closer look."""
        history, recorder, labels = self.history, self._recorder, self._labels
        is_due = self.left <= 0 or recorder.is_busy or time.perf_counter() >= history.next_at
        if is_due or not hooks.is_thread(threading.get_ident()) or not compat.runs_eagerly():
            return False
        if labels and not labels.keys().isdisjoint([compat.tensor_id(arguments[i]) for i in history.data_at]):
            return False
        if self._takes_data or history.writes_seen != self._variables.writes:
            hooks.safely(self._look_ahead, arguments)
        return True

    def _look_ahead(self, arguments: tuple[Any, ...]) -> None:
        history, histories = self.history, self._histories
        if self._takes_data and history.is_whole:
            histories.keep_batch(history)
        self._changed = histories.changed_by_others(history, arguments)

    def ran(self, arguments: tuple[Any, ...], results: Any, hooks: Hooks) -> None:
        """The call is over."""
        self.left -= 1
        changed, self._changed = self._changed, _NOTHING
        (hooks.later if self._may_wait else hooks.safely)(self._note, arguments, results, changed)

    def _note(self, arguments: tuple[Any, ...], results: Any, changed: dict[int, Any]) -> None:
        history, recorder, histories = self.history, self._recorder, self._histories
        history.unsaid += 1
        history.calls += 1
        history.died = False
        histories.latest = history
        histories.keep(history, Call(arguments, changed=changed))
        recorder.ledger.ran_again(self._runs)
        if self._numbers:
            recorder.traced.ran((history.graph,))
        recorder.passed(results or (), history.graph)
        for i in self._looked_at:
            if not _has_finite_sum(compat.array_view(results[i])):
                with compat.eager_scope():  # another function may be traced by now
                    histories.look_at(history, results)
                break

    def gave(self, result: Any) -> bool:
        """Whether this came out of a call that passed."""
        return self._recorder.passed_on_by(result) is self.history.graph

    def open(self, optional: Any) -> tuple[Any, list[Any]] | None:
        """The value of an Optional that came out of such a call, and its tensors; None: only TensorFlow may take it."""
        if optional.element_spec is not self._opens[0]:
            self._opens = optional.element_spec, compat.short_opening(optional)
        opening = self._opens[1]
        if opening is None or self._recorder.is_busy:
            return None
        try:
            found: tuple[Any, list[Any]] = opening(optional)
        except Exception:  # there is no value: TensorFlow says so in its own words
            return None
        return found

    def opened(self, results: list[Any]) -> None:
        """`fit` has taken these out of the result of such a call."""
        self._recorder.passed_on(results, self.history.graph)
        if not all(map(_looks_fine, results)):
            self._histories.look_at(self.history, results, "optional")


def _may_be_doubled(history: StepHistory) -> bool:
    """Whether a second function would do what the first does: ops that draw keep a state, each function its own."""
    facts = history.facts
    keeps_state = facts.draws or facts.runs_python or facts.reaches_out
    return not keeps_state and compat.count_operations(history.graph) <= _SMALL


def _looks_fine(result: Any) -> bool:
    """Whether a value is no small float, or seems finite; else it is looked at closely."""
    if not result.dtype.is_floating:
        return True
    value = compat.array_view(result)
    return value.size > SMALL_RESULT or _has_finite_sum(value)


def _has_finite_sum(value: Any) -> bool:
    return math.isfinite(value.sum() if value.ndim else value)  # of a single number NumPy takes its time


def _is_small(result: Any) -> bool:
    dtype, count = result.dtype, result.shape.num_elements()
    return (dtype.is_floating or dtype.is_integer) and count is not None and 0 < count <= SMALL_RESULT


class KnownSteps:
    """Finds out which functions are known well enough, and when one of them is to be looked at again."""

    def __init__(
        self,
        recorder: Recorder,
        histories: Callable[[], StepHistories],
        turn_of: Callable[[Any], int | None],
        known: dict[int, KnownStep],
    ) -> None:
        self._recorder = recorder
        self._histories_of = histories
        self._turn_of = turn_of  # how often a graph has run, as it counts itself
        self.of = known  # by the id of the function, which the step keeps alive

    def look(self, function: Any, history: StepHistory) -> None:
        """A call is about to be looked at in full."""
        step = self.of.get(id(function))
        if step is None:
            if history.calls < KNOWN_AFTER or not self._is_plain(history):
                return
            step = self.of[id(function)] = KnownStep(function, history, self._recorder, self._histories_of())
        if step.looks % _ASK == 0 and step.lean is not None:
            turn = self._turn_of(history.graph)
            step.ahead = 0 if turn is None else turn - history.calls
        step.looked()

    def settle(self) -> None:
        """Somebody asks what was seen so far."""
        for step in self.of.values():
            self._histories_of().tell_steps(step.history)

    def _is_plain(self, history: StepHistory) -> bool:
        """Whether nobody wants to hear of every call, and no gradient goes in or out of the function."""
        recorder, histories = self._recorder, self._histories_of()
        if histories.hears_all(history) or recorder.on_call or history.bad_calls or history.facts.runs_python:
            return False
        labels, key = recorder.labels, recorder.observed.functions.of(history.graph)
        return not (labels.tensors or labels.variables) or labels.calls.gives_none(key)
