"""Finding, in the recent past of a compiled function, the step that went bad, and in that step the op."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.nonfinite.finite import is_finite
from whygrad.backends.tensorflow.nonfinite.flight import Call, Flight, TracedRequest
from whygrad.backends.tensorflow.nonfinite.functions import Interpreter, ReplayError
from whygrad.backends.tensorflow.nonfinite.trace import Trace, Value

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture


class CompiledReplay:
    """One step of a compiled function, run op by op on copies of the variables."""

    def __init__(self, capture: Capture, flight: Flight) -> None:
        self.capture = capture
        self.flight = flight
        self.trace = Trace()
        self.interpreter = Interpreter(capture, self.trace)
        self.step = flight.calls
        self.outputs: list[Value] = []

    def run(self) -> None:
        """Find the first bad step and run it. Raises ReplayError."""
        flight = self.flight
        if flight.too_large:
            raise ReplayError("the variables are too large to be kept by the way")
        if flight.snapshot is None or not flight.history:
            raise ReplayError("the values of the step are gone")
        if not flight.is_whole:
            raise ReplayError("the step is too long after the last time its variables were kept")
        self.capture.flights.keep_batch(flight)
        state, call, ahead = self._first_bad()
        self.step = flight.snapshot_at + ahead
        self.interpreter = self._begin(call, state, self.trace)
        self.outputs = self._call(self.interpreter, call)

    def _begin(self, call: Call, state: dict[int, Any], trace: Trace) -> Interpreter:
        interpreter = Interpreter(self.capture, trace, state)
        if self.flight.facts.takes_data:
            if call.batch is None:
                raise ReplayError("the batch is taken from a data set inside the compiled step, and is gone")
            interpreter.given = [call.batch]
        return interpreter

    def _call(self, interpreter: Interpreter, call: Call) -> list[Value]:
        inputs = [Value(tensor, None, tensor._id) for tensor in call.arguments]
        interpreter.trace.values.update((value.number, value) for value in inputs if value.number is not None)
        return interpreter.call(self.flight.graph, inputs)

    def _first_bad(self) -> tuple[dict[int, Any], Call, int]:
        """The state before the first bad call of the history, the call, and how many calls went before it."""
        flight = self.flight
        assert flight.snapshot is not None
        state = dict(flight.snapshot)
        if len(flight.history) > 1 and not flight.facts.is_repeatable:
            raise ReplayError("the steps before it cannot be repeated, for they draw random numbers of their own")
        for ahead, call in enumerate(flight.history[:-1]):
            after = self._repeat(state, call)
            if not all(map(is_finite, after.values())):
                return state, call, ahead
            state = after
        return state, flight.history[-1], len(flight.history) - 1

    def _repeat(self, state: dict[int, Any], call: Call) -> dict[int, Any]:
        """The state after a call, run as it was compiled, on copies."""
        interpreter = self._begin(call, state, Trace())
        if self.flight.facts.takes_data:
            interpreter.opens_calls = False
            self._call(interpreter, call)
        else:
            arguments = interpreter.variables.exchange(call.arguments, state)
            compat.call_function(self.flight.function, arguments)
        touched = {number: interpreter.variables.value(number) for number in state}
        return {number: state[number] if value is None else value for number, value in touched.items()}

    def requests(self) -> Iterator[tuple[TracedRequest, dict[int, Value]]]:
        """Every request the step made, in order, with the values of its graph's tensors."""
        for graph, known in self.interpreter.calls:
            for request in self.capture.flights.requests.get(graph, ()):
                yield request, known

    def unscaled(self, request: TracedRequest, known: dict[int, Value]) -> list[Value]:
        """The losses that were scaled for a request: what only the scale makes overflow is absorbed by design."""
        for graph, values in self.interpreter.calls:
            if values is known:
                pairs = self.capture.flights.scaled.get(graph, {})
                return [known[before] for before in pairs.values() if before in known]
        return []

    def bad_variables(self) -> list[int]:
        """Variables that are trained and that the step leaves not finite."""
        assert self.flight.snapshot is not None
        after = {handle: self.interpreter.variables.value(handle) for handle in self.flight.snapshot}
        touched = {handle: value for handle, value in after.items() if value is not None}
        bad = self.capture.flights.bad_variables(touched) - self.flight.bad_from_start
        return [handle for handle in touched if handle in bad]
