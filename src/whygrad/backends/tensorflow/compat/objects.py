"""Attributes of TensorFlow's and Keras's objects, private ones by plain names, and of ops, as TensorFlow takes them."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow.compat.core import could_possibly_record, op_definition

tensor_id: Callable[[Any], int] = operator.attrgetter("_id")
"""The number that tells a tensor, eager or traced, from every other."""


def id_of(thing: Any) -> int | None:
    """The number of a tensor; None for anything else."""
    number: int | None = getattr(thing, "_id", None)
    return number


def is_sparse(gradient: Any) -> bool:
    """Whether it is slices. Asked of the class: a tensor takes ten times as long to say that it has no such part."""
    return hasattr(type(gradient), "indices")


def values_in(gradient: Any) -> Any:
    """The tensor with the values of slices; any other gradient as it is."""
    return gradient.values if is_sparse(gradient) else gradient


def variant_of(optional: Any) -> Any:
    """The tensor that an Optional is around; None where there is none."""
    return getattr(optional, "_variant_tensor", None)


def shape_of(tensor: Any) -> tuple[int | None, ...] | None:
    """None: the rank is not known."""
    try:
        shape: tuple[int | None, ...] | None = tensor._shape_tuple()
    except Exception:  # an unknown rank raises in some versions
        return None
    return shape


def keeps_logits(tensor: Any) -> bool:
    """Whether a cross-entropy of Keras would take the numbers in front of the activation in place of these."""
    if getattr(getattr(tensor, "dtype", None), "name", "") != "float32":  # a cast in between loses them
        return False
    maker = None if has_values(tensor) else getattr(tensor, "op", None)
    return hasattr(tensor, "_keras_logits") or getattr(maker, "type", "") in ("Softmax", "Sigmoid")


def is_integer(tensor: Any) -> bool:
    return bool(getattr(getattr(tensor, "dtype", None), "is_integer", False))


def has_values(thing: Any) -> bool:
    """Whether it is a tensor whose elements can be looked at."""
    return hasattr(thing, "_numpy")


def held_by(variable: Any) -> Any:
    """What a Keras 3 variable holds, which may be nothing yet; None for any other variable."""
    return getattr(variable, "_value", None)


def below_casts(variable: Any) -> Any:
    """The variable that one of legacy Keras under mixed precision casts when it is read; any other as it is."""
    return getattr(variable, "__dict__", {}).get("_variable", variable)


def awaits_value(variable: Any) -> bool:
    """Whether a Keras variable has no value yet: asking it for one would run its initializer."""
    return hasattr(variable, "_value") and held_by(variable) is None


def is_scratch(graph: Any) -> bool:
    """Whether a graph only tells Keras the shapes of a layer's results, and is never run."""
    return str(getattr(graph, "name", "")) == "scratch_graph"


def is_function_graph(graph: Any) -> bool:
    """Whether it is one that a function is traced into; asking it for its captures would list them all."""
    return hasattr(type(graph), "captures")


def newest_captures(graph: Any, count: int) -> list[tuple[Any, Any]]:
    """Of what a graph has captured, as (outside, inside), at least the last so many; the others may be among them."""
    held = getattr(graph, "function_captures", None)
    if held is None or not hasattr(held, "by_val_internal"):
        return list(graph.captures)
    inside = itertools.islice(reversed(held.by_val_internal.items()), max(count, 0))
    return [(held.by_val_external[key], tensor) for key, tensor in inside if key in held.by_val_external]


def trainables_of(thing: Any) -> list[Any]:
    """The variables that a layer was made to train, or that an optimizer was built for, whatever the flags say now."""
    return [*(getattr(thing, "_trainable_variables", None) or ()), *(getattr(thing, "_trainable_weights", None) or ())]


def is_persistent(tape: Any) -> bool:
    return bool(getattr(tape, "_persistent", False))


@contextlib.contextmanager
def recording_for_good(tape: Any) -> Iterator[None]:
    """What a tape records from here on may be asked more than once; the tape itself does not know."""
    was = is_persistent(tape)
    tape._persistent = True
    try:
        yield
    finally:
        tape._persistent = was


def recorded_by(tape: Any) -> Any:
    """What a tape has recorded; None once it is used up."""
    return getattr(tape, "_tape", None)


def watches_variables(tape: Any) -> bool:
    return bool(getattr(tape, "_watch_accessed_variables", True))


def text_of(token: str | bytes) -> str:
    return token.decode() if isinstance(token, bytes) else token


def python_token(attrs: Any) -> str:
    """The token by which an op knows its Python function, among the attributes of the op."""
    flat = tuple(attrs or ())
    return next((text_of(value) for name, value in zip(flat[::2], flat[1::2], strict=False) if name == "token"), "")


