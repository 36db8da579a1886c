"""Calls of functions whose gradient the user wrote, a few of each: what it takes to check the formula after the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.episode import Episode
from whygrad.backends.tensorflow.log.op_record import CUSTOM, OpRecord
from whygrad.backends.tensorflow.measure.finite import bytes_of
from whygrad.source import SourceSpan

_MOST_FUNCTIONS: Final = 16
_CALLS_EACH: Final = 2  # in each trace: the gradient that comes into the first may be zero
_MOST_CALLS: Final = 8  # of one function; what is traced to make variables never runs
_MOST_BYTES: Final = 32 * 2**20  # of all calls
_MOST_OPS: Final = 1000
_WHOLE_READ: Final = "ReadVariableOp"
_OPAQUE: Final = (CUSTOM, "StopGradient")  # what a stop gives stays as it was, and may be gone


@dataclass(slots=True, eq=False)
class CustomCall:
    """One call: what went in, what came out, and the gradients of both. Tensors of a traced call have no values yet."""

    function: str
    where: SourceSpan | None  # the gradient function
    results: tuple[int, ...]  # tensor ids, as are the arguments
    graph: Any  # None: it ran at once
    ignores_upstream: bool = False  # the gradient function never looks at what it is given
    arguments: tuple[int, ...] = ()
    upstream: tuple[Any, ...] = ()  # the gradient of each result
    answers: tuple[Any, ...] = ()  # what the formula made of it for each argument
    formula: list[str] = field(default_factory=list)  # the ops of the gradient
    factors: list[float] = field(default_factory=list)  # and the single numbers that they take
    forward: list[OpRecord] = field(default_factory=list)  # the ops of the function itself, where they ran at once
    values: dict[int, Any] = field(default_factory=dict)  # that these take and cannot make

    def note_op(self, op_type: str | bytes, inputs: Any, attrs: Any, outputs: Any, frame: Any) -> None:
        """An op of the gradient ran."""
        self.formula.append(op_type.decode() if isinstance(op_type, bytes) else op_type)
        for tensor in inputs:
            if compat.has_values(tensor) and tensor.dtype.is_floating and tensor.shape.rank == 0:
                self.factors.append(float(compat.array_view(tensor)))

    def trace_back(self, producers: Mapping[int, OpRecord | None], episode: Episode | None) -> bool:
        """Find the ops between arguments and results, and the values they need; False: some are gone."""
        held = {} if episode is None else episode.held
        read = {maker.variable: n for n in self.arguments if (maker := producers.get(n)) and maker.type == _WHOLE_READ}
        found: dict[int, OpRecord] = {}
        todo = [number for number in self.results if number not in self.values]
        while todo:
            number = todo.pop()
            record = producers.get(number)
            if record is not None and record.type == _WHOLE_READ and record.variable in read:
                self.values[number] = self.values[read[record.variable]]
            elif number in held:
                self.values[number] = held[number]
            elif record is None or record.type in _OPAQUE or record.calls or len(found) > _MOST_OPS:
                return False
            elif record.sequence not in found:
                found[record.sequence] = record
                todo += [each for each in record.inputs if each not in self.values]
        self.forward = [found[sequence] for sequence in sorted(found)]
        return True

    @property
    def size(self) -> int:
        """The memory of what is kept for it."""
        kept = {id(each): each for each in (*self.values.values(), *self.upstream, *self.answers)}
        return 0 if self.graph is not None else sum(bytes_of(each) for each in kept.values() if compat.is_tensor(each))


class CustomCalls:
    """The calls that were kept, by function."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, SourceSpan | None], list[CustomCall]] = {}
        self._room = _MOST_BYTES

    def wants(self, call: CustomCall) -> bool:
        known = self.of.get((call.function, call.where))
        if known is None:
            return len(self.of) < _MOST_FUNCTIONS
        return len(known) < _MOST_CALLS and sum(each.graph is call.graph for each in known) < _CALLS_EACH

    def add(self, call: CustomCall) -> None:
        if call.size <= self._room:
            self._room -= call.size
            self.of.setdefault((call.function, call.where), []).append(call)
