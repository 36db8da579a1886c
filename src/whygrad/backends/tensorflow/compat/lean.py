"""A traced function once more, without the ops of ours in it; and the shortest way to call one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Final

import tensorflow as tf

from whygrad.backends.tensorflow.capability import Loss, find
from whygrad.backends.tensorflow.compat.core import TAP, AtomicFunction, eager_context, quick_execute

OWN_SCOPE: Final = "whygrad_own"  # in the names of ops that only measure, and that nothing of the user's needs
_SUFFIX: Final = f"_{OWN_SCOPE}"  # of the names of such functions
OWN_TAP: Final = f"{TAP}_{OWN_SCOPE}"
_COMPILED: Final = ("_XlaMustCompile", "_XlaCompile")

_cancellation = find("tensorflow.python.eager.cancellation:context", Loss.SHORT_CALLS)
_explained = find(
    "tensorflow.python.eager.polymorphic_function.atomic_function:InterpolateRuntimeError", Loss.SHORT_CALLS
)


def without_own_ops(function: Any) -> Any:
    """The same function without them, and without the arguments that only they took; for `short_call`.

    None where there are none, or they cannot be cut out.
    """
    lean = _lean(function, {}, outermost=True)
    return None if lean is function else lean


def _lean(function: Any, known: dict[bytes, Any], *, outermost: bool = False) -> Any:
    """The function without ops of ours, and calling functions without them; itself where nothing is to be cut out."""
    if function.name not in known:
        known[function.name] = function  # XLA rounds what it compiles as a whole: there, and around it, nothing changes
        try:
            definition = function.definition
        except Exception:  # gone from the runtime
            return function
        if not any(name in definition.attr and definition.attr[name].b for name in _COMPILED):
            known[function.name] = _cut(function, definition, known, outermost)
    return known[function.name]


def _cut(function: Any, definition: Any, known: dict[bytes, Any], outermost: bool) -> Any:
    children = [_lean(child, known) for child in function.children]
    names = {
        child.name.decode(): lean.name.decode()
        for child, lean in zip(function.children, children, strict=True)
        if lean is not child
    }
    gone = {node.name for node in definition.node_def if OWN_SCOPE in node.name}
    called = [each for node in definition.node_def for each in _functions_of(node) if each.name in names]
    for each in called:
        each.name = names[each.name]
    if not (gone or called) or not _cut_out(definition, gone):
        return function
    still = {each.name for node in definition.node_def for each in _functions_of(node)}
    if outermost:
        _drop_unused(definition)
    definition.signature.name += _SUFFIX
    context = eager_context()
    if not context.has_function(definition.signature.name.encode()):
        context.add_function_def(definition)
    return AtomicFunction(
        definition.signature.name,
        context,
        function.function_type,
        children=[child for child in children if child.name.decode() in still],
        call_options=function.call_options,
        cached_graph=function.graph,
    )


def _functions_of(node: Any) -> Iterator[Any]:
    """What a node calls, as its attributes name it."""
    for value in node.attr.values():
        kind = value.WhichOneof("value")
        if kind == "func":
            yield value.func
        elif kind == "list":
            yield from value.list.func


def _cut_out(definition: Any, gone: set[str]) -> bool:
    """Take nodes out of a definition; False where another one needs what they compute."""
    kept = [node for node in definition.node_def if node.name not in gone]
    for node in kept:
        needed = [each for each in node.input if each.removeprefix("^").partition(":")[0] not in gone]
        if any(not each.startswith("^") for each in set(node.input) - set(needed)):
            return False
        del node.input[:]
        node.input.extend(needed)
    if any(value.partition(":")[0] in gone for value in definition.ret.values()):
        return False
    copies = [type(node).FromString(node.SerializeToString()) for node in kept]
    del definition.node_def[:]
    definition.node_def.extend(copies)
    for name, node in list(definition.control_ret.items()):
        if node in gone:
            del definition.control_ret[name]
    ends = [each for each in definition.signature.control_output if each in definition.control_ret]
    del definition.signature.control_output[:]
    definition.signature.control_output.extend(ends)
    return True


def _drop_unused(definition: Any) -> None:
    """Take out the arguments that nothing uses any more."""
    taken = chain(definition.ret.values(), *(node.input for node in definition.node_def))
    used = {each.removeprefix("^").partition(":")[0] for each in taken}
    before = type(definition).FromString(definition.SerializeToString())
    kept = [i for i, each in enumerate(before.signature.input_arg) if each.name in used]
    del definition.signature.input_arg[:]
    definition.arg_attr.clear()
    definition.resource_arg_unique_id.clear()
    for place, i in enumerate(kept):
        definition.signature.input_arg.append(before.signature.input_arg[i])
        if i in before.arg_attr:
            definition.arg_attr[place].CopyFrom(before.arg_attr[i])
        if i in before.resource_arg_unique_id:
            definition.resource_arg_unique_id[place] = before.resource_arg_unique_id[i]


def short_call(function: Any, lean: Any = None) -> Callable[..., Any] | None:
    """A call of a function from a plain loop: no tape records, nothing is traced or may be cancelled, nobody listens.

    It runs what TensorFlow would, with the same options, but prepares nothing for what is not there. `lean` may stand
    in for the function; what goes wrong is explained by the function itself. None where more is asked for.
    """
    outputs, runs = function.function_type.flat_outputs, lean or function
    asks_more = function.call_options.control_captures or any(each.dtype._handle_data for each in outputs)
    if asks_more or not (_cancellation and _explained):
        return None
    names = [each.name for each in function.cached_definition.signature.input_arg]
    wanted = {each.name for each in runs.cached_definition.signature.input_arg}
    left_out = [i for i in reversed(range(len(names))) if names[i] not in wanted]
    context, name, count = runs._bound_context, runs.name.decode(), len(outputs)
    known: tuple[Any, ...] = ()
    attrs: tuple[Any, ...] = ()

    def call(arguments: tuple[Any, ...]) -> Any:
        nonlocal known, attrs
        options = context.function_call_options  # another one, or the same with something else in it
        if known != (now := (options.executor_type, options.config_proto_serialized)):
            known, attrs = now, tuple(chain(*options.as_attrs().items()))
        given = list(arguments)
        for i in left_out:
            del given[i]
        try:
            return quick_execute(name, count, given, attrs, context) or None
        except tf.errors.OpError as error:
            error._message = error.message.replace(_SUFFIX, "")
            with _explained(function):
                raise

    return call


def short_opening(optional: Any) -> Callable[[Any], tuple[dict[str, Any], list[Any]]] | None:
    """How to take the value out of an Optional like this one, and the tensors in it: by the one op that it takes.

    No tape may record, and nobody listen. None where the value is more than tensors by name, or there is more than one
    device to run the op on.
    """
    spec = optional.element_spec
    if type(spec) is not dict or not all(type(each) is tf.TensorSpec for each in spec.values()):
        return None
    if not quick_execute or len(tf.config.list_logical_devices()) > 1:
        return None
    order = sorted(spec)
    specs, context = [spec[name] for name in order], eager_context()
    types = [each.dtype.as_datatype_enum for each in specs]
    attrs = ("output_types", types, "output_shapes", [each.shape for each in specs])

    def opened(like: Any) -> tuple[dict[str, Any], list[Any]]:
        tensors = quick_execute("OptionalGetValue", len(order), [like._variant_tensor], attrs, context)
        by_name = dict(zip(order, tensors, strict=True))
        return {name: by_name[name] for name in spec}, tensors

    return opened


def may_be_cancelled() -> bool:
    """Whether somebody may cancel what this thread runs."""
    return bool(_cancellation) and _cancellation() is not None
