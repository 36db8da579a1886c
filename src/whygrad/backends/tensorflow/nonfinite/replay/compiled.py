"""Finding, in the recent past of a compiled function, the step that went bad, and in that step the op."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.function_graphs import graphs_inside
from whygrad.backends.tensorflow.nonfinite.replay.functions import Interpreter
from whygrad.backends.tensorflow.nonfinite.replay.step_histories import StepHistories
from whygrad.backends.tensorflow.nonfinite.replay.step_history import Call, StepHistory, TracedRequest
from whygrad.backends.tensorflow.nonfinite.replay.trace import ReplayError, Trace, Value
from whygrad.backends.tensorflow.nonfinite.watched import Watched

TRYING: Final = 8.0  # seconds for runs of a step with other random numbers, or rounded otherwise
TRIES: Final = 2000


class _OthersMissingError(ReplayError):
    """The state after a step cannot be had without what other processes gave to it."""


class CompiledReplay:
    """One step of a compiled function, run op by op on copies of the variables."""

    def __init__(self, watched: Watched, histories: StepHistories, history: StepHistory) -> None:
        self.watched = watched
        self.histories = histories
        self.history = history
        self.trace = Trace()
        self.interpreter = Interpreter(watched, self.trace)
        self.step = history.calls
        self.outputs: list[Value] = []
        self.tries = 0  # runs with other random numbers, or with other last digits
        self.rounding: np.random.Generator | None = None
        self.died: Exception | None = None  # of an op of the step, which ends the replay there

    def run(self) -> None:
        """Find the first bad step and run it. Raises ReplayError."""
        history = self.history
        if history.too_large:
            raise ReplayError("the variables are too large to keep copies of")
        if history.snapshot is None or history.last is None:
            raise ReplayError("the values of the step are gone")
        self.histories.keep_batch(history)
        if not history.is_whole or (len(history.recent) > 1 and not self._draws_alike()):
            self._try_again()
            return
        try:
            state, call, ahead = self._first_bad()
        except _OthersMissingError:
            self._try_again()
            return
        self.step = history.snapshot_at + ahead
        self._run_step(state, call, Trace())
        self.tries += self.interpreter.drew_others
        self.trace.tries = self.tries
        if history.facts.draws and self.died is None and not self._is_bad() and not self._asks_for_bad():
            self._try_again()  # with the numbers of that step it is bad
        elif self.trace.somebody_missing:
            self._check_own()
        elif self.died is None and not self._is_bad() and not self._asks_for_bad() and self._went_bad():
            self._round_until_bad(state, call)

    def _draws_alike(self) -> bool:
        """Whether the random numbers of all these steps can be drawn once more."""
        facts, recent = self.history.facts, self.history.recent
        return not facts.draws or (not facts.draws_untold and all(call.drawn is not None for call in recent))

    def run_kept(self) -> None:
        """Run the first step that was kept, whatever became of it. Raises ReplayError."""
        history = self.history
        self.histories.keep_batch(history)
        if history.snapshot is None or not history.recent:
            raise ReplayError("the values of the step are gone")
        self._run_step(history.snapshot, history.recent[0], Trace())

    def _run_step(self, state: dict[int, Any], call: Call, trace: Trace) -> None:
        self.trace = trace
        self.interpreter = self._begin(call, state, trace)
        self.outputs, self.died = [], None
        try:
            self.outputs = self._call(self.interpreter, call)
        except ReplayError:
            raise
        except Exception as error:  # an op of the user's: what ran before it is known all the same
            self.died = error

    def _try_again(self) -> None:
        """The steps since the variables were kept cannot be repeated: run the bad one as if they had not been."""
        history = self.history
        assert history.snapshot is not None
        assert history.last is not None
        state, call = {**history.snapshot, **history.changed}, history.last
        if self._is_bad_from(state, call):
            return
        if self.trace.somebody_missing:
            self._check_own()
        if self._is_beside():
            return
        if not history.facts.draws:
            raise ReplayError("too many steps lie between it and the last copy of its variables")
        if history.is_whole and len(history.recent) > 1:
            state, call, _ = self._first_bad()  # nearer to the weights that it went bad with
            if self._is_bad_from(state, call):
                return
        self._draw_until_bad(state, call)

    def _draw_until_bad(self, state: dict[int, Any], call: Call) -> None:
        """Run the step with other random numbers until the same results go bad. Raises ReplayError."""
        call, end = replace(call, drawn=None), time.monotonic() + TRYING
        while self.tries < TRIES and time.monotonic() < end:
            if self._is_bad_from(state, call):
                return
        raise ReplayError(f"it drew random numbers of its own, and with others it stayed finite in {self.tries} runs")

    def _round_until_bad(self, state: dict[int, Any], call: Call) -> None:
        """Run the step with other last digits, as a compiled one may have, until it goes bad; else as it is."""
        self.rounding, end = np.random.default_rng(0), time.monotonic() + TRYING
        while self.tries < TRIES and time.monotonic() < end:
            self._run_step(state, call, Trace())
            self.tries += 1
            if self._is_bad():
                self.trace.is_exact, self.trace.tries, self.trace.is_rounded_otherwise = False, self.tries, True
                return
        self.rounding, self.tries = None, 0
        self._run_step(state, call, Trace())

    def _went_bad(self) -> bool:
        """Whether the program itself saw bad results of the function, or is left with bad variables by it."""
        history = self.history
        left = self.histories.bad_variables(history.values_now()) - history.bad_from_start
        return bool(history.bad_results or left)

    def _is_bad_from(self, state: dict[int, Any], call: Call) -> bool:
        """Whether a call goes bad, run with another state or with other random numbers than it had."""
        self._run_step(state, call, Trace())
        self.tries += self.interpreter.drew_others
        self.trace.is_exact, self.trace.tries = False, self.tries
        return self._is_bad()

    def _is_bad(self) -> bool:
        seen = self.history.bad_results
        if seen and self.history.facts.draws and self.died is None:  # with other numbers, others may be bad
            return all(self.outputs[i].bad for i in seen if i < len(self.outputs))
        return any(value.bad for value in self.outputs) or bool(self.bad_variables())

    def _is_beside(self) -> bool:
        """Whether the step left its variables finite, and what it gave that was bad is made of no loss or gradient."""
        history, results = self.history, [self.outputs[i] for i in self.history.bad_results if i < len(self.outputs)]
        if not results or not self.histories.bad_variables(history.values_now()) <= history.bad_from_start:
            return False
        asked = {
            id(known[number])
            for made, known in self.requests()
            for number in (*made.targets, *(each for _, each in made.gradients))
            if number in known
        }
        todo, seen = list(results), set(map(id, results))
        while todo:
            maker = todo.pop().maker
            fresh = [
                each for each in (() if maker is None else maker.inputs) if each is not None and id(each) not in seen
            ]
            todo += fresh
            seen.update(map(id, fresh))
        return bool(asked) and asked.isdisjoint(seen)

    def _asks_for_bad(self) -> bool:
        """Whether a gradient of the step is bad that reaches no result, as where a guard keeps it out."""
        asked = ((known, (*made.targets, *(each for _, each in made.gradients))) for made, known in self.requests())
        return any(known[number].bad for known, numbers in asked for number in numbers if number in known)

    def _check_own(self) -> None:
        """Raise ReplayError where the step is bad only with what other processes gave to it."""
        if self._is_bad():
            return
        if len(self.history.recent) > 1:
            raise ReplayError(
                "what this worker computes from older weights is finite, so that the others likely made it"
            )
        raise ReplayError("what this worker computes is finite, and what it gets from the others is not")

    def _begin(self, call: Call, state: dict[int, Any], trace: Trace) -> Interpreter:
        interpreter = Interpreter(self.watched, trace, state)
        interpreter.drawn, interpreter.rounding = call.drawn, self.rounding
        interpreter.python_gave = {token: list(results) for token, results in call.python_gave.items()}
        if self.history.facts.takes_data:
            if call.batches is None:
                raise ReplayError("the batch is taken from a data set inside the compiled step, and is gone")
            interpreter.given = list(call.batches)
        return interpreter

    def _call(self, interpreter: Interpreter, call: Call) -> list[Value]:
        inputs = [Value(tensor, None, compat.tensor_id(tensor)) for tensor in call.arguments]
        interpreter.trace.values.update((value.number, value) for value in inputs if value.number is not None)
        return interpreter.call(self.history.graph, inputs)

    def _first_bad(self) -> tuple[dict[int, Any], Call, int]:
        """The state before the first bad call of the history, the call, and how many calls went before it."""
        history = self.history
        assert history.snapshot is not None
        state = history.snapshot
        for ahead, call in enumerate(history.recent[:-1]):
            state = {**state, **call.changed}
            try:
                after = self._repeat(state, call)
            except ReplayError:
                raise
            except Exception:  # it dies there: this is the one to open
                return state, call, ahead
            if not self.histories.bad_variables(after) <= history.bad_from_start:
                return state, call, ahead
            state = after
        return {**state, **history.recent[-1].changed}, history.recent[-1], len(history.recent) - 1

    def _repeat(self, state: dict[int, Any], call: Call) -> dict[int, Any]:
        """The state after a call, run as it was compiled, on copies."""
        interpreter = self._begin(call, state, Trace())
        facts = self.history.facts
        # Run as compiled, it would wait for others, run Python, or move on the numbers that the program draws next.
        opened = facts.meets_others or facts.runs_python or facts.draws
        if facts.takes_data or opened:
            interpreter.opens_calls = opened
            self._call(interpreter, call)
            if interpreter.trace.somebody_missing:
                raise _OthersMissingError
        else:
            arguments = interpreter.variables.exchange(call.arguments, state)
            compat.call_function(self.history.function, arguments)
        touched = {number: interpreter.variables.value(number) for number in state}
        return {number: state[number] if value is None else value for number, value in touched.items()}

    def requests(self) -> Iterator[tuple[TracedRequest, dict[int, Value]]]:
        """Every request the step made, in order, with the values of its graph's tensors."""
        for graph, known in self.interpreter.calls:
            for request in self.histories.requests.get(graph, ()):
                yield request, known

    def unscaled(self, request: TracedRequest, known: dict[int, Value]) -> list[Value]:
        """The losses that were scaled for a request: what only the scale makes overflow is absorbed by design."""
        for graph, values in self.interpreter.calls:
            if values is known:
                pairs = self.histories.scaled.get(graph, {})
                return [known[before] for before in pairs.values() if before in known]
        return []

    def bad_variables(self) -> list[int]:
        """Variables that are trained and that the step leaves not finite."""
        assert self.history.snapshot is not None
        after = {handle: self.interpreter.variables.value(handle) for handle in self.history.snapshot}
        touched = {handle: value for handle, value in after.items() if value is not None}
        bad = self.histories.bad_variables(touched) - self.history.bad_from_start
        return [handle for handle in touched if handle in bad]


