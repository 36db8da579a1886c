"""Ops put into a graph instead of being run: TensorFlow then says what would come of them, and checks their inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow.compat.core import dtype_named, op_def_library, op_definition

_KNOWN_ELEMENTS = 1024  # whole numbers, up to so many, are known in the graph too: shapes, axes, sizes


def rehearsed(run: Callable[[Sequence[Any]], Any], tensors: Sequence[Any]) -> list[Any]:
    """The traced ops that `run` makes of stand-ins for the tensors; nothing is calculated."""
    graph = tf.Graph()
    with graph.as_default():
        stand_ins = [None if tensor is None else _stand_in(tensor) for tensor in tensors]
        given = len(graph.get_operations())
        run(stand_ins)
        return list(graph.get_operations()[given:])


def put_in_graph(op_type: str, inputs: Sequence[Any], attrs: Sequence[Any]) -> None:
    """One op with the attributes that it would be run with, into the graph that is current."""
    definition = op_definition(op_type)
    kinds = {attribute.name: attribute.type for attribute in definition.attr}
    values = {
        name: op_def_library.value_to_attr_value(_typed(value, kinds[name]), kinds[name], name)
        for name, value in zip(attrs[::2], attrs[1::2], strict=True)
    }
    tf.compat.v1.get_default_graph()._create_op_internal(
        op_type, list(inputs), dtypes=None, attrs=values, op_def=definition, compute_device=False
    )


def known_numbers(tensor: Any) -> Any:
    """The array of a tensor that may decide about sizes; None for all others."""
    is_known = tensor.dtype.is_integer and tensor.shape.num_elements() <= _KNOWN_ELEMENTS
    return tensor.numpy() if is_known else None


def _typed(value: Any, kind: str) -> Any:
    if kind == "type":
        return dtype_named(value)
    return [dtype_named(each) for each in value] if kind == "list(type)" else value


def _stand_in(tensor: Any) -> Any:
    if isinstance(tensor, tf.IndexedSlices):
        parts = (tensor.values, tensor.indices, tensor.dense_shape)
        return tf.IndexedSlices(*(None if part is None else _stand_in(part) for part in parts))
    known = known_numbers(tensor)
    return tf.compat.v1.placeholder(tensor.dtype, tensor.shape) if known is None else tf.constant(known, tensor.dtype)
