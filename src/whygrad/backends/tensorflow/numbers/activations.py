"""Which activation comes right after a variable, by the ops that follow its reading."""

from __future__ import annotations

from typing import Final

from whygrad.graph import Graph, OpKind, TensorId
from whygrad.graph.questions.query import index_of
from whygrad.source import SourceSpan

_ACTIVATIONS: Final = {"Relu": "relu", "Relu6": "relu6", "Sigmoid": "sigmoid", "Tanh": "tanh", "Softsign": "softsign"}
_ON_THE_WAY: Final = frozenset(
    {"BiasAdd", "AddV2", "Add", "MatMul", "BatchMatMulV2", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "Einsum"}
)
_MOST_OPS: Final = 12  # between a weight and its activation


class Readers:
    """What follows the reading of each variable of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._index = index_of(graph)
        self._values: dict[int, list[TensorId]] = {}
        for op in graph.ops:
            if op.kind is OpKind.READ and op.variable is not None:
                self._values.setdefault(int(op.variable), []).extend(op.outputs)
        self._order = {number: place for place, number in enumerate(self._values)}

    def place(self, variable: int) -> tuple[int, str, SourceSpan | None]:
        """Where a weight or bias is in the forward pass, the activation it goes into, and the expression for that."""
        return (self._order.get(variable, len(self._order)), *self._activation(variable))

    def _activation(self, variable: int) -> tuple[str, SourceSpan | None]:
        todo, seen = list(self._values.get(variable, ())), 0
        while todo and seen < _MOST_OPS:
            seen += 1
            for user, _ in self._index.users.get(todo.pop(0), ()):
                if user.name in _ACTIVATIONS:
                    return _ACTIVATIONS[user.name], user.where
                if user.name in _ON_THE_WAY or user.kind is OpKind.MOVE:
                    todo.extend(user.outputs)
        return "", None
