"""Whether a gradient is one of a loss that was multiplied by a loss scale: asked of the ops between the two."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.function_graphs import captured
from whygrad.backends.tensorflow.log.op_record import TensorFacts, TraceLog
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.graph import OpKind
from whygrad.observe.label import Asked, Label

_MOST_OPS: Final = 20_000  # looked at for one gradient
_MOST_LOSSES: Final = 1024  # that were scaled at once, and lately

_Home = tuple[Any, TraceLog] | None  # a graph and its log; None: ops that ran at once


@dataclass(frozen=True, slots=True)
class Scale:
    """What an optimizer divides gradients by."""

    variable: int | None  # the one that holds it, once there is one
    first: float | None = None
    present: float | None = None  # where it can be read

    def factor(self, *, now: bool) -> float | None:
        return self.present if now and self.present is not None else self.first

    def is_number(self, value: float | None) -> bool:
        return value is not None and value in (self.first, self.present)


@dataclass(slots=True)
class ScaledDescent:
    """The losses that were scaled, and what comes of them."""

    recorder: Recorder
    variables: VariableBook
    traced: set[int] = field(default_factory=set)
    lately: deque[int] = field(default_factory=lambda: deque(maxlen=_MOST_LOSSES))

    def add(self, loss: int, *, traced: bool) -> None:
        if traced:
            self.traced.add(loss)
        else:
            self.lately.append(loss)

    def of_gradients(
        self, gradients: Iterable[tuple[int | None, Label | None]], scale: Scale
    ) -> Iterator[tuple[bool | None, Asked]]:
        """Of gradients with what is known of them: whether they, or their losses, may be multiplied by the scale.

        Those of the same requests are asked together. None: not all ops are known; and the last of the requests.
        """
        by_requests: dict[frozenset[Asked], list[int]] = {}
        trained: set[int] = set()
        for number, label in gradients:
            if label is not None and label.requests:
                by_requests.setdefault(label.requests, []).extend([] if number is None else [number])
                trained |= label.variables
        for requests, numbers in by_requests.items():
            targets = [number for asked in requests for number in (*asked.targets, *asked.given)]
            answer = _Walk(self, scale, trained).reaches([*numbers, *targets]) if targets else None
            yield answer, max(requests, key=lambda asked: asked.at)


class _Walk:
    """From some tensors back through all ops that they were made by."""

    def __init__(self, descent: ScaledDescent, scale: Scale, trained: Container[int]) -> None:
        self.recorder, self.variables = descent.recorder, descent.variables
        self.scale, self.trained = scale, trained
        self.scaled = descent.traced.union(descent.lately)
        self.homes = list(self.recorder.traces.items())
        self.seen: set[int] = set()
        self.todo: list[tuple[int, _Home]] = []
        self.is_whole = True

    def reaches(self, starts: Iterable[int]) -> bool | None:
        starts = list(starts)
        if not self.scaled.isdisjoint(starts):
            return True
        self.todo = [(number, self._home_of(number)) for number in starts]
        while self.todo:
            number, home = self.todo.pop()
            if number in self.seen:
                continue
            self.seen.add(number)
            if len(self.seen) > _MOST_OPS:
                return None
            if number in self.scaled or self._is_scale(number, home):
                return True
        return False if self.is_whole else None

    def _home_of(self, number: int) -> _Home:
        return next((home for home in self.homes if number in home[1].makers), None)

    def _is_scale(self, number: int, home: _Home) -> bool:
        """Whether this is the scale, or a number that may be; what it was made of is looked at next."""
        if number == self.scale.variable or self.scale.is_number(self.recorder.labels.constants.get(number)):
            return True
        if home is None and number in self.recorder.leaves:
            return False
        made = self.recorder.producers.get(number) if home is None else home[1].makers.get(number)
        if made is None or made.type.startswith("Placeholder"):
            return self._is_scale_outside(number, home)
        if made.kind is OpKind.READ and made.variable is not None:
            return made.variable == self.scale.variable or self._is_number_kept(made.variable, made.outputs)
        self.todo += [(each, home) for each in made.inputs]
        for graph in made.calls:
            log = self.recorder.traces.get(graph) if graph is not None else None
            if log is None:
                self.is_whole = False
            else:
                self.todo += [(compat.tensor_id(each), (graph, log)) for each in graph.outputs]
        return False

    def _is_scale_outside(self, number: int, home: _Home) -> bool:
        """Of a tensor that no op made: what came into a function, or the handle of a variable."""
        if home is None:
            self.is_whole &= number in self.variables.entries
            return False
        graph = home[0]
        outside = captured(graph).get(number)
        if outside is not None:
            self.todo.append((outside, self._home_of(outside)))
            return False
        given = next((each for each in graph.inputs if compat.tensor_id(each) == number), None)
        self.is_whole &= given is not None
        # A batch is no scale, and nobody scales a loss before it is computed.
        return given is not None and given.dtype.is_floating and given.shape.rank in (0, None)

    def _is_number_kept(self, variable: int, outputs: tuple[TensorFacts, ...]) -> bool:
        """Whether a variable holds one number that is not trained here: the scale may have been put there."""
        alone = any(fact.dtype.is_floating and fact.shape in ((), None) for fact in outputs)
        return alone and variable not in self.trained
