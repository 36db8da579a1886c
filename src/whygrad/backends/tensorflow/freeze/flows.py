"""Which inputs of an op get a gradient: asked of TensorFlow's registry and of the gradient function itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.op_table import is_trainable
from whygrad.graph import Flow

# By the ids of dtypes: TensorFlow keeps one object of each for good, and hashes and names them slowly.
_cache: dict[tuple[str, tuple[int, ...], tuple[int, ...]], tuple[Flow, ...]] = {}
_names: dict[int, str] = {}


def dtype_name(dtype: Any) -> str:
    """The name of a dtype, asked of TensorFlow once."""
    name = _names.get(id(dtype))
    if name is None:
        name = _names[id(dtype)] = str(dtype.name)
    return name


def flows_of(op_type: str, inputs: Sequence[Any], outputs: Sequence[Any], attrs: Any) -> tuple[Flow, ...]:
    """One `Flow` for each input; `inputs` and `outputs` are TensorFacts."""
    key = (op_type, tuple([id(fact.dtype) for fact in inputs]), tuple([id(fact.dtype) for fact in outputs]))
    known = _cache.get(key)
    if known is None:
        known = _cache[key] = _ask(op_type, inputs, outputs, attrs)
    return known


def _ask(op_type: str, inputs: Sequence[Any], outputs: Sequence[Any], attrs: Any) -> tuple[Flow, ...]:
    blocked = (Flow.BLOCKED,) * len(inputs)
    if not any(is_trainable(fact.dtype.name) for fact in outputs):
        return blocked
    try:
        function = compat.gradient_registry.lookup(op_type)
    except LookupError:
        return tuple(Flow.UNREGISTERED if is_trainable(fact.dtype.name) else Flow.BLOCKED for fact in inputs)
    if function is None:
        return blocked
    answer = _probe(function, op_type, inputs, outputs, attrs)
    return tuple(
        flow if is_trainable(fact.dtype.name) else Flow.BLOCKED for fact, flow in zip(inputs, answer, strict=True)
    )


def _probe(function: Any, op_type: str, inputs: Sequence[Any], outputs: Sequence[Any], attrs: Any) -> tuple[Flow, ...]:
    """Build the gradient in a scratch graph and look which inputs get None, or a constant zero."""
    carried = (Flow.CARRIED,) * len(inputs)
    try:
        with tf.Graph().as_default():
            ins = [_placeholder(fact) for fact in inputs]
            outs = [_placeholder(fact) for fact in outputs]
            grads = [_placeholder(fact) for fact in outputs]
            mock = compat.MockOp(compat.given_attributes(op_type, attrs), ins, outs, op_type, ())
            result = function(mock, *grads)
            if not isinstance(result, (list, tuple)):
                result = [result]
            if len(result) != len(inputs):
                return carried
            return tuple(_flow(gradient) for gradient in result)
    except Exception:  # a gradient function may need more than a mock gives; then it has a gradient
        return carried


def _placeholder(fact: Any) -> Any:
    return tf.compat.v1.placeholder(fact.dtype, fact.shape)


def _flow(gradient: Any) -> Flow:
    if gradient is None:
        return Flow.BLOCKED
    producer = getattr(gradient, "op", None)
    if producer is not None and producer.type == "ZerosLike":
        return Flow.ZERO
    value = compat.constant_value(gradient) if producer is not None else None
    if value is not None and value.size and not value.any():
        return Flow.ZERO
    return Flow.CARRIED
