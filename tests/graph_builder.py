"""A recording made by hand. Exceptions and types have TensorFlow's words, read as its backend does."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Any, Final

from whygrad.backends.tensorflow.failures import classify, failure_of
from whygrad.backends.tensorflow.log.op_table import NOT_TENSORS
from whygrad.graph.event import Event
from whygrad.graph.failure import Failure
from whygrad.graph.node import Flow, Graph, Op, OpId, OpKind, Tape, TapeId, Tensor, TensorId, Variable, VariableId
from whygrad.graph.recording import Outcome, Pairing, Recording, Request, Source, Update
from whygrad.source import SourceSpan

Asked = Variable | Tensor | str  # str: the type of an object that is neither


class GraphBuilder:
    """Begins under a tape of its own. A variable that is handed to an op is read there, as frameworks do it.

    `**facts` are further fields of the node that is made: `g.op(..., layers=("dense",))`.

    >>> g = GraphBuilder()
    >>> w = g.variable("w")
    >>> cut = g.op(OpKind.CAST, (w,), dtype="int32")
    >>> loss = g.op(OpKind.SMOOTH, (g.op(OpKind.CAST, (cut,), dtype="float32"),))
    >>> [source.outcome.value for source in g.finish(loss=loss).requests[0].sources]
    ['missing']
    """

    def __init__(self) -> None:
        self._ops: list[Op] = []
        self._tensors: dict[TensorId, Tensor] = {}
        self._variables: dict[VariableId, Variable] = {}
        self._tapes: dict[TapeId, Tape] = {}
        self._requests: list[Request] = []
        self._updates: list[Update] = []
        self._events: list[Event] = []
        self._holders: dict[str, frozenset[VariableId]] = {}
        self._watched: dict[int, int] = {}
        self._running: tuple[TapeId, ...] = ()
        self._finished = False
        # Far apart, so that the id of one thing taken for another is seen.
        self._tensor_ids, self._variable_ids = itertools.count(1), itertools.count(1_000_001)
        self.own_tape = self._enter({})

    def variable(self, name: str, *, dtype: str = "float32", trainable: bool = True, **facts: Any) -> Variable:
        """A variable that tapes watch by themselves if it is trainable."""
        number = VariableId(next(self._variable_ids))
        facts.setdefault("watchable", trainable)
        self._variables[number] = Variable(id=number, name=name, dtype=dtype, trainable=trainable, **facts)
        return self._variables[number]

    def constant(self, *, where: SourceSpan | None = None, **facts: Any) -> Tensor:
        """A value from outside: a literal, an array, a batch."""
        return self.op(OpKind.CONSTANT, where=where, **facts)

    def op(
        self,
        kind: OpKind,
        inputs: Sequence[Tensor | Variable] = (),
        *,
        dtype: str | None = None,  # None: what the kind makes of its inputs
        shape: tuple[int | None, ...] | None = None,
        where: SourceSpan | None = None,
        into: Tensor | None = None,  # a tensor that is there already: the way back of a loop
        **facts: Any,
    ) -> Tensor:
        """One op with one output."""
        taken = self._taken(inputs, where, facts.get("layers", ()))
        result = into if into is not None else self._tensor(dtype or _dtype(kind, taken), shape)
        self._run(kind, taken, (result,), where=where, **facts)
        return result

    def multi(
        self, kind: OpKind, inputs: Sequence[Tensor | Variable], dtypes: Sequence[str], **facts: Any
    ) -> tuple[Tensor, ...]:
        """One op with an output of each of these types."""
        taken = self._taken(inputs, facts.get("where"), facts.get("layers", ()))
        results = tuple(self._tensor(dtype, None) for dtype in dtypes)
        self._run(kind, taken, results, **facts)
        return results

    def read(self, variable: Variable, **facts: Any) -> Tensor:
        result = self._tensor(variable.dtype, variable.shape)
        self._run(OpKind.READ, (), (result,), variable=variable.id, **facts)
        return result

    def write(self, variable: Variable, value: Tensor | Variable, *, where: SourceSpan | None = None) -> None:
        """`variable.assign(value)`."""
        self._run(OpKind.WRITE, self._taken([value], where, ()), (), variable=variable.id, where=where)

    @contextlib.contextmanager
    def tape(self, **facts: Any) -> Iterator[Tape]:
        """A further tape, recording beside those that already do."""
        before = self._running
        try:
            yield self._enter(facts)
        finally:
            self._running = before

    @contextlib.contextmanager
    def outside(self) -> Iterator[None]:
        """A stretch that no tape records."""
        before, self._running = self._running, ()
        try:
            yield
        finally:
            self._running = before

    def spend(self, tape: Tape, where: SourceSpan) -> None:
        """A tape is used up by the request at this place."""
        self._tapes[tape.id] = replace(self._tapes[tape.id], spent=where)

    def watch(self, value: Tensor | Variable) -> None:
        """`tape.watch(value)`: from the next op on."""
        self._watched[value.id] = len(self._ops) + 1

    def event(self, event: Event) -> None:
        self._events.append(event)

    def holder(self, layer: str, variables: Iterable[Variable]) -> None:
        """A layer and the variables it tracks."""
        self._holders[layer] = frozenset(variable.id for variable in variables)

    def request(
        self,
        loss: Tensor | Sequence[Tensor],
        sources: Iterable[Asked] | None = None,  # None: every trainable variable
        *,
        tape: Tape | None = None,  # None: the builder's own
        missing: Iterable[Variable | Tensor] | None = None,  # None: as the graph has it
        zero: Iterable[Variable | Tensor] = (),
        where: SourceSpan | None = None,
        **facts: Any,
    ) -> Request:
        """Ask for a gradient of what has run so far."""
        number = self.own_tape.id if tape is None else tape.id
        targets = (loss.id,) if isinstance(loss, Tensor) else tuple(tensor.id for tensor in loss)
        asked = [v for v in self._variables.values() if v.trainable] if sources is None else list(sources)
        given = {each.id for each in asked if isinstance(each, Variable | Tensor)} & self._reached(targets, number)
        if missing is not None:
            given = {each.id for each in asked if isinstance(each, Variable | Tensor)} - {each.id for each in missing}
        zeros = {each.id for each in zero}
        facts.setdefault("target_not_a_tensor", NOT_TENSORS.get(facts.get("target_type", "")))
        if isinstance(facts.get("error"), str):  # as TensorFlow says it
            facts["error"] = failure_of(facts["error"])
        self._requests.append(
            Request(
                tape=number,
                targets=targets,
                sources=tuple(self._source(each, given, zeros, failed=bool(facts.get("error"))) for each in asked),
                graph=Graph(ops=tuple(self._ops), tensors=dict(self._tensors)),
                where=where,
                order=len(self._ops) + 1,
                **facts,
            )
        )
        return self._requests[-1]

    def update(
        self,
        pairs: Iterable[tuple[Variable, Variable | None] | Pairing],  # (moved, whose gradient); None: it was None
        *,
        optimizer: str = "sgd",
        optimizer_id: int = 1,
        unknown: Iterable[Variable] = (),
        **facts: Any,
    ) -> None:
        """`optimizer.apply_gradients(pairs)`."""
        self._updates.append(
            Update(
                optimizer=optimizer,
                optimizer_id=optimizer_id,
                pairs=tuple(pair if isinstance(pair, Pairing) else _pairing(*pair) for pair in pairs),
                order=len(self._ops) + 1,
                unknown=tuple(variable.id for variable in unknown),
                **facts,
            )
        )

    def finish(
        self, *, loss: Tensor | Sequence[Tensor] | None = None, failure: Failure | None = None, **asked: Any
    ) -> Recording:
        """The frozen recording; with `loss`, after one last `request(loss, **asked)`."""
        if self._finished:
            raise ValueError("this builder has finished: begin a new one")
        if loss is not None:
            self.request(loss, **asked)
        self._finished = True
        return Recording(
            requests=tuple(self._requests),
            updates=tuple(self._updates),
            variables=dict(self._variables),
            tapes=dict(self._tapes),
            events=tuple(self._events),
            holders=dict(self._holders),
            failure=None if failure is None else classify(failure),
        )

    def _enter(self, facts: dict[str, Any]) -> Tape:
        tape = Tape(id=TapeId(len(self._tapes) + 1), **facts)
        self._tapes[tape.id] = tape
        self._running = (*self._running, tape.id)
        return tape

    def _run(
        self,
        kind: OpKind,
        inputs: Sequence[Tensor],
        results: Sequence[Tensor],
        *,
        name: str | None = None,  # None: the kind's own word
        flows: Sequence[Flow] | None = None,  # None: what ops of this kind do
        where: SourceSpan | None = None,
        **facts: Any,
    ) -> None:
        self._ops.append(
            Op(
                id=OpId(len(self._ops) + 1),
                kind=kind,
                name=name or kind.value,
                inputs=tuple(tensor.id for tensor in inputs),
                outputs=tuple(tensor.id for tensor in results),
                flows=_flows(kind, inputs, results) if flows is None else tuple(flows),
                where=where,
                tapes=frozenset(self._running),
                **facts,
            )
        )

    def _tensor(self, dtype: str, shape: tuple[int | None, ...] | None) -> Tensor:
        number = TensorId(next(self._tensor_ids))
        self._tensors[number] = Tensor(id=number, dtype=dtype, shape=shape)
        return self._tensors[number]

    def _taken(
        self, values: Iterable[Tensor | Variable], where: SourceSpan | None, layers: tuple[str, ...]
    ) -> list[Tensor]:
        """The tensors an op takes; variables among them are read where it runs."""
        return [
            self.read(value, where=where, layers=layers) if isinstance(value, Variable) else value for value in values
        ]

    def _reached(self, targets: Iterable[TensorId], tape: TapeId) -> set[int]:
        """Tensors and variables that a gradient comes back to. Told apart from `query`, which tests hold against it."""
        reached: set[int] = set(targets)
        size = 0
        while size < len(reached):
            size = len(reached)
            for op in self._ops:
                floating = {tensor for tensor in op.outputs if self._tensors[tensor].is_floating}
                if tape not in op.tapes or not reached & floating:
                    continue
                reached.update(t for t, flow in zip(op.inputs, op.flows, strict=True) if flow in _PASSING)
                if op.kind is OpKind.READ and op.variable is not None and self._is_watched(op.variable):
                    reached.add(op.variable)
        return reached

    def _is_watched(self, variable: VariableId) -> bool:
        return variable in self._watched or self._variables[variable].watchable

    def _source(self, value: Asked, given: Set[int], zeros: Set[int], *, failed: bool) -> Source:
        absent = Outcome.FAILED if failed else Outcome.MISSING
        if isinstance(value, str):
            return Source(type_name=value, not_a_tensor=NOT_TENSORS.get(value), outcome=absent)
        present = Outcome.ZERO if value.id in zeros else Outcome.PRESENT
        return Source(
            variable=value.id if isinstance(value, Variable) else None,
            tensor=value.id if isinstance(value, Tensor) else None,
            outcome=present if value.id in given and not failed else absent,
            watched=self._watched.get(value.id),
        )


_PASSING: Final = (Flow.CARRIED, Flow.ZERO)
_DTYPES: Final = {OpKind.INDEX: "int64", OpKind.COMPARE: "bool", OpKind.SHAPE: "int32"}
_BLOCKING: Final = frozenset(
    {
        OpKind.COMPARE,
        OpKind.FOREIGN,
        OpKind.GRADIENT,
        OpKind.INDEX,
        OpKind.ONE_HOT,
        OpKind.ROUND,
        OpKind.SAMPLE,
        OpKind.SHAPE,
        OpKind.STATE,
        OpKind.STOP,
        OpKind.WRITE,
    }
)


def _dtype(kind: OpKind, inputs: Sequence[Tensor]) -> str:
    return _DTYPES.get(kind) or (inputs[0].dtype if inputs else "float32")


def _flows(kind: OpKind, inputs: Sequence[Tensor], results: Sequence[Tensor]) -> tuple[Flow, ...]:
    """What ops of a kind do; integers carry nothing, in or out."""
    own = Flow.BLOCKED if kind in _BLOCKING else Flow.ZERO if kind is OpKind.SIGN else Flow.CARRIED
    carries = any(result.is_floating for result in results)
    return tuple(own if each.is_floating and carries else Flow.BLOCKED for each in inputs)


def _pairing(moved: Variable, origin: Variable | None) -> Pairing:
    return Pairing(
        variable=moved.id,
        gradient_of=None if origin is None else frozenset({origin.id}),
        missing=origin is None,
        frozen=not moved.trainable,
    )
