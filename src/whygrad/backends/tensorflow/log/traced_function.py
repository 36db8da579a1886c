"""A function graph, as the folds may ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.function_graphs import FUNCTIONAL_OPS, FunctionNumbers, captured, functional_graphs
from whygrad.backends.tensorflow.log.op_record import OpRecord
from whygrad.observe.fact import Call

_BRANCHES = ("If", "StatelessIf", "Case", "StatelessCase")  # their first input says which


class TracedFunction:
    """Made anew for each question: it keeps the graph alive."""

    __slots__ = ("_numbers", "_tensors", "graph", "key")

    def __init__(self, numbers: FunctionNumbers, graph: Any, tensors: Iterable[Any] = ()) -> None:
        self.graph = graph
        self.key = numbers.of(graph)
        self._numbers = numbers
        self._tensors = {compat.tensor_id(tensor): tensor for tensor in tensors if tensor.dtype.is_floating}

    @property
    def inputs(self) -> Sequence[int]:
        return [compat.tensor_id(tensor) for tensor in self.graph.inputs]

    @property
    def outputs(self) -> Sequence[int]:
        return self._met(self.graph.outputs)

    def outside(self, tensor: int) -> int | None:
        known = self._tensors.get(tensor)
        if known is None or known.op.type != "Placeholder":
            return None
        return captured(self.graph).get(tensor) if compat.is_function_graph(self.graph) else None

    def call(self, tensor: int) -> Call | None:
        known = self._tensors.get(tensor)
        if known is None or known.op.type not in FUNCTIONAL_OPS:
            return None
        op = known.op
        graphs = functional_graphs(op, self.graph)[: 1 if "While" in op.type else None]
        return Call(
            functions=tuple(TracedFunction(self._numbers, graph) for graph in graphs if graph is not None),
            arguments=self._met(op.inputs)[op.type in _BRANCHES :],
            output=known.value_index,
            straight=op.type.endswith("PartitionedCall"),
        )

    def maker(self, tensor: int) -> OpRecord | None:
        known = self._tensors.get(tensor)
        return None if known is None else OpRecord(0, known.op.type, self._met(known.op.inputs), ())

    def _met(self, tensors: Iterable[Any]) -> tuple[int, ...]:
        self._tensors.update((compat.tensor_id(tensor), tensor) for tensor in tensors)
        return tuple(compat.tensor_id(tensor) for tensor in tensors)
