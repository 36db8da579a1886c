"""Which forward op an op of the backward pass belongs to, so that it is shown at the right expression."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, cast

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.log.op_record import OpRecord
from whygrad.backends.tensorflow.log.recorder import Recorder

# `tf.gradients` names what it builds after the op it differentiates; it builds the gradients of functions and loops.
_NAMED_AFTER = re.compile(r"(?:^|/)gradients(?:_\d+)?/(.+)_grad(?:/|$)")


@dataclass(slots=True)
class BackwardOps:
    """The ops of one graph that gradient functions made, as ranges in the order of making."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    forward: list[str] = field(default_factory=list)  # the name of the forward op
    source: Any = None  # the graph the forward ops are in, where it is another
    order: dict[str, int] = field(default_factory=dict)


class Attribution:
    """Notes, while gradients are made, for which forward op each op is made."""

    def __init__(self, recorder: Recorder, backward_ops: MutableMapping[Any, BackwardOps]) -> None:
        self._recorder = recorder
        self._backward_ops = backward_ops  # by graph
        self._seen: dict[Any, OpRecord] = {}
        self._seen_until = -1

    def begin(self, op_name: str, arguments: tuple[Any, ...]) -> Callable[[], None]:
        """Before TensorFlow calls a gradient function; the result is to be called after it."""
        _, _, inputs, outputs = arguments[:4]
        graph = compat.current_graph()
        if graph is not None:
            start = compat.count_operations(graph)
            return lambda: self._traced(graph, start, _operation_of(op_name, inputs, outputs))
        recorder = self._recorder
        bodies = recorder.python_bodies
        inside = bodies.differentiated(op_name, inputs, outputs) if bodies is not None else None
        if inside is not None:
            return inside
        before = recorder.laid_at
        differentiated = getattr(recorder.spy, "differentiated", None)
        if differentiated is not None:
            return cast("Callable[[], None]", differentiated(op_name, inputs, outputs))
        if not recorder.paused:
            recorder.laid_at = self._record_of(op_name, inputs, outputs) or before
        return lambda: setattr(recorder, "laid_at", before)

    def note_source(self, source: Any) -> None:
        """The graph that is traced now differentiates another one."""
        graph = compat.current_graph()
        if graph is not None and graph is not source:
            self._backward_ops.setdefault(graph, BackwardOps()).source = source

    def _traced(self, graph: Any, start: int, forward: Any) -> None:
        end = compat.count_operations(graph)
        if end > start and forward is not None and forward.graph is graph:
            noted = self._backward_ops.setdefault(graph, BackwardOps())
            noted.starts.append(start)
            noted.ends.append(end)
            noted.forward.append(forward.name)

    def _record_of(self, op_name: str, inputs: Any, outputs: Any) -> OpRecord | None:
        """The eager op that is differentiated; TensorFlow hands over only those tensors that the gradient needs."""
        recorder = self._recorder
        for tensor in outputs or ():
            record = recorder.producers.get(compat.id_of(tensor) or -1)
            if record is not None and record.type == op_name:
                return record
        ids = tuple(compat.id_of(tensor) for tensor in inputs or ())
        if None in ids or not ids:
            return None
        self._look_back()
        return self._seen.get((op_name, ids))

    def _look_back(self) -> None:
        recorder = self._recorder
        start = recorder.episode.start if recorder.episode is not None else recorder.now
        fresh = []
        for record in reversed(recorder.records):
            if record.sequence <= max(start, self._seen_until):
                break
            fresh.append(record)
        if self._seen_until < start:
            self._seen.clear()
        self._seen.update(((record.type, record.inputs), record) for record in fresh)
        self._seen_until = recorder.now


def install(hooks: Hooks, recorder: Recorder, backward_ops: MutableMapping[Any, BackwardOps]) -> None:
    """Stand before the function that TensorFlow calls for each op of a gradient."""
    original, register = compat.gradient_function, compat.register_gradient_function
    if not original or not register:
        return
    attribution = Attribution(recorder, backward_ops)

    def gradient_function(op_name: Any, *arguments: Any) -> Any:
        if recorder.listen_again is not None and compat.runs_eagerly():  # nobody hears of its ops
            return original(op_name, *arguments)
        finish = hooks.safely(attribution.begin, op_name, arguments)
        try:
            return original(op_name, *arguments)
        finally:
            if finish is not None:
                hooks.safely(finish)

    def helper(make: Any) -> Any:
        def _GradientsHelper(*args: Any, **kwargs: Any) -> Any:  # noqa: N802
            source = kwargs.get("src_graph")
            if source is not None:
                hooks.safely(attribution.note_source, source)
            return make(*args, **kwargs)

        return _GradientsHelper

    register(gradient_function)
    hooks.on_removal(lambda: register(original))
    hooks.replace(compat.gradients_util, "_GradientsHelper", helper)


def forward_operation(noted: BackwardOps | None, graph: Any, operation: Any) -> Any:
    """None for ops of the forward pass, and where it is not known."""
    match = _NAMED_AFTER.search(operation.name)
    if match is not None:
        found = _by_name(graph if noted is None or noted.source is None else noted.source, match[1])
        if found is not None:
            return found
    if noted is not None:
        return _by_range(noted, graph, operation)
    return _by_inputs(operation) if operation.name.startswith(_TRACED_GRADIENT) else None


_TRACED_GRADIENT = "gradient_tape/"


def _by_inputs(operation: Any) -> Any:
    """For a function that was traced unseen: the one forward op that made, or takes, the same forward value."""
    for tensor in operation.inputs:
        if tensor.op.name.startswith(_TRACED_GRADIENT):
            continue
        if operation.type == f"{tensor.op.type}Grad":
            return tensor.op
        takers = [each for each in tensor.consumers() if not each.name.startswith(_TRACED_GRADIENT)]
        if len(takers) == 1 and takers[0].type not in ("Identity", "AssignVariableOp"):
            return takers[0]
    return None


def _by_range(noted: BackwardOps, graph: Any, operation: Any) -> Any:
    if not noted.order:
        noted.order = {each.name: i for i, each in enumerate(graph.get_operations())}
    position = noted.order.get(operation.name, -1)
    index = bisect.bisect_right(noted.starts, position) - 1
    if index < 0 or position >= noted.ends[index]:
        return None
    return _by_name(graph, noted.forward[index])


def _by_name(graph: Any, name: str) -> Any:
    try:
        return graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        return None


def _operation_of(op_name: str, inputs: Any, outputs: Any) -> Any:
    """The traced op that is differentiated."""
    for tensor in outputs or ():
        operation = getattr(tensor, "op", None)
        if operation is not None and operation.type == op_name:
            return operation
    given = [tensor for tensor in inputs or () if hasattr(tensor, "op")]
    for operation in given[0].consumers() if given else ():
        if operation.type == op_name and all(any(t is each for each in operation.inputs) for t in given):
            return operation
    return None
