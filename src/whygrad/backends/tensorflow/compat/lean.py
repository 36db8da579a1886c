"""A traced function once more, without the ops of ours in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from whygrad.backends.tensorflow.compat.core import TAP, AtomicFunction, eager_context

OWN_SCOPE: Final = "whygrad_own"  # in the names of ops that only measure, and that nothing of the user's needs
OWN_TAP: Final = f"{TAP}_{OWN_SCOPE}"
_COMPILED: Final = ("_XlaMustCompile", "_XlaCompile")


def without_own_ops(function: Any) -> Any:
    """The same function, for the same arguments, without them; None where there are none, or they cannot be cut out."""
    lean = _lean(function, {})
    return None if lean is function else lean


def _lean(function: Any, known: dict[bytes, Any]) -> Any:
    """The function without ops of ours, and calling functions without them; itself where nothing is to be cut out."""
    if function.name not in known:
        known[function.name] = function  # XLA rounds what it compiles as a whole: there, and around it, nothing changes
        try:
            definition = function.definition
        except Exception:  # gone from the runtime
            return function
        if not any(name in definition.attr and definition.attr[name].b for name in _COMPILED):
            known[function.name] = _cut(function, definition, known)
    return known[function.name]


def _cut(function: Any, definition: Any, known: dict[bytes, Any]) -> Any:
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
    definition.signature.name = f"{definition.signature.name}_{OWN_SCOPE}"
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
