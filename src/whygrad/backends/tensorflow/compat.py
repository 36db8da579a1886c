"""Every private or version-dependent TensorFlow and Keras name, behind a capability check.

A name that is missing is None, and `missing_capabilities` says which feature goes without.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator
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
execute = _module("tensorflow.python.eager.execute")
gradients_util = _module("tensorflow.python.ops.gradients_util")
op_def_registry = _module("tensorflow.python.framework.op_def_registry")

add_op_callback: Callable[..., None] | None = _attribute(op_callbacks, "add_op_callback")
remove_op_callback: Callable[..., None] | None = _attribute(op_callbacks, "remove_op_callback")
GradientTape: Any = _attribute(backprop, "GradientTape")
gradient_function: Callable[..., Any] | None = _attribute(backprop, "_gradient_function")
MockOp: Any = _attribute(backprop, "_MockOp")
EagerTensorBase: Any = _attribute(ops, "_EagerTensorBase")
EagerTensor: Any = _attribute(ops, "EagerTensor")
gradient_registry: Any = _attribute(ops, "_gradient_registry") or _attribute(ops, "gradient_registry")
BaseResourceVariable: Any = _attribute(resource_variable_ops, "BaseResourceVariable")
EagerFunc: Any = _attribute(script_ops, "EagerFunc")
FuncGraph: Any = _attribute(func_graph_module, "FuncGraph")
constant_value: Callable[..., Any] | None = _attribute(tensor_util, "constant_value")
recording_is_stopped: Callable[[], bool] = _attribute(pywrap_tfe, "TFE_Py_TapeSetIsStopped") or (lambda: False)
register_gradient_function: Callable[..., None] | None = _attribute(pywrap_tfe, "TFE_Py_RegisterGradientFunction")
resource_dtype: Any = _attribute(dtypes, "resource")
float32: Any = _attribute(dtypes, "float32")
float32_number: int = getattr(float32, "as_datatype_enum", 1)
float16_number: int = getattr(_attribute(dtypes, "float16"), "as_datatype_enum", 19)
flatten: Callable[[Any], list[Any]] | None = _attribute(nest, "flatten")
array_view: Callable[[Any], Any] | None = _attribute(EagerTensorBase, "_numpy") if EagerTensorBase else None


def run_op(op_type: str, outputs: int, inputs: list[Any], attrs: Any) -> list[Any]:
    """Run one op now, seen by no tape and by no listener."""
    assert execute is not None
    assert context is not None
    results = execute.quick_execute(op_type, outputs, inputs, attrs, context.context())
    return list(results) if isinstance(results, (list, tuple)) else []


def ones_like(tensor: Any) -> Any:
    return run_op("OnesLike", 1, [tensor], ("T", tensor.dtype))[0]


def zeros_like(tensor: Any) -> Any:
    return run_op("ZerosLike", 1, [tensor], ("T", tensor.dtype))[0]


def sum_of(tensors: list[Any]) -> Any:
    """Of gradients; slices are made dense."""
    assert ops is not None
    dense = [ops.convert_to_tensor(tensor) for tensor in tensors]
    return run_op("AddN", 1, dense, ("N", len(dense), "T", dense[0].dtype))[0]


@contextlib.contextmanager
def unrecorded() -> Iterator[None]:
    """What runs meanwhile is on no tape."""
    stop = _attribute(record, "stop_recording")
    if stop is None:
        yield
        return
    with stop():
        yield


def count_operations(graph: Any) -> int:
    """How many ops a graph has."""
    count = getattr(graph, "num_operations", None)
    return int(count()) if count is not None else len(graph.get_operations())


def constant_of(operation: Any) -> Any:
    """The tensor of a traced constant."""
    assert tensor_util is not None
    assert ops is not None
    return ops.convert_to_tensor(tensor_util.MakeNdarray(operation.get_attr("value")), operation.outputs[0].dtype)


def attributes_of(operation: Any) -> tuple[Any, ...]:
    """The attributes of a traced op in the form eager execution takes them."""
    found: list[Any] = []
    for attribute in operation.op_def.attr:
        found += [attribute.name, operation.get_attr(attribute.name)]
    return tuple(found)


def read_handle(handle: Any) -> Any:
    """The value of the variable behind a handle."""
    assert resource_variable_ops is not None
    kind, _ = _kind_of_handle(handle)
    return run_op("ReadVariableOp", 1, [handle], ("dtype", kind))[0]


def copy_of_variable(handle: Any, value: Any = None) -> Any:
    """The handle of a new variable with the same value, or with the given one; it goes when the handle does."""
    assert context is not None
    kind, shape = _kind_of_handle(handle)
    tensor = read_handle(handle) if value is None else value
    names = ("container", "", "shared_name", context.anonymous_name())
    copy = run_op("VarHandleOp", 1, [], (*names, "dtype", kind, "shape", shape, "allowed_devices", []))[0]
    copy._handle_data = handle._handle_data
    run_op("AssignVariableOp", 0, [copy, tensor], ("dtype", kind, "validate_shape", False))
    return copy


def _kind_of_handle(handle: Any) -> tuple[Any, Any]:
    described = handle._handle_data.shape_and_type[0]
    return described.dtype, None if described.shape.unknown_rank else [side.size for side in described.shape.dim]


@functools.cache
def is_stateful(op_type: str) -> bool:
    """Whether an op's results depend on more than its inputs; also true of names that are no op of TensorFlow's own."""
    definition = op_def_registry.get(op_type) if op_def_registry is not None else None
    return definition is None or bool(definition.is_stateful)


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


# --- monitor ---

_gen_xla_ops = _module("tensorflow.compiler.tf2xla.ops.gen_xla_ops")
_xla_optimization_barrier: Callable[[list[Any]], list[Any]] | None = _attribute(
    _gen_xla_ops, "xla_optimization_barrier"
)


def xla_barrier(tensor: Any) -> Any:
    """The tensor, computed on its own under XLA and not fused with what uses it; only for graphs that XLA compiles."""
    return tensor if _xla_optimization_barrier is None else _xla_optimization_barrier([tensor])[0]


# What Keras optimizers call between being given gradients and using them.
CLIPPING_METHODS = ("_clip_gradients",)


def variable_inside(variable: Any) -> Any:
    """The TensorFlow variable that a Keras 3 variable holds; any other is returned as it is."""
    inner = getattr(variable, "_value", None)
    return inner if inner is not None and hasattr(inner, "assign_sub") else variable


def optimizer_inside(optimizer: Any) -> Any:
    """The optimizer that a loss-scaling optimizer holds; any other is returned as it is."""
    return getattr(optimizer, "inner_optimizer", None) or optimizer


def sets_rate_when_applied(optimizer: Any) -> bool:
    """Whether the learning rate of a step is known only after the optimizer was given its gradients: tf_keras."""
    return hasattr(optimizer_inside(optimizer), "_current_learning_rate")


def optimizer_bases() -> tuple[tuple[Any, str], ...]:
    """(class, method) for each family of optimizers that is loaded; the method is what is given the gradients."""
    import sys

    found = []
    for name in ("keras", "tf_keras"):
        optimizers = _attribute(sys.modules.get(name), "optimizers")
        base = _attribute(optimizers, "Optimizer")
        legacy = _attribute(_attribute(optimizers, "legacy"), "Optimizer")
        if base is not None:
            found.append((base, "apply" if hasattr(base, "apply") else "apply_gradients"))
        if legacy is not None and hasattr(legacy, "apply_gradients"):
            found.append((legacy, "apply_gradients"))
    return tuple(found)


def layers_inside(model: Any) -> list[Any]:
    """Every layer of a Keras model, also those inside others."""
    flatten = getattr(model, "_flatten_layers", None)
    return [] if flatten is None else list(flatten())


def steps_per_execution(model: Any) -> int:
    """How many batches one call of a model's training function takes."""
    steps: Any = getattr(model, "steps_per_execution", None) or getattr(model, "_steps_per_execution", None)
    return int(steps.numpy()) if hasattr(steps, "numpy") else int(steps or 1)
