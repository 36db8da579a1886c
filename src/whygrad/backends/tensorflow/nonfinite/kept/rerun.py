"""The analysis of a kept step, done again."""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from whygrad.backends.kept_steps import KeptStep
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.variables import VariableBook, VariableEntry
from whygrad.backends.tensorflow.nonfinite.birth import describe, first_birth
from whygrad.backends.tensorflow.nonfinite.kept.permission import check_program
from whygrad.backends.tensorflow.nonfinite.kept.program import span_from_list
from whygrad.backends.tensorflow.nonfinite.kept.room import Room
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Site, Trace, Value
from whygrad.backends.tensorflow.nonfinite.watched import Watched
from whygrad.errors import UsageError
from whygrad.graph import Recording, Variable, VariableId
from whygrad.graph.nonfinite import Nonfinite, Occurrence, Stage


def replay(step: KeptStep) -> Recording:
    """Run the ops of a kept step once more, and say where the first bad value came from.

    The step may be somebody else's: a UsageError says by name what is not run, before anything is.
    """
    attributes = check_program(step)
    try:
        return _replayed(step, attributes)
    except UsageError:
        raise
    except Exception as error:  # values and attributes that do not fit one another
        reason = str(error).splitlines()[0] if str(error) else "it gives no reason"
        raise UsageError(f"the step cannot be run again: {type(error).__name__}: {reason}") from error


def _replayed(step: KeptStep, attributes: Sequence[tuple[Any, ...]]) -> Recording:
    _show_sources(step)
    variables = VariableBook()
    for number, known in step.facts["variables"].items():
        variables.entries[int(number)] = _entry(int(number), known)
    rerun = _Rerun(step, attributes)
    rerun.run()
    ends = [value for place in step.facts["ends"] if (value := rerun.values.get(place)) is not None]
    birth = first_birth(variables, ends)
    when = _when(step.facts["when"])
    if birth is None:
        reason = "the replay gave finite values"
        event = Nonfinite(stage=Stage.UNPLACED, where=when.request, reason=reason, when=when)
    else:
        watched = Watched(Recorder(variables), variables, lambda place, _: place)
        event = replace(describe(watched, rerun.trace, birth), when=when)
    return Recording(events=(event,), variables=_variables(step.facts["variables"]), framework="tensorflow")


