"""Running a traced function op by op, outside of its compiled form, on copies of the variables it touches."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.function_graphs import FUNCTIONAL_OPS, functional_graphs
from whygrad.backends.tensorflow.log.op_record import OpRecord
from whygrad.backends.tensorflow.log.op_table import DRAWING, WRITE_PREFIXES, kind_of
from whygrad.backends.tensorflow.log.trace_log import from_traceback, trace_records
from whygrad.backends.tensorflow.nonfinite.attribution import forward_operation
from whygrad.backends.tensorflow.nonfinite.replay.graphs import (
    DATA_OPS,
    SIDE_EFFECTS,
    draws_from_its_own_state,
    ops_in_order,
    runs_once,
)
from whygrad.backends.tensorflow.nonfinite.replay.meeting import Meeting
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, ReplayError, Site, Trace, Value
from whygrad.backends.tensorflow.nonfinite.watched import Watched
from whygrad.graph import OpKind

MAX_DEPTH = 64
MAX_NODES = 500_000  # of loops that go on for long
_ROUNDING = (
    OpKind.SMOOTH,
    OpKind.ELEMENTWISE,
    OpKind.REDUCE,
    OpKind.CONTRACT,
    OpKind.SOFTMAX,
    OpKind.CROSS_ENTROPY,
    OpKind.LOG,
    OpKind.EXP,
    OpKind.SQRT,
    OpKind.DIVIDE,
    OpKind.POWER,
    OpKind.INVERSE_TRIG,
)


class Interpreter:
    """Runs function graphs into a trace."""

    def __init__(self, watched: Watched, trace: Trace, snapshot: dict[int, Any] | None = None) -> None:
        self.watched = watched
        self.trace = trace
        self.variables = ScratchVariables(snapshot or {})
        self.given: list[tuple[Any, ...]] = []  # batches, for the ops that would take them from a data set
        self.python_gave: dict[str, list[Any]] = {}  # what Python functions gave in this step, by their ops
        self.drawn: int | None = None  # calls before this one, in which the same ops drew
        self.drew_others = False  # some of the random numbers were not those of the call
        self.rounding: np.random.Generator | None = None  # by which last digits are changed; None: they are not
        self.opens_calls = True  # False: functions that are called run as they were compiled
        self.calls: list[tuple[Any, dict[int, Value]]] = []  # graphs in the order they ran, with their tensors' values
        self.written: dict[int, tuple[Value, ...]] = {}  # variable -> what its present value was made of
        self._sites: dict[int, dict[int, OpRecord]] = {}
        self._uncounted = 0  # branches and loops around the op that runs, in which it may run more or less often

    def call(self, graph: Any, inputs: Sequence[Value], depth: int = 0) -> list[Value]:
        """The outputs of a function graph for these inputs, captured ones included."""
        if graph is None:
            raise ReplayError("the graph of a compiled function is not available")
        if depth > MAX_DEPTH:
            raise ReplayError("functions call one another too deeply")
        known: dict[int, Value] = {}
        self.calls.append((graph, known))
        for holder, value in zip(graph.inputs, inputs, strict=False):
            known[compat.tensor_id(holder)] = value
        waiting = ops_in_order(graph)
        while waiting:
            waiting = self._run_all(graph, waiting, known, depth)
        return [known[compat.tensor_id(tensor)] for tensor in graph.outputs]

    def _run_all(self, graph: Any, operations: list[Any], known: dict[int, Value], depth: int) -> list[Any]:
        """Run what can be run; what is left stands behind ops that meet others, and can be run then."""
        meeting = Meeting(self.trace)
        behind: set[str] = set()
        left = []
        for operation in operations:
            needs = (*(tensor.op for tensor in operation.inputs), *operation.control_inputs) if behind else ()
            if any(each.name in behind for each in needs):
                behind.add(operation.name)
                left.append(operation)
            elif compat.meets_others(operation.type):
                behind.add(operation.name)
                inputs = tuple(known[compat.tensor_id(tensor)] for tensor in operation.inputs)
                meeting.join(operation, inputs, self._site(graph, operation))
            else:
                self._run(graph, operation, known, depth)
        meeting.close(known)
        return left

    def _run(self, graph: Any, operation: Any, known: dict[int, Value], depth: int) -> None:
        if all(compat.tensor_id(tensor) in known for tensor in operation.outputs) and operation.outputs:
            return  # a placeholder that was filled
        kind = operation.type
        if kind in SIDE_EFFECTS:
            return
        if len(self.trace.nodes) > MAX_NODES:
            raise ReplayError(f"the step runs more than {MAX_NODES} ops")
        inputs = tuple(known[compat.tensor_id(tensor)] for tensor in operation.inputs)
        if kind in FUNCTIONAL_OPS:
            results = self._functional(graph, operation, inputs, depth)
            for tensor, value in zip(operation.outputs, results, strict=False):
                known[compat.tensor_id(tensor)] = value
            return
        node = Node(kind, inputs, self._site(graph, operation))
        forward = forward_operation(self.watched.backward_ops.get(graph), graph, operation)
        if forward is not None:
            self._attribute(node, forward)
        self.trace.add(node, self._execute(operation, node, inputs))
        for tensor, result in zip(operation.outputs, node.outputs, strict=False):
            if result is not None:
                known[compat.tensor_id(tensor)] = result

    def _execute(self, operation: Any, node: Node, inputs: tuple[Value, ...]) -> list[Any]:
        kind = operation.type
        if kind == "Const":
            return [compat.constant_of(operation)]
        if kind in ("Placeholder", "PlaceholderWithDefault"):
            raise ReplayError(f"an input of `{operation.graph.name}` is not known")
        if kind in DATA_OPS:
            return self._batch(operation)
        if kind_of(kind) is OpKind.FOREIGN:
            node.attrs = compat.attributes_of(operation)
            return self._given_by_python(operation)
        tensors = [value.tensor for value in inputs]
        if compat.is_stateful(kind):
            tensors = self.variables.swap(kind, tensors)
        node.attrs = compat.attributes_of(operation)
        if draws_from_its_own_state(operation):
            return self._draw(operation, node, tensors)
        results = compat.run_op(kind, len(operation.outputs), tensors, node.attrs)
        if self.rounding is not None and kind_of(kind) in _ROUNDING:
            return [compat.rounded_otherwise(each, self.rounding) for each in results]
        if kind_of(kind) is OpKind.WRITE:
            self._note_write(kind, inputs)
        if kind_of(kind) is OpKind.READ and inputs:
            return [self._read(results[0], node, inputs)]
        return results

    def _draw(self, operation: Any, node: Node, tensors: list[Any]) -> list[Any]:
        """The numbers that an op drew in this call where they can be told, else others."""
        if self.drawn is not None and not self._uncounted and compat.can_be_drawn_again(operation):
            self.trace.is_exact &= self.drawn == 0 or compat.draws_as_many(operation)
            return compat.drawn_again(operation, tensors, self.drawn)
        self.trace.is_exact, self.drew_others = False, True
        return compat.run_op(operation.type, len(operation.outputs), tensors, compat.with_own_seed(node.attrs))

    def _note_write(self, op_type: str, inputs: tuple[Value, ...]) -> None:
        handle = compat.tensor_id(inputs[0].tensor)
        before = () if op_type == "AssignVariableOp" else self.written.get(handle, ())
        self.written[handle] = (*before, *inputs[1:])

    def _read(self, result: Any, node: Node, inputs: tuple[Value, ...]) -> Value:
        """The value of a variable: from before the step, or made of what the step has written."""
        handle = compat.tensor_id(inputs[0].tensor)
        value = Value(result, None)
        if handle in self.written:
            node.inputs = (*inputs, *self.written[handle])
            value.maker = node
        else:
            value.handle = handle
        return value

    def _batch(self, operation: Any) -> list[Any]:
        if not self.given:
            raise ReplayError("the batch is taken from a data set inside the compiled step, and is gone")
        return [Value(tensor, None, compat.tensor_id(tensor)) for tensor in self.given.pop(0)]

    def _given_by_python(self, operation: Any) -> list[Any]:
        kept = self.python_gave.get(compat.text_of(operation.get_attr("token")))
        if not kept:
            raise ReplayError("a Python function runs inside the compiled step, and must not be run twice")
        return compat.as_results_of(operation, kept.pop(0))

    def _functional(self, graph: Any, operation: Any, inputs: tuple[Value, ...], depth: int) -> list[Value]:
        if runs_once(operation):
            return self._call(graph, operation, inputs, depth)
        self._uncounted += 1
        try:
            return self._call(graph, operation, inputs, depth)
        finally:
            self._uncounted -= 1

    def _call(self, graph: Any, operation: Any, inputs: tuple[Value, ...], depth: int) -> list[Value]:
        graphs = functional_graphs(operation, graph)
        kind = operation.type.removeprefix("Stateless")
        if kind == "While":
            return self._loop(graphs, inputs, depth)
        if kind in ("If", "Case"):
            choice = compat.array_view(inputs[0].tensor)
            index = (0 if choice else 1) if kind == "If" else int(choice)
            index = index if 0 <= index < len(graphs) else len(graphs) - 1
            return self.call(graphs[index], inputs[1:], depth + 1)
        if not self.opens_calls:
            return self._call_closed(operation, inputs)
        return self.call(graphs[0], inputs, depth + 1)

    def _call_closed(self, operation: Any, inputs: tuple[Value, ...]) -> list[Value]:
        variables = {compat.tensor_id(value.tensor) for value in inputs if compat.is_variable_handle(value.tensor)}
        tensors = self.variables.exchange((value.tensor for value in inputs), variables)
        name = operation.get_attr("f").name
        return [Value(result) for result in compat.run_op(name, len(operation.outputs), tensors, ())]

    def _loop(self, graphs: tuple[Any, ...], inputs: tuple[Value, ...], depth: int) -> list[Value]:
        body, condition = graphs
        state = list(inputs)
        while bool(compat.array_view(self.call(condition, state, depth + 1)[0].tensor)):
            state = self.call(body, state, depth + 1)
        return state

    def _site(self, graph: Any, operation: Any) -> Site:
        """Of a replica after the first, whose ops are not logged, that of the same op of the first."""
        replica, twin = compat.replica_of(operation)
        logged = operation if twin is None else twin
        record = self._records(graph).get(compat.tensor_id(logged.outputs[0])) if logged.outputs else None
        if record is None:
            return Site(from_traceback(logged), is_seen=False, replica=replica)
        return Site(record.place, record.layers, replica=replica)

    def _records(self, graph: Any) -> dict[int, OpRecord]:
        sites = self._sites.get(id(graph))
        if sites is None:
            records = trace_records(self.watched.recorder, graph)
            sites = {facts.id: record for record in records for facts in record.outputs}
            self._sites[id(graph)] = sites
        return sites

    def _attribute(self, node: Node, forward: Any) -> None:
        """Give an op of the backward pass the place of its forward op."""
        home = forward.graph
        site = self._site(home, forward)
        if site.is_seen:
            node.site = site
        known: dict[int, Value] = next((values for graph, values in reversed(self.calls) if graph is home), {})
        shadow = Node(forward.type, tuple(known.get(compat.tensor_id(tensor)) for tensor in forward.inputs), node.site)
        shadow.outputs = tuple(known.get(compat.tensor_id(tensor)) for tensor in forward.outputs)
        node.forward = shadow


_ON_VARIABLES = ("ReadVariableOp", "ResourceGather", "VariableShape", "VarIsInitializedOp", *WRITE_PREFIXES)


class ScratchVariables:
    """One copy for each variable that is touched, made when it is; `snapshot` has the values to begin with."""

    def __init__(self, snapshot: dict[int, Any]) -> None:
        self._snapshot = snapshot
        self._copies: dict[int, Any] = {}  # handle id -> handle of the copy

    def swap(self, op_type: str, inputs: list[Any]) -> list[Any]:
        """The inputs of an op with the handles of variables exchanged."""
        if not op_type.startswith(_ON_VARIABLES) and kind_of(op_type) not in DRAWING:
            return inputs
        return [self._copy(tensor) if tensor.dtype is compat.resource_dtype else tensor for tensor in inputs]

    def exchange(self, tensors: Iterable[Any], known: Container[int]) -> list[Any]:
        """The tensors with the handles of these variables exchanged."""
        return [self._copy(tensor) if compat.tensor_id(tensor) in known else tensor for tensor in tensors]

    def value(self, handle: int) -> Any:
        """What a variable holds now, None where the replay never touched it."""
        copy = self._copies.get(handle)
        return None if copy is None else compat.read_handle(copy)

    def _copy(self, handle: Any) -> Any:
        copy = self._copies.get(compat.tensor_id(handle))
        if copy is None:
            value = self._snapshot.get(compat.tensor_id(handle))
            copy = compat.copy_of_variable(handle, value)
            self._copies[compat.tensor_id(handle)] = copy
        return copy
