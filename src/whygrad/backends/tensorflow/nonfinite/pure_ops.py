"""Ops that may be run again, also for a step that somebody else kept: they have no state and leave no trace.

TensorFlow's own registry is asked. "Not stateful" is not enough there: it holds for `ReadFile`, `ImmutableConst`,
`PyFuncStateless` and `Abort` too. So an op is also left out if it takes or gives text, handles or functions, or has an
attribute of free text (a file, an address, a program) that does more than choose how it computes.
"""

from __future__ import annotations

import functools
import re
from typing import Any, Final

from whygrad.backends.tensorflow import compat

_NAME: Final = re.compile(r"[A-Z][A-Za-z0-9]{0,99}")  # names with an underscore are TensorFlow's internal ones

# Made of other tensors, in memory only; datasets and iterators have the same type and are none of these.
_COLLECTIONS: Final = re.compile(
    r"(Empty)?Tensor(List|Map)|Optional|SparseMatrix|CSRSparseMatrix|(DenseTo|SparseTensorTo)CSR|RaggedTensor(To|From)Variant"
)

_CHOICES: Final = frozenset(
    {
        "bad_indices_policy",
        "dst_format",
        "equation",
        "fill_mode",
        "interpolation",
        "kernel_type",
        "noise",
        "set_operation",
        "src_format",
    }
)

# The numbers in their inputs decide how much they make, and TensorFlow cannot tell before they have run.
_OF_UNKNOWN_SIZE: Final = re.compile(r"Ragged(Range|Cross|Count|TensorToTensor)|Sparse(Cross|FillEmptyRows$|Count)")

# Kernels that end the process where others raise an error, or that are for other machines.
_FRAGILE: Final = re.compile(r"BoostedTrees|LSTMBlock|BlockLSTM|GRUBlock|Xla|TPU|Risc")

_GRADIENT_ONLY: Final = frozenset({"Print", "RandomGamma"})  # stateful, but the way back only calculates


@functools.cache
def is_pure(op_type: str) -> bool:
    """Whether an op only makes new values of those it is given."""
    definition = compat.op_definition(op_type) if _NAME.fullmatch(op_type) else None
    if definition is None or _OF_UNKNOWN_SIZE.match(op_type) or _FRAGILE.match(op_type):
        return False
    if definition.is_stateful or definition.allows_uninitialized_input or definition.is_distributed_communication:
        return False
    arguments = (*definition.input_arg, *definition.output_arg)
    return all(_is_value(each, op_type) for each in arguments) and all(map(_is_harmless, definition.attr))


def has_pure_gradient(op_type: str) -> bool:
    """Whether the gradient function that TensorFlow has for an op only makes new values too."""
    return (is_pure(op_type) or op_type in _GRADIENT_ONLY) and compat.has_gradient(op_type)


def _is_value(argument: Any, op_type: str) -> bool:
    kind = compat.dtype_named(argument.type) if argument.type else None  # none: an attribute says the type
    if argument.is_ref or kind in compat.not_numbers:
        return False
    return kind is None or kind != compat.variant_dtype or _COLLECTIONS.match(op_type) is not None


def _is_harmless(attribute: Any) -> bool:
    if attribute.type in ("string", "list(string)"):
        return bool(attribute.allowed_values.list.s) or attribute.name in _CHOICES
    return not any(word in attribute.type for word in ("func", "tensor"))
