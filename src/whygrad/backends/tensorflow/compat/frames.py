"""Functions and folders of TensorFlow and Keras that show on the Python stack.

Each function is looked up when whygrad starts: where a release has renamed one, nothing is read from the stack by its
old name, and what is lost is said.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any, Final

from whygrad.backends.tensorflow.capability import Loss, find
from whygrad.backends.tensorflow.compat.core import flatten
from whygrad.backends.tensorflow.compat.objects import id_of


def _names(loss: Loss, *paths: str) -> frozenset[str]:
    """The last names of those functions that are where we know them."""
    return frozenset(path.rpartition(".")[2].rpartition(":")[2] for path in paths if find(path, loss))


_FUNCTION = "tensorflow.python.eager.polymorphic_function"
_CALLING = _names(Loss.TRACES, f"{_FUNCTION}.atomic_function:AtomicFunction.call_flat")
_TRACING = _names(
    Loss.BAKED,
    "tensorflow.python.framework.func_graph:func_graph_from_py_func",
    f"{_FUNCTION}.tracing_compilation:trace_function",
)
_DEFINING = _names(Loss.TRACES, f"{_FUNCTION}.tracing_compilation:_create_concrete_function")
_TELLING = _names(Loss.READS, "tensorflow.python.framework.op_callbacks:invoke_op_callbacks")
_EXECUTING = _names(Loss.READS, "tensorflow.python.eager.execute:execute_with_callbacks")
_MAKING = _names(Loss.WRITERS, "tensorflow.python.ops.resource_variable_ops:ResourceVariable._init_from_args")

_FORWARD_MODE = _names(Loss.TRACES, "tensorflow.python.eager.forwardprop:_jvp_helper")

AUTOGRAPH: Final = "/tensorflow/python/autograph/"
GENERATED: Final = "__autograph_generated_file"  # in the name of a file that AutoGraph made
# Parts of Keras that write to variables on their own account.
DEPUTIES: Final = ("/layers/", "/trainers/", "/optimizers/", "/initializers/", "/metrics/", "/models/", "/callbacks/")


def calls_function(code: CodeType) -> bool:
    """Whether this is the call of a traced function, which `self` is."""
    return code.co_name in _CALLING


def traces_function(code: CodeType) -> bool:
    """Whether this stands between the caller of a function and the Python of it that is traced."""
    return code.co_name in _TRACING


def traced_arguments(graph: Any) -> list[tuple[Any, Any]]:
    """(given, placeholder) of the tensors that a function is being traced for."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _DEFINING and frame.f_locals.get("func_graph") is graph and frame.f_back is not None:
            given, inside = frame.f_back.f_locals, frame.f_locals.get("placeholder_bound_args")
            outer = flatten((given.get("args"), given.get("kwargs")))
            inner = [] if inside is None else flatten((inside.args, inside.kwargs))
            pairs = zip(outer, inner, strict=True) if len(outer) == len(inner) else ()
            return [pair for pair in pairs if id_of(pair[0]) is not None and getattr(pair[1], "graph", None) is graph]
        frame = frame.f_back
    return []


def tells_listeners(code: CodeType) -> bool:
    """Whether this calls those who listen to ops."""
    return code.co_name in _TELLING


def executes_op(code: CodeType) -> bool:
    """Whether this runs an op of any kind, and holds no variable of it."""
    return code.co_name in _EXECUTING


def asks_for_itself(code: CodeType) -> bool:
    """Whether this takes gradients on its own account: forward mode is made of tapes."""
    return code.co_name in _FORWARD_MODE


def makes_variable(code: CodeType) -> bool:
    """Whether a variable is being made here, and given its first value."""
    if code.co_name in _MAKING:
        return True
    return code.co_name == "__call__" and code.co_filename.endswith("variables.py") and "tensorflow" in code.co_filename
