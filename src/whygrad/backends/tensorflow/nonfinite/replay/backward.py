"""The way back of a replayed step: TensorFlow's own gradient functions, one op at a time, every result kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.episode import WayBack
from whygrad.backends.tensorflow.log.function_graphs import called_graphs
from whygrad.backends.tensorflow.log.op_record import CUSTOM
from whygrad.backends.tensorflow.log.op_table import is_trainable, kind_of
from whygrad.backends.tensorflow.nonfinite.replay.eager import EagerReplay, Step
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, ReplayError, Site, Value
from whygrad.graph import OpKind

# TensorFlow gives these None, not zeros, for outputs that no gradient came back to.
TAKES_NONE: Final[dict[str, tuple[int, ...]]] = {
    "SoftmaxCrossEntropyWithLogits": (1,),
    "SparseSoftmaxCrossEntropyWithLogits": (1,),
    "FusedBatchNorm": (1, 2, 3, 4),
    "FusedBatchNormV2": (1, 2, 3, 4),
    "FusedBatchNormV3": (1, 2, 3, 4, 5),
}


class Sweep:
    """Gradients of the targets of one request, for all its sources."""

    def __init__(self, replay: EagerReplay, tape: int, variables: Iterable[int], tensors: Iterable[int]) -> None:
        self.replay = replay
        self.trace = replay.trace
        self.tape = tape
        self.pending: dict[int, list[Value]] = defaultdict(list)  # id of a Value -> gradients that came to it
        self.of_variable: dict[int, list[Value]] = defaultdict(list)
        self.of_tensor: dict[int, list[Value]] = defaultdict(list)
        self._sources = frozenset(variables)
        self._tensors = frozenset(tensors)
        self._active = self._depending()

    def run(self, targets: Sequence[Value], gradients: Sequence[Any]) -> None:
        """From the targets back; `gradients` has what came in for each, None for ones."""
        for target, gradient in zip(targets, gradients, strict=True):
            given = compat.ones_like(target.tensor) if gradient is None else gradient
            self.pending[id(target)].append(Value(given))
        for step in reversed(self.replay.steps):
            self._back_through(step)
        for number in self._tensors:
            value = self.trace.values.get(number)
            self.of_tensor[number] += self.pending.pop(id(value), ()) if value is not None else ()

    def results(self) -> list[Value]:
        """The gradients of all sources, summed."""
        parts = [*self.of_variable.values(), *self.of_tensor.values()]
        return [total for each in parts if (total := self._sum(each, Site(None))) is not None]

    def _depending(self) -> set[int]:
        """Values that depend on a source through ops the tape recorded."""
        active = {id(value) for number in self._tensors if (value := self.trace.values.get(number)) is not None}
        for step in self.replay.steps:
            node = step.node
            if self.tape not in step.record.tapes:
                continue
            own = any(value is not None and value.handle in self._sources for value in node.outputs)
            handles = any(number in self._sources for number in step.record.inputs)
            if own or handles or any(id(value) in active for value in node.inputs):
                active.update(id(value) for value in node.outputs if value is not None)
        return active

    def _back_through(self, step: Step) -> None:
        node, record = step.node, step.record
        if self.tape not in record.tapes or not any(id(value) in self._active for value in node.outputs):
            return
        # A source that is made by an op keeps its gradient, and passes it on too.
        for value in node.outputs:
            if value is not None and value.number in self._tensors:
                self.of_tensor[value.number] += self.pending.get(id(value), ())
        came = [self._sum(self.pending.pop(id(value), ()), node.site) for value in node.outputs]
        if all(gradient is None for gradient in came):
            return
        if kind_of(record.type) is OpKind.READ:
            self.of_variable[record.inputs[0]] += [gradient for gradient in came if gradient is not None]
            return
        way = self._way_back(step)
        if way is not None:
            self._through_closure(step, way, came)
        elif record.type != CUSTOM and not record.calls:
            self._through_registry(node, came)

    def _way_back(self, step: Step) -> WayBack | None:
        if step.record.type != CUSTOM and not step.record.calls:
            return None
        closures = self.replay.episode.closures
        found = (closures.get(facts.id) for facts in step.record.outputs)
        return next((way for way in found if way is not None), None)

    def _through_registry(self, node: Node, came: list[Value | None]) -> None:
        try:
            function = compat.gradient_registry.lookup(node.type)
        except LookupError:
            return
        if function is None:
            return
        none_at = TAKES_NONE.get(node.type, ())
        gradients = [
            None if gradient is None and i in none_at else self._or_zeros(gradient, value)
            for i, (gradient, value) in enumerate(zip(came, node.outputs, strict=True))
        ]
        skipped = tuple(i for i, value in enumerate(node.inputs) if id(value) not in self._active)
        ins = [value.tensor if value is not None else None for value in node.inputs]
        outs = [value.tensor if value is not None else None for value in node.outputs]
        mock = compat.MockOp(node.attrs or (), ins, outs, node.type, skipped)
        if kind_of(node.type) is OpKind.FOREIGN:
            results = self._given_back_by_python(node)
        else:
            answer = function(mock, *gradients)
            results = list(answer) if isinstance(answer, (list, tuple)) else [answer]
        back = self.trace.add(Node(node.type, node.inputs, node.site, node.attrs, node, tuple(came)), results)
        self._deliver(zip(node.inputs, back.outputs, strict=False))

    def _given_back_by_python(self, node: Node) -> list[Any]:
        """What the gradient of a Python function gave: TensorFlow runs it once."""
        bodies = self.replay.watched.recorder.python_bodies
        given = None if bodies is None else bodies.gave_back.get(compat.python_token(node.attrs))
        if given is None:
            raise ReplayError("the gradient of a Python function must not be run twice")
        return given

    def _or_zeros(self, gradient: Value | None, value: Value | None) -> Any:
        if gradient is not None:
            return gradient.tensor
        if value is None or not is_trainable(value.tensor.dtype.name):
            return None
        return compat.zeros_like(value.tensor)

    def _through_closure(self, step: Step, way: WayBack, came: list[Value | None]) -> None:
        """A function that TensorFlow or the user wrote for this: watch the ops it runs."""
        node = step.node
        ids = [facts.id for facts in step.record.outputs]
        by_id = {number: pair for number, *pair in zip(ids, came, node.outputs, strict=True)}
        gradients = [self._or_zeros(*by_id.get(number, (None, None))) for number in way.outputs]
        with GradientSpy(self.replay, node), compat.recorded():  # it may have tapes of its own
            answer = way.backward(*gradients)
        results = list(answer) if isinstance(answer, (list, tuple)) else [answer]
        known = [self._known(result) for result in results]
        back = self.trace.add(Node(node.type, node.inputs, node.site, (), node, tuple(came)), known)
        for number, gradient in zip(way.inputs, back.outputs, strict=False):
            if gradient is None:
                continue
            if number in self.replay.watched.variables.entries:
                self.of_variable[number].append(gradient)
            elif (value := self.trace.values.get(number)) is not None:
                self._deliver([(value, gradient)])

    def _known(self, result: Any) -> Any:
        """The value that the spy saw being made, so that the walk goes on into the function."""
        number = compat.id_of(compat.values_in(result))
        return self.trace.values.get(number, result) if number is not None else result

    def _deliver(self, pairs: Iterable[tuple[Value | None, Value | None]]) -> None:
        for value, gradient in pairs:
            if value is not None and gradient is not None and id(value) in self._active:
                self.pending[id(value)].append(gradient)

    def _sum(self, parts: Iterable[Value], site: Site) -> Value | None:
        held = list(parts)
        if len(held) < 2:
            return held[0] if held else None
        total = compat.sum_of([part.tensor for part in held])
        node = self.trace.add(Node("AddN", tuple(held), site), [total])
        return node.outputs[0]


@dataclass(slots=True)
class GradientSpy:
    """Logs the ops of a gradient function that run while it listens; a compiled function among them is opened."""

    replay: EagerReplay
    forward: Node
    inner: Node | None = None  # of a tape inside of the function: the op that is differentiated now

    def __enter__(self) -> None:
        self.replay.watched.recorder.spy = self

    def __exit__(self, *_: object) -> None:
        self.replay.watched.recorder.spy = None

    def differentiated(self, op_name: str, inputs: Any, outputs: Any) -> Callable[[], None]:
        """A tape inside of the function comes back to an op; the result is to be called when it is through."""
        before, self.inner = self.inner, self._node_of(op_name, inputs or (), outputs or ()) or self.inner
        return lambda: setattr(self, "inner", before)

    def _node_of(self, op_name: str, inputs: Any, outputs: Any) -> Node | None:
        """TensorFlow hands over only those tensors that the gradient needs."""
        values = self.replay.trace.values
        for tensor in outputs:
            value = values.get(compat.id_of(tensor) or -1)
            if value is not None and value.maker is not None and value.maker.type == op_name:
                return value.maker
        given = [value for tensor in inputs if (value := values.get(compat.id_of(tensor) or -1)) is not None]
        nodes = reversed(self.replay.trace.nodes) if given else ()
        return next((node for node in nodes if node.type == op_name and [*node.inputs] == given), None)

    def __call__(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, frame: FrameType) -> None:
        trace = self.replay.trace
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        values = tuple(
            trace.values.get(compat.tensor_id(tensor)) or Value(tensor, None, compat.tensor_id(tensor))
            for tensor in inputs
        )
        graphs = called_graphs(frame) if name.startswith("__") else ()
        if graphs:
            results = self.replay.interpreter.call(graphs[0], values)
            for tensor, value in zip(outputs, results, strict=False):
                trace.values[compat.tensor_id(tensor)] = value
            return
        inner = self.inner
        node = Node(name, values, self._site(frame) if inner is None else inner.site, attrs, inner)
        trace.add(node, outputs)

    def _site(self, frame: FrameType) -> Site:
        """The user's own gradient function where that is what runs; else the forward op's place."""
        recorder = self.replay.watched.recorder
        place = recorder.places.below(frame, self.replay.asked_from)
        return self.forward.site if place is None else Site(place, self.forward.site.layers)
