"""A replayed step as a flat list of ops and the values that none of them can make again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from whygrad.backends.step_form import MAX_NODES
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.nonfinite.kept.attributes import AttributeKindError, encoded
from whygrad.backends.tensorflow.nonfinite.pure_ops import has_pure_gradient, is_pure
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Trace, Value
from whygrad.observe.place import span
from whygrad.source import SourceSpan


class CannotKeepError(Exception):
    """A step cannot be written down; the text says why."""


@dataclass(slots=True)
class Program:
    """What is stored of a step; numbers are places in `values`."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    leaves: dict[int, Any] = field(default_factory=dict)  # place -> tensor
    handles: dict[int, int] = field(default_factory=dict)  # place -> the variable that was read
    numbers: dict[int, int] = field(default_factory=dict)  # place -> the id of the tensor in the user's run
    ends: list[int] = field(default_factory=list)
    outside: list[int] = field(default_factory=list)  # values that came in: the batch, variables


class Writer:
    """Takes a trace apart."""

    def __init__(self) -> None:
        self.program = Program()
        self._places: dict[int, int] = {}
        self._made: dict[int, Node] = {}  # place -> the node that makes it again
        self._at: dict[int, int] = {}  # node -> its position
        self._held: list[Value] = []  # so that no id is used twice

    def write(self, trace: Trace, ends: Iterable[Value]) -> Program:
        if len(trace.nodes) > MAX_NODES:
            raise CannotKeepError(f"it runs more than {MAX_NODES} ops")
        for position, node in enumerate(trace.nodes):
            self._at[id(node)] = position
            self.program.nodes.append(self._node(node))
        self.program.ends = [self._place(value) for value in ends]
        for value in self._held:
            place = self._places[id(value)]
            if place not in self._made:
                self._keep(place, value)
        return self.program

    def _node(self, node: Node) -> dict[str, Any]:
        written = self._described(node)
        rerun = self._rerun(node)
        written["rerun"] = rerun
        written["attrs"] = encoded(node.attrs) if rerun == "op" else []
        written["incoming"] = self._place_all(node.incoming)
        forward = node.forward
        if forward is not None:
            known = self._at.get(id(forward))
            written["forward"] = self._described(forward) if known is None else known
        if rerun is not None:
            for value in node.outputs:
                if value is not None:
                    self._made.setdefault(self._place(value), node)
        return written

    def _described(self, node: Node) -> dict[str, Any]:
        return {
            "type": node.type,
            "inputs": self._place_all(node.inputs),
            "outputs": self._place_all(node.outputs),
            "place": span_to_list(span(node.site.place)),
            "layers": list(node.site.layers),
        }

    def _rerun(self, node: Node) -> str | None:
        """How an op can be run again: as itself, by its gradient function, as a sum; None: its results are kept."""
        if any(value is not None and value.tensor.dtype in compat.not_numbers for value in node.inputs):
            return None
        if node.incoming:
            return "gradient" if self._can_go_back(node) else None
        if node.type == "AddN" and not node.attrs:
            return "sum"
        if not node.attrs or not is_pure(node.type):
            return None
        try:
            encoded(node.attrs)
        except AttributeKindError:
            return None
        return "op"

    def _can_go_back(self, node: Node) -> bool:
        forward = node.forward
        position = None if forward is None else self._at.get(id(forward))
        if position is None or not has_pure_gradient(node.type):
            return False
        return self.program.nodes[position]["rerun"] == "op" or forward is None or not forward.attrs

    def _place(self, value: Value) -> int:
        place = self._places.get(id(value))
        if place is None:
            place = self._places[id(value)] = len(self._places)
            self._held.append(value)
            if value.handle is not None:
                self.program.handles[place] = value.handle
            if value.number is not None:
                self.program.numbers[place] = value.number
            if value.maker is None:
                self.program.outside.append(place)
        return place

    def _place_all(self, values: Sequence[Value | None]) -> list[int | None]:
        return [None if value is None else self._place(value) for value in values]

    def _keep(self, place: int, value: Value) -> None:
        tensor = compat.values_in(value.tensor)
        if tensor.dtype == compat.resource_dtype:
            return
        if tensor.dtype == compat.variant_dtype:
            raise CannotKeepError("it holds a list of tensors that no op of it makes")
        self.program.leaves[place] = tensor


def span_to_list(where: SourceSpan | None) -> list[Any] | None:
    return None if where is None else [where.file, where.line, where.column, where.end_line, where.end_column]


def span_from_list(stored: Sequence[Any] | None) -> SourceSpan | None:
    return None if stored is None else SourceSpan(*stored)