def body_of(python_op: Any) -> Any:
    """The Python function that an op runs."""
    return getattr(python_op, "_func", None)


def differentiated_by(python_op: Any) -> str | None:
    """The token of the op whose gradient a Python function of TensorFlow's own takes; None for the user's functions."""
    if not getattr(python_op, "_is_grad_func", False):
        return None
    kept: Mapping[str, Any] = {"func": body_of(python_op)}
    while "token" not in kept and "func" in kept:  # AutoGraph wraps it
        kept = inspect.getclosurevars(kept["func"]).nonlocals
    return text_of(kept.get("token", ""))


def may_be_differentiated(python_op: Any) -> bool:
    """Whether TensorFlow holds on to what the function computes, for a gradient."""
    return getattr(python_op, "_support_graph_mode_gradient", False) or bool(could_possibly_record())


def function_in(graph: Any, name: str) -> Any:
    """A function that a graph knows by name, or one of the graphs around it: under two tapes a branch is wrapped."""
    found = None
    while graph is not None and found is None:
        found, graph = graph._get_function(name), getattr(graph, "outer_graph", None)
    return found


def updating_method(optimizer_class: Any) -> str:
    """The method that gives an optimizer of this class its gradients: Keras 3, or tf_keras."""
    return "apply" if hasattr(optimizer_class, "apply") else "apply_gradients"


class CallbackWithoutLogs:
    """What tf_keras asks a callback before it fetches the logs of a batch for it: none of its hooks looks at them."""

    _supports_tf_logs = True
    hears_training_batches = False

    def _implements_train_batch_hooks(self) -> bool:
        return self.hears_training_batches

    def _implements_test_batch_hooks(self) -> bool:
        return False

    _implements_predict_batch_hooks = _implements_test_batch_hooks


def given_attributes(op_type: str, attrs: Any) -> tuple[Any, ...]:
    """A listener is told of an attribute nobody gave as None, and of those of a graph's op as messages.

    Running the op again, and its gradient, want values.
    """
    flat = tuple(attrs or ())
    found: list[Any] = []
    for name, value in zip(flat[::2], flat[1::2], strict=True):
        known = _default_attribute(op_type, name) if value is None else _value_of(value)
        found += [] if known is None else [name, known]
    return tuple(found)


@functools.cache
def _default_attribute(op_type: str, name: Any) -> Any:
    """What TensorFlow takes where nothing is given; None where it must be given."""
    definition = op_definition(op_type)
    text = name.decode() if isinstance(name, bytes) else str(name)
    for attribute in () if definition is None else definition.attr:
        if attribute.name == text and attribute.HasField("default_value"):
            return _value_of(attribute.default_value)
    return None


def _value_of(attribute: Any) -> Any:
    """The value in a message; anything else is one already."""
    if not hasattr(attribute, "WhichOneof"):
        return attribute
    kind = attribute.WhichOneof("value")
    if kind == "list":
        return [_eager_attribute(item) for _, items in attribute.list.ListFields() for item in items]
    return None if kind is None else _eager_attribute(getattr(attribute, kind))


_REPLICA = re.compile(r"(?:^|(?<=/))replica_(\d+)/")  # the scope that a strategy gives to the ops of all but the first


def replica_of(operation: Any) -> tuple[int, Any]:
    """Which replica a traced op is of, and the op of the first replica that it is a copy of, if that can be found."""
    found = _REPLICA.search(operation.name)
    if found is None:
        return 0, None
    try:
        twin = operation.graph.get_operation_by_name(_REPLICA.sub("", operation.name, count=1))
    except KeyError:
        return int(found[1]), None
    return int(found[1]), twin if twin.type == operation.type else None


def attributes_of(operation: Any) -> tuple[Any, ...]:
    """The attributes of a traced op in the form eager execution takes them."""
    found: list[Any] = []
    for attribute in operation.op_def.attr:
        found += [attribute.name, _eager_attribute(operation.get_attr(attribute.name))]
    return tuple(found)


def _eager_attribute(value: Any) -> Any:
    """Shapes come as protocol buffers, and are taken as lists."""
    if isinstance(value, list):
        return [_eager_attribute(each) for each in value]
    if hasattr(value, "unknown_rank"):
        return None if value.unknown_rank else [side.size for side in value.dim]
    return value


def stands_for_written(variable: Any) -> bool:
    """Whether this is what `assign` returns: another object around the handle of a variable that is there already."""
    return type(variable).__name__ == "_UnreadVariable"


def initial_value(frame: FrameType) -> Any:
    """What a variable is being made with, as the user gave it; None where the frames that make it do not show it."""
    around = frame.f_back
    return None if around is None else around.f_locals.get("initial_value")
