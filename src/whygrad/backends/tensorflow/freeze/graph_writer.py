"""From records of the log to ops of a `Graph`, function calls opened up."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from types import CodeType
from typing import NamedTuple, cast

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.freeze.flows import dtype_name, flows_of
from whygrad.backends.tensorflow.freeze.scope import Scope
from whygrad.backends.tensorflow.keras.facts import KerasFacts
from whygrad.backends.tensorflow.log.autograph import is_generated, original_span
from whygrad.backends.tensorflow.log.op_record import OpRecord, TensorFacts, facts_of
from whygrad.backends.tensorflow.log.op_table import ACTIONS, kind_of
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.tapes import TapeFacts
from whygrad.backends.tensorflow.log.trace_log import trace_records
from whygrad.graph import Action, Flow, Op, OpId, OpKind, TapeId, Tensor, TensorId, VariableId
from whygrad.observe.place import Place, span
from whygrad.source import SourceSpan
from whygrad.source.module import in_one_function
from whygrad.source.naming import rebinds_attribute
from whygrad.source.position import Position, in_one_scope

MAX_DEPTH = 24  # of functions inside functions
_CUTTING = frozenset({OpKind.WRITE, OpKind.STATE, OpKind.FOREIGN, OpKind.STOP})  # cut wherever they run
_BLOCKING = frozenset({OpKind.WRITE, OpKind.STATE, OpKind.GRADIENT})
_UNKNOWN = TensorFacts(0, compat.float32, None)


class _Site(NamedTuple):
    """What all ops that come of one record share."""

    record: OpRecord
    where: SourceSpan | None
    tapes: frozenset[TapeId]


class GraphWriter:
    """Writes the ops of one request, in the order they ran."""

    def __init__(self, recorder: Recorder, keras: KerasFacts, scope: Scope, tape: TapeFacts) -> None:
        self.ops: list[Op] = []
        self.tensors: dict[TensorId, Tensor] = {}
        self._recorder = recorder
        self._keras = keras
        self._variables = recorder.variables.entries
        self._scope = scope
        self._tape = TapeId(tape.number)
        self._forgotten = 0 if tape.emptied is None else tape.emptied[0]  # what ran till then the tape knows no more
        self._home: Place = tape.entered  # in the function that holds the tape's `with` block
        self._at_home: dict[SourceSpan, bool] = {}
        self._replacing: dict[Place, bool] = {}
        self._facts: dict[int, TensorFacts] = dict(scope.facts)
        self._fresh = itertools.count(-1, -1)  # ids for what function bodies hold, below all real ones
        self._handles: dict[int, int] = {}  # of the inputs of function bodies
        self._moments: list[int] = []  # when the record of each op ran
        self._branches = 0  # how many loops and branches are open
        self._tapes: dict[tuple[int, ...], frozenset[TapeId]] = {}

    def first_after(self, clock: int) -> OpId:
        """The id of the first op after a moment of the recorder's clock."""
        return OpId(bisect.bisect_right(self._moments, clock) + 1)

    def add(self, record: OpRecord, *, opened: bool = True) -> None:
        """A call that the targets do not depend on stays closed: there may be thousands, one for each step of `fit`."""
        tapes = self._tapes.get(record.tapes)
        if tapes is None:
            tapes = self._tapes[record.tapes] = frozenset(map(TapeId, record.tapes))
        if record.sequence <= self._forgotten:
            tapes -= {self._tape}
        if record.calls and not opened:
            self._close(_Site(record, self._where(record, tapes), tapes))
        else:
            self._write(record, tapes, {}, 0)
        self._moments += [record.sequence] * (len(self.ops) - len(self._moments))

    def add_leaves(self) -> None:
        """Values from outside, and what a traced function took from around it."""
        made = {number for op in self.ops for number in op.outputs}
        used = {number for op in self.ops for number in op.inputs}
        site = _Site(OpRecord(0, "Leaf", (), ()), None, frozenset())
        for outside, inside in self._scope.passed:
            if compat.tensor_id(inside) in used and compat.tensor_id(inside) not in made:
                taken = site._replace(tapes=frozenset({self._tape}))  # the same tensor by another name
                ends = (outside,), (compat.tensor_id(inside),)
                self._append(taken, OpKind.MOVE, *ends, (Flow.CARRIED,), name="Captured")
                used.add(TensorId(outside))
                made.add(TensorId(compat.tensor_id(inside)))
        for number in sorted(used - made):
            leaf = self._scope.leaves.get(number)
            if leaf is not None:
                self._append(site._replace(where=span(leaf.place)), OpKind.CONSTANT, (), (number,), ())

    def _write(self, record: OpRecord, tapes: frozenset[TapeId], names: dict[int, int], depth: int) -> None:
        """`names` renames the tensors of a function body for one call of it."""
        site = _Site(record, self._where(record, tapes), tapes)
        inputs: Sequence[int] = record.inputs
        if depth == 0:
            outputs = [facts.id for facts in record.outputs]
        else:
            inputs = [names.get(number, number) for number in inputs]
            outputs = [self._rename(facts, names) for facts in record.outputs]
        if record.calls and depth < MAX_DEPTH and all(graph is not None for graph in record.calls):
            self._open(site, inputs, outputs, depth)
        elif record.type != "NoOp" or depth == 0:
            self._emit(site, inputs, outputs)

    def _where(self, record: OpRecord, tapes: frozenset[TapeId]) -> SourceSpan | None:
        """What the tape did not record is shown where the function that holds the tape called it.

        What runs once, while an object is made, is shown there, and so is what takes the place of what it was made of:
        that is the mistake itself, wherever it is made. What a layer does that Keras calls itself, as in `fit` of a
        functional model, is shown where the layer was made.
        """
        if self._tape not in tapes and self._home is not None and kind_of(record.type) not in _CUTTING:
            for caller in (record.place, *record.callers):
                place = original_span(caller) if isinstance(caller, Position) and is_generated(caller.code) else caller
                if self._is_at_home(place) or _runs_once(caller) or self._replaces(place):
                    return span(place)
            if record.place not in self._keras.trainings.places:  # the call has to move, not the layer
                return span(record.place)
        return span(self._keras.shown_at(record.place, record.layers))

    def _replaces(self, place: Place) -> bool:
        """Whether an attribute is given what is made of it."""
        if place not in self._replacing:
            self._replacing[place] = rebinds_attribute(span(place))
        return self._replacing[place]

    def _is_at_home(self, place: Place) -> bool:
        if isinstance(place, Position) and isinstance(self._home, Position):
            return _is_in(place.code, self._home.code)
        if not isinstance(place, SourceSpan) or not isinstance(self._home, SourceSpan):  # of converted functions
            return False
        if place not in self._at_home:
            self._at_home[place] = in_one_function(place, self._home)
        return self._at_home[place]

    # -- calls of functions ----------------------------------------------------------------------

    def _close(self, site: _Site) -> None:
        """A call as one op, which reads the variables it is given."""
        values = tuple(self._value(site, number) for number in site.record.inputs)
        outputs = [facts.id for facts in site.record.outputs]
        self._append(site, OpKind.CALL, values, outputs, (Flow.CARRIED,) * len(values))

    def _open(self, site: _Site, inputs: Sequence[int], outputs: Sequence[int], depth: int) -> None:
        record = site.record
        loop = record.type.endswith("While")
        choice = record.is_choice
        self._branches += loop or choice
        for position, graph in enumerate(record.calls):
            names: dict[int, int] = {}
            holders = [self._rename(facts_of(placeholder), names) for placeholder in graph.inputs]
            self._link(site, inputs[choice:], holders)
            for inner in trace_records(self._recorder, graph):
                if inner.type != "Placeholder":
                    self._write(inner, site.tapes, names, depth + 1)
            if loop and position == 1:
                continue  # the condition decides how often, not what
            results = [names.get(compat.tensor_id(tensor), compat.tensor_id(tensor)) for tensor in graph.outputs]
            self._link(site, results, outputs)
            if loop:
                self._link(site, results, holders)
        self._branches -= loop or choice

    def _rename(self, facts: TensorFacts, names: dict[int, int]) -> int:
        number = names.get(facts.id)
        if number is None:
            number = names[facts.id] = next(self._fresh)
        self._facts[number] = facts
        return number

    def _link(self, site: _Site, sources: Sequence[int], targets: Sequence[int]) -> None:
        """What goes into a function and what comes out of it."""
        for source, target in zip(sources, targets, strict=False):
            handle = self._handle(source)
            facts = self._facts.get(source)
            if handle in self._variables:
                self._handles[target] = handle
            elif facts is None or facts.dtype is not compat.resource_dtype:
                self._append(site, OpKind.MOVE, (source,), (target,), (Flow.CARRIED,), name="Call")

    # -- single ops ------------------------------------------------------------------------------

    def _emit(self, site: _Site, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        record, kind = site.record, kind_of(site.record.type)
        if record.type == "ApplyGradients":
            for moved in record.attrs or ():  # an update moves the variable; no value passes through it
                self._append(site, kind, (), (), (), variable=moved)
            return
        variable: int | None = None
        data = inputs
        if kind in (OpKind.FOREIGN, OpKind.CUSTOM):  # they may be handed variables
            data = [self._value(site, number) for number in inputs]
        elif inputs and self._handle(inputs[0]) in self._variables:
            variable = self._handle(inputs[0]) if kind in (OpKind.READ, OpKind.WRITE) else None
            data = inputs[1:]
        elif kind is OpKind.STATE:
            data = [self._value(site, number) for number in inputs]
            variable = next((number for number in data if self._is_resource(number)), None)
            data = [number for number in data if number != variable]
        if kind is OpKind.WRITE and inputs and inputs[0] in self._recorder.variables.copies:
            data = ()  # a copy on another device is filled from the first one: nothing new is written
        if record.type == "GradientRequest":
            data = [number for number in inputs if self._handle(number) not in self._variables]
        flows = self._flows(record, kind, len(data), len(inputs) - len(data))
        self._append(site, kind, data, outputs, flows, variable=variable)

    def _flows(self, record: OpRecord, kind: OpKind, count: int, skipped: int) -> tuple[Flow, ...]:
        if kind is OpKind.CUSTOM:
            blocked = record.blocked or frozenset()
            return tuple(Flow.BLOCKED if i in blocked else Flow.CARRIED for i in range(count))
        if kind in _BLOCKING or record.type.startswith("LossCall:"):
            return (Flow.BLOCKED,) * count
        facts = [self._facts_of(number) or _UNKNOWN for number in record.inputs]
        return flows_of(record.type, facts, record.outputs, record.attrs)[skipped:]

    def _value(self, site: _Site, number: int) -> int:
        """A tensor; for a variable that an op is given, the value that the op reads inside itself."""
        variable = self._handle(number)
        if variable not in self._variables:
            return number
        known, value = self._variables[variable], TensorId(next(self._fresh))
        self.tensors[value] = Tensor(id=value, dtype=known.dtype, shape=known.shape)
        self._append(site, OpKind.READ, (), (value,), (), name="ReadVariableOp", variable=variable)
        return value

    def _handle(self, number: int) -> int:
        known = self._handles.get(number)
        if known is not None:
            return known
        return self._scope.handle(number) if self._scope.aliases else number

    def _is_resource(self, number: int) -> bool:
        facts = self._facts_of(number)
        return facts is not None and facts.dtype is compat.resource_dtype

    def _facts_of(self, number: int) -> TensorFacts | None:
        facts = self._facts.get(number)
        if facts is None and number in self._scope.leaves:
            facts = self._scope.leaves[number].facts
        if facts is None and self._scope.handle(number) in self._variables:
            facts = TensorFacts(number, compat.resource_dtype, ())
        return facts

    def _append(
        self,
        site: _Site,
        kind: OpKind,
        inputs: Sequence[int],
        outputs: Sequence[int],
        flows: tuple[Flow, ...],
        *,
        name: str | None = None,
        variable: int | None = None,
    ) -> None:
        for number in (*inputs, *outputs):
            if number not in self.tensors:
                self._describe(number)
        record = site.record
        self.ops.append(
            Op(
                id=OpId(len(self.ops) + 1),
                kind=kind,
                name=record.type if name is None else name,
                inputs=cast("tuple[TensorId, ...]", tuple(inputs)),
                outputs=cast("tuple[TensorId, ...]", tuple(outputs)),
                flows=flows,
                where=site.where,
                action=self._action(record, record.type if name is None else name),
                tapes=site.tapes,
                variable=None if variable is None else VariableId(variable),
                layers=record.layers,
                custom=record.custom,
                branched=self._branches > 0,
                blank=record.blank if kind in (OpKind.ELEMENTWISE, OpKind.CONTRACT) else (),
                flat=record.flat,
            )
        )

    def _action(self, record: OpRecord, name: str) -> Action | None:
        is_square = name == "Pow" and self._recorder.labels.constants.get(record.inputs[1]) == 2.0
        return Action.SQUARE if is_square else ACTIONS.get(name)

    def _describe(self, number: int) -> None:
        facts = self._facts_of(number)
        dtype, shape = ("unknown", None) if facts is None else (dtype_name(facts.dtype), facts.shape)
        self.tensors[TensorId(number)] = Tensor(id=TensorId(number), dtype=dtype, shape=shape)


def _runs_once(place: Place) -> bool:
    return isinstance(place, Position) and place.code.co_name in ("__init__", "build")


def _is_in(code: CodeType, function: CodeType) -> bool:
    """Whether code is a function's own, or that of a comprehension in it."""
    return in_one_scope(code, function) or code.co_qualname in [
        f"{function.co_qualname}.<locals>.<{kind}>" for kind in ("listcomp", "genexpr", "dictcomp", "setcomp")
    ]
