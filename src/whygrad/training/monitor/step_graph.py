"""The ops of a traced training step as neutral data, to be kept with its run."""

from __future__ import annotations

from typing import Any, Final

from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.log.trace_log import from_traceback
from whygrad.graph import Flow, Graph, Op, OpId, Tensor, TensorId

_MOST_OPS: Final = 20_000


def graph_of(function_graph: Any) -> Graph:
    """What the graph of a function holds, in the order it was built; functions that it calls are single ops."""
    numbers: dict[Any, TensorId] = {}
    tensors: dict[TensorId, Tensor] = {}
    ops: list[Op] = []
    operations = function_graph.get_operations()
    for number, operation in enumerate(operations[:_MOST_OPS]):
        for tensor in operation.outputs:
            number_of_it = numbers[id(tensor)] = TensorId(len(numbers))
            shape = None if tensor.shape.rank is None else tuple(tensor.shape.as_list())
            tensors[number_of_it] = Tensor(id=number_of_it, dtype=tensor.dtype.name, shape=shape)
        inputs = tuple(numbers[id(tensor)] for tensor in operation.inputs if id(tensor) in numbers)
        ops.append(
            Op(
                id=OpId(number),
                kind=kind_of(operation.type),
                name=operation.type,
                inputs=inputs,
                outputs=tuple(numbers[id(tensor)] for tensor in operation.outputs),
                flows=(Flow.CARRIED,) * len(inputs),
                where=from_traceback(operation),
            )
        )
    return Graph(tuple(ops), tensors, truncated=len(operations) > _MOST_OPS)