class _Rerun:
    def __init__(self, step: KeptStep, attributes: Sequence[tuple[Any, ...]]) -> None:
        self.facts = step.facts
        self._attributes = attributes
        self._room = Room()
        self.trace = Trace()
        self.values: dict[int, Value] = {}
        self._nodes: list[Node] = []
        self._handles = {int(place): number for place, number in step.facts["handles"].items()}
        self._numbers = {int(place): number for place, number in step.facts["numbers"].items()}
        self._outside = frozenset(step.facts["outside"])
        self._leaves = {
            place: compat.tensor_from_bytes(content, step.facts["dtypes"][str(place)])
            for place, content in step.values.items()
        }

    def run(self) -> None:
        for stored, attributes in zip(self.facts["nodes"], self._attributes, strict=True):
            self._run(stored, attributes)

    def _run(self, stored: Mapping[str, Any], attributes: tuple[Any, ...]) -> None:
        node = self._node(stored, attributes)
        node.incoming = tuple(self._values(stored["incoming"]))
        forward = stored.get("forward")
        if isinstance(forward, int):
            node.forward = self._nodes[forward]
        elif forward is not None:
            node.forward = self._node(forward)
            node.forward.outputs = tuple(self._values(forward["outputs"]))
        self._nodes.append(node)
        node.order = len(self.trace.nodes)
        self.trace.nodes.append(node)
        results = self._results(node, stored)
        self._room.take(results)
        node.outputs = tuple(self._output(node, place, results, i) for i, place in enumerate(stored["outputs"]))

    def _node(self, stored: Mapping[str, Any], attributes: tuple[Any, ...] = ()) -> Node:
        site = Site(span_from_list(stored["place"]), tuple(stored["layers"]))
        return Node(stored["type"], tuple(self._values(stored["inputs"])), site, attributes)

    def _values(self, places: Sequence[int | None]) -> list[Value | None]:
        return [None if place is None else self._value(place) for place in places]

    def _value(self, place: int) -> Value | None:
        if place not in self.values and place in self._leaves:
            self._put(place, Value(self._leaves[place], None, self._numbers.get(place)))
        return self.values.get(place)

    def _put(self, place: int, value: Value) -> Value:
        value.number, value.handle = self._numbers.get(place), self._handles.get(place)
        self.values[place] = value
        if value.number is not None:
            self.trace.values[value.number] = value
        return value

    def _output(self, node: Node, place: int | None, results: Sequence[Any], position: int) -> Value | None:
        if place is None:
            return None
        if place in self.values:
            return self.values[place]
        tensor = self._leaves.get(place)
        if tensor is None:
            tensor = results[position] if position < len(results) else None
        if tensor is None:
            return None
        value = self._put(place, Value(tensor, None if place in self._outside else node))
        value.guess(node)
        return value

    def _results(self, node: Node, stored: Mapping[str, Any]) -> list[Any]:
        kind = stored["rerun"]
        if kind is None or any(value is None for value in node.inputs):
            return []
        tensors = [value.tensor for value in node.inputs if value is not None]
        if kind == "sum":
            return [compat.sum_of(tensors)]
        if kind == "gradient":
            return self._gradient(node)
        self._room.ask_for_op(node.type, tensors, node.attrs)
        return compat.run_op(node.type, len(stored["outputs"]), tensors, node.attrs)

    def _gradient(self, node: Node) -> list[Any]:
        forward = node.forward
        assert forward is not None
        function = compat.gradient_registry.lookup(forward.type)
        came = [
            (None if value is None else compat.zeros_like(value.tensor)) if gradient is None else gradient.tensor
            for gradient, value in zip(node.incoming, forward.outputs, strict=True)
        ]
        known = [None if value is None else value.tensor for value in (*forward.inputs, *forward.outputs)]

        def run(tensors: Sequence[Any]) -> Any:
            first, second = len(forward.inputs), len(known)
            ins, outs, gradients = list(tensors[:first]), list(tensors[first:second]), tensors[second:]
            return function(compat.MockOp(forward.attrs, ins, outs, forward.type, ()), *gradients)

        self._room.ask_for_gradient(forward.type, run, [*known, *came])
        answer = run([*known, *came])
        return list(answer) if isinstance(answer, (list, tuple)) else [answer]


def _show_sources(step: KeptStep) -> None:
    """The text as it was; a file that is named but was not kept is not looked for here."""
    nodes = step.facts["nodes"]
    places = [known["place"] for node in nodes for known in (node, node.get("forward")) if isinstance(known, dict)]
    places += [step.facts["when"]["request"]]
    for known in step.facts["variables"].values():
        places += [known["created"], known["last_write"]]
    files = {place[0] for place in places if place is not None}
    for file in files | step.sources.keys():
        text = step.sources.get(file, "")
        linecache.cache[file] = (len(text), None, [f"{line}\n" for line in text.splitlines()], file)


def _entry(number: int, known: Mapping[str, Any]) -> VariableEntry:
    return VariableEntry(
        id=number,
        name=known["name"],
        dtype=known["dtype"],
        shape=None if known["shape"] is None else tuple(known["shape"]),
        trainable=known["trainable"],
        created=span_from_list(known["created"]),
        reference=None,
        last_write=span_from_list(known["last_write"]),
    )


def _variables(stored: Mapping[str, Any]) -> dict[VariableId, Variable]:
    return {
        VariableId(int(number)): Variable(
            id=VariableId(int(number)),
            name=known["name"],
            dtype=known["dtype"],
            shape=None if known["shape"] is None else tuple(known["shape"]),
            trainable=known["trainable"],
        )
        for number, known in stored.items()
    }


def _when(stored: Mapping[str, Any]) -> Occurrence:
    return Occurrence(
        request=span_from_list(stored["request"]),
        step=stored["step"],
        loss_is_bad=stored["loss_is_bad"],
        symptom=stored["symptom"],
        variables=tuple(map(VariableId, stored["variables"])),
        compiled=stored["compiled"],
    )
