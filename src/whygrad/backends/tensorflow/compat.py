"""Every private or version-dependent TensorFlow and Keras name, behind a capability check.

A name that is missing is None, and `missing_capabilities` says which feature goes without.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _attribute(module: ModuleType | None, name: str) -> Any:
    return None if module is None else getattr(module, name, None)


context = _module("tensorflow.python.eager.context")
op_callbacks = _module("tensorflow.python.framework.op_callbacks")
backprop = _module("tensorflow.python.eager.backprop")
record = _module("tensorflow.python.eager.record")
ops = _module("tensorflow.python.framework.ops")
dtypes = _module("tensorflow.python.framework.dtypes")
tensor_util = _module("tensorflow.python.framework.tensor_util")
custom_gradient = _module("tensorflow.python.ops.custom_gradient")
resource_variable_ops = _module("tensorflow.python.ops.resource_variable_ops")
script_ops = _module("tensorflow.python.ops.script_ops")
tf_stack = _module("tensorflow.python.util.tf_stack")
func_graph_module = _module("tensorflow.python.framework.func_graph")
pywrap_tfe = _module("tensorflow.python.pywrap_tfe") or _module("tensorflow.python._pywrap_tfe")
nest = _module("tensorflow.python.util.nest")

add_op_callback: Callable[..., None] | None = _attribute(op_callbacks, "add_op_callback")
remove_op_callback: Callable[..., None] | None = _attribute(op_callbacks, "remove_op_callback")
GradientTape: Any = _attribute(backprop, "GradientTape")
MockOp: Any = _attribute(backprop, "_MockOp")
EagerTensorBase: Any = _attribute(ops, "_EagerTensorBase")
EagerTensor: Any = _attribute(ops, "EagerTensor")
gradient_registry: Any = _attribute(ops, "_gradient_registry") or _attribute(ops, "gradient_registry")
BaseResourceVariable: Any = _attribute(resource_variable_ops, "BaseResourceVariable")
EagerFunc: Any = _attribute(script_ops, "EagerFunc")
FuncGraph: Any = _attribute(func_graph_module, "FuncGraph")
constant_value: Callable[..., Any] | None = _attribute(tensor_util, "constant_value")
recording_is_stopped: Callable[[], bool] = _attribute(pywrap_tfe, "TFE_Py_TapeSetIsStopped") or (lambda: False)
resource_dtype: Any = _attribute(dtypes, "resource")
flatten: Callable[[Any], list[Any]] | None = _attribute(nest, "flatten")


def source_map() -> dict[tuple[str, int], tuple[str, int, str]]:
    """AutoGraph's map of generated lines to the user's own, while a converted function runs in this thread."""
    stacks = _attribute(tf_stack, "_source_mapper_stacks")
    if stacks is None:
        return {}
    import threading

    stack = stacks.get(threading.get_ident())
    if not stack:
        return {}
    mapping: dict[tuple[str, int], tuple[str, int, str]] = stack[-1].get_effective_source_map()
    return mapping


def others_listen() -> bool:
    """Whether somebody else listens to ops in this thread too."""
    return context is not None and len(context.context().op_callbacks) > 1


def missing_capabilities() -> tuple[str, ...]:
    """What cannot be watched with the TensorFlow that is installed."""
    needs = {
        "ops": add_op_callback and remove_op_callback,
        "gradient requests": GradientTape,
        "values that leave TensorFlow": EagerTensorBase,
        "which ops have a gradient": gradient_registry,
        "creation of variables": BaseResourceVariable,
        "custom gradients": _attribute(custom_gradient, "_eager_mode_decorator"),
    }
    return tuple(feature for feature, present in needs.items() if not present)
