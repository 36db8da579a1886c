"""Whether a gradient that the user wrote is the slope of the function: the ops of one call, run again after the run.

The user's Python is not called. Only ops without state or effect are run, with one element of an argument moved a
little to either side; what comes out is weighed with the gradients that came into the call.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.custom_calls import CustomCall
from whygrad.backends.tensorflow.log.op_record import OpRecord
from whygrad.backends.tensorflow.log.op_table import meaning_of
from whygrad.backends.tensorflow.measure.finite import array_of
from whygrad.backends.tensorflow.nonfinite.pure_ops import is_pure
from whygrad.backends.tensorflow.nonfinite.replay.compiled import KeptSteps
from whygrad.backends.tensorflow.nonfinite.replay.trace import ReplayError
from whygrad.backends.tensorflow.nonfinite.watched import Watched
from whygrad.graph import Action, OpKind
from whygrad.graph.event import CustomGradient, Probe

_ELEMENTS: Final = 6  # of each argument
_SECONDS: Final = 1.0  # for one function
_STEP: Final = 0.01  # of an element's size
_WIDE_STEP: Final = 0.5
_STRAIGHT: Final = 0.01  # how far the middle may lie off the line between two points, as a share of their distance
_RELIABLE: Final = 0.02  # by which share two differences of different width may disagree
_BOUNDING: Final = frozenset({OpKind.CLIP, OpKind.SELECT, OpKind.COMPARE, OpKind.STOP, OpKind.SIGN, OpKind.ROUND})
_DTYPES: Final = ("float32", "float64")

Array = np.ndarray[Any, np.dtype[Any]]


class _Op(NamedTuple):
    type: str
    attrs: tuple[Any, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class _Weighed:
    """The function of one call, with one number for a result: its elements times the gradients that came in."""

    def __init__(self, call: CustomCall, ops: Sequence[_Op], values: Mapping[int, Any]) -> None:
        if not all(is_pure(op.type) for op in ops):
            raise ReplayError("the function has a state or an effect")
        self.ops, self.values, self.results = ops, values, call.results
        self.until = time.perf_counter() + _SECONDS
        self.middle = self.arrays({})
        self.weights = [
            _dense(each, values, result.shape) for each, result in zip(call.upstream, self.middle, strict=True)
        ]

    def arrays(self, moved: Mapping[int, Any]) -> list[Array]:
        if time.perf_counter() > self.until:
            raise ReplayError("it takes too long")
        known = {**self.values, **moved}
        for op in self.ops:
            made = compat.run_op(op.type, len(op.outputs), [known[number] for number in op.inputs], op.attrs)
            known.update(zip(op.outputs, made, strict=True))
        return [np.asarray(array_of(known[number]), np.float64) for number in self.results]

    def difference(self, base: Array, places: Sequence[int], index: int, step: float) -> tuple[float, float]:
        """(slope, how far the middle lies off the line as a share of the distance), with this step to either side."""
        ends, points = [], []
        for sign in (1, -1):
            shifted = base.copy()
            shifted.reshape(-1)[index] += sign * step
            points.append(float(shifted.reshape(-1)[index]))
            ends.append(self.arrays(dict.fromkeys(places, compat.constant_like(shifted))))
        rise = sum(float(np.sum(w * (a - b))) for w, a, b in zip(self.weights, *ends, strict=True))
        bend = sum(
            float(np.sum(w * (a + b - 2 * m))) for w, a, b, m in zip(self.weights, *ends, self.middle, strict=True)
        )
        return rise / (points[0] - points[1]), abs(bend) / abs(rise) if rise else 0.0


class Formulas:
    """The custom gradients of a run, each checked once."""

    def __init__(self, watched: Watched, kept: KeptSteps) -> None:
        self._watched = watched
        self._kept = kept
        self._known: dict[CustomCall, CustomGradient | None] = {}
        self._weights: dict[CustomCall, list[Array]] = {}

    def events(self) -> Iterator[CustomGradient]:
        for calls in list(self._watched.recorder.custom_calls.of.values()):
            found = next((event for call in calls if (event := self._check(call)) is not None), None)
            if found is not None:
                yield found

    def _check(self, call: CustomCall) -> CustomGradient | None:
        if call not in self._known:
            self._known[call] = None
            try:
                with self._watched.unseen(), compat.eager_scope():
                    probes = tuple(self._probes(call))
            except Exception:  # nothing is known to be wrong: there is nothing to say
                return None
            finally:
                call.values.clear()
            if any(probe.stated for probe in probes):
                meanings = [meaning_of(name) for name in call.formula]
                self._known[call] = CustomGradient(
                    function=call.function,
                    where=call.where,
                    probes=probes,
                    factors=(*call.factors, *(-1.0 for _, action in meanings if action is Action.NEGATE)),
                    bounded=any(kind in _BOUNDING for kind, _ in meanings),
                    ignores_upstream=call.ignores_upstream and self._is_weighted(call),
                )
        return self._known[call]

    def _is_weighted(self, call: CustomCall) -> bool:
        """Whether what came in was not one everywhere: only then does it matter that the formula leaves it out."""
        return any(np.any(weight != 1.0) for weight in self._weights.pop(call, ()))

    def _probes(self, call: CustomCall) -> Iterator[Probe]:
        values = call.values if call.graph is None else self._replayed(call)
        ops = _eager_ops(call.forward) if call.graph is None else _traced_ops(call, values)
        weighed = _Weighed(call, ops, values)
        self._weights[call] = weighed.weights
        for position, (number, answer) in enumerate(zip(call.arguments, call.answers, strict=False)):
            base, stated = array_of(values.get(number)), array_of(_value(answer, values))
            if base is None or stated is None or base.dtype.name not in _DTYPES or base.shape != stated.shape:
                continue
            if any(np.array_equal(base, result) for result in weighed.middle):
                continue
            places = [each for each, tensor in values.items() if tensor is values[number]]
            yield from _probe(weighed, position, places, base, stated.reshape(-1))

    def _replayed(self, call: CustomCall) -> dict[int, Any]:
        """The values of all tensors of the traced function, in the first step that was kept of it."""
        for graph, known in self._kept.calls(call.graph):
            values = {number: value.tensor for number, value in known.items()}
            wanted = [each for given in call.upstream for each in _tensors_of(given)]
            _complete(graph, [each for each in (*wanted, *call.answers) if each is not None], values)
            return values
        raise ReplayError("the values of the step are gone")


def _probe(weighed: _Weighed, position: int, places: Sequence[int], base: Array, stated: Array) -> Iterator[Probe]:
    flat = base.reshape(-1)
    there = np.flatnonzero(stated)
    if not there.size:
        return
    typical = max(float(np.mean(np.abs(flat))), 1e-3)
    for index in sorted({int(there[int(i)]) for i in np.linspace(0, there.size - 1, _ELEMENTS)}):
        size = max(abs(float(flat[index])), 0.1 * typical)
        slope, _ = weighed.difference(base, places, index, _STEP * size)
        narrow, _ = weighed.difference(base, places, index, _STEP * size / 2)
        _, bend = weighed.difference(base, places, index, _WIDE_STEP * max(size, 1.0))
        told = float(stated[index])
        if abs(slope - narrow) <= _RELIABLE * max(abs(slope), abs(told)):  # else a corner, or lost in rounding; or NaN
            yield Probe(
                argument=position, value=float(flat[index]), stated=told, measured=slope, straight=bend <= _STRAIGHT
            )


def _value(thing: Any, values: Mapping[int, Any]) -> Any:
    """The tensor itself, or where it was traced what it was in the replay."""
    return thing if compat.has_values(thing) else values.get(compat.id_of(thing) or 0)


def _dense(gradient: Any, values: Mapping[int, Any], shape: tuple[int, ...]) -> Array:
    """A gradient that comes in, also where it is that of some rows."""
    parts = [np.asarray(array_of(_value(each, values))) for each in _tensors_of(gradient)]
    if len(parts) == 1:
        return np.asarray(parts[0], np.float64)
    dense = np.zeros(shape)
    np.add.at(dense, parts[1], parts[0])
    return dense


def _tensors_of(gradient: Any) -> list[Any]:
    return [gradient.values, gradient.indices] if compat.is_sparse(gradient) else [gradient]


def _eager_ops(records: Sequence[OpRecord]) -> list[_Op]:
    return [
        _Op(r.type, compat.given_attributes(r.type, r.attrs), r.inputs, tuple(facts.id for facts in r.outputs))
        for r in records
    ]


def _traced_ops(call: CustomCall, values: dict[int, Any]) -> list[_Op]:
    """The ops that lie between arguments and results; those between the gradients of both are noted on the way."""
    order = call.graph.get_operations()  # also those that the step itself can do without, for nobody reads its loss
    ends = {compat.id_of(answer) for answer in call.answers}
    incoming = {compat.id_of(each) for given in call.upstream for each in _tensors_of(given)}
    for operation, _, _ in _between(order, incoming, ends):
        call.formula.append(operation.type)
        scalars = [t.op for t in operation.inputs if t.op.type == "Const" and t.shape.rank == 0 and t.dtype.is_floating]
        call.factors += [float(compat.array_view(compat.constant_of(each))) for each in scalars]
    between = _between(order, set(call.arguments), set(call.results))
    for constant in (tensor for op, _, _ in between for tensor in op.inputs if tensor.op.type == "Const"):
        values.setdefault(compat.tensor_id(constant), compat.constant_of(constant.op))
    return [_Op(op.type, compat.attributes_of(op), inputs, outputs) for op, inputs, outputs in between]


def _complete(graph: Any, wanted: Sequence[Any], values: dict[int, Any]) -> None:
    """Compute what a step itself can do without: a gradient that comes into a formula which ignores it."""
    missing = {compat.id_of(each) for each in wanted} - values.keys()
    needed = []
    for operation in reversed(graph.get_operations()):
        if not missing.isdisjoint(map(compat.tensor_id, operation.outputs)):
            needed.append(operation)
            missing |= {compat.tensor_id(each) for each in operation.inputs} - values.keys()
    for operation in reversed(needed):
        if operation.type == "Const":
            values[compat.tensor_id(operation.outputs[0])] = compat.constant_of(operation)
        elif is_pure(operation.type) and values.keys() >= set(map(compat.tensor_id, operation.inputs)):
            inputs = [values[compat.tensor_id(each)] for each in operation.inputs]
            results = compat.run_op(operation.type, len(operation.outputs), inputs, compat.attributes_of(operation))
            values.update(zip(map(compat.tensor_id, operation.outputs), results, strict=True))


def _between(
    order: Sequence[Any], starts: set[Any], ends: set[Any]
) -> list[tuple[Any, tuple[int, ...], tuple[int, ...]]]:
    """(op, ids of its inputs, of its outputs) of the ops that depend on some tensors and that others depend on.

    What a stop keeps fixed stays as it was.
    """
    depending, found, kept = set(starts), [], []
    for operation in order:
        inputs = tuple(compat.tensor_id(tensor) for tensor in operation.inputs)
        outputs = tuple(compat.tensor_id(tensor) for tensor in operation.outputs)
        if operation.type != "StopGradient" and not depending.isdisjoint(inputs):
            depending.update(outputs)
            found.append((operation, inputs, outputs))
    needed = set(ends)
    for each in reversed(found):
        if not needed.isdisjoint(each[2]):
            needed.update(number for number in each[1] if number not in starts)  # what makes those is before the call
            kept.append(each)
    return kept[::-1]