class KeptSteps:
    """The calls of functions in a step that was kept of each compiled function; each is computed once."""

    def __init__(self, watched: Watched, histories: StepHistories) -> None:
        self._watched, self._histories = watched, histories
        self._replays: dict[int, CompiledReplay] = {}
        self._inside: dict[int, set[int]] = {}  # the graphs that a compiled function runs

    def calls(self, *graphs: Any) -> Iterator[tuple[Any, dict[int, Value]]]:
        """(one of these graphs, the values of its tensors), each time that it ran in such a step.

        Nothing of a step that cannot be computed without its effects, and what ran before an op that cannot be.
        """
        wanted = set(map(id, graphs))
        for history in self._histories.by_graph.values():
            facts = history.facts
            if facts.runs_python or facts.reaches_out or history.snapshot is None or history.too_large:
                continue
            inside = self._inside.get(id(history))
            if inside is None:
                inside = self._inside[id(history)] = {id(each) for each, _ in graphs_inside(history.graph)}
            if not wanted.isdisjoint(inside):
                yield from (call for call in self._replay_of(history).interpreter.calls if id(call[0]) in wanted)

    def _replay_of(self, history: StepHistory) -> CompiledReplay:
        replay = self._replays.get(id(history))
        if replay is None:
            replay = self._replays[id(history)] = CompiledReplay(self._watched, self._histories, history)
            with contextlib.suppress(ReplayError):
                replay.run_kept()
        return replay

    def clear(self) -> None:
        self._replays.clear()
        self._inside.clear()
