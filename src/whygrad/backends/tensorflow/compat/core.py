"""Every private or version-dependent TensorFlow and Keras name, behind a capability check.

A name that is missing is None, and what needs it goes without.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType, ModuleType
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
distribute = _module("tensorflow.python.distribute.distribute_lib")
script_ops = _module("tensorflow.python.ops.script_ops")
tf_stack = _module("tensorflow.python.util.tf_stack")
pywrap_tfe = _module("tensorflow.python.pywrap_tfe") or _module("tensorflow.python._pywrap_tfe")
nest = _module("tensorflow.python.util.nest")
execute = _module("tensorflow.python.eager.execute")
gradients_util = _module("tensorflow.python.ops.gradients_util")
tensor_module = _module("tensorflow.python.framework.tensor")
atomic_function = _module("tensorflow.python.eager.polymorphic_function.atomic_function")
optional_ops = _module("tensorflow.python.data.ops.optional_ops")
handle_data_util = _module("tensorflow.python.ops.handle_data_util")
op_def_registry = _module("tensorflow.python.framework.op_def_registry")

tensor_class: Any = _attribute(tensor_module, "Tensor") or _attribute(ops, "Tensor")
add_op_callback: Callable[..., None] | None = _attribute(op_callbacks, "add_op_callback")
remove_op_callback: Callable[..., None] | None = _attribute(op_callbacks, "remove_op_callback")
GradientTape: Any = _attribute(backprop, "GradientTape")
gradient_function: Callable[..., Any] | None = _attribute(backprop, "_gradient_function")
MockOp: Any = _attribute(backprop, "_MockOp")
EagerTensorBase: Any = _attribute(ops, "_EagerTensorBase")
gradient_registry: Any = _attribute(ops, "_gradient_registry") or _attribute(ops, "gradient_registry")
BaseResourceVariable: Any = _attribute(resource_variable_ops, "BaseResourceVariable")
EagerFunc: Any = _attribute(script_ops, "EagerFunc")
AtomicFunction: Any = _attribute(atomic_function, "AtomicFunction")
Optional: Any = _attribute(optional_ops, "_OptionalImpl")
constant_value: Callable[..., Any] | None = _attribute(tensor_util, "constant_value")
recording_is_stopped: Callable[[], bool] = _attribute(pywrap_tfe, "TFE_Py_TapeSetIsStopped") or (lambda: False)
register_gradient_function: Callable[..., None] | None = _attribute(pywrap_tfe, "TFE_Py_RegisterGradientFunction")
resource_dtype: Any = _attribute(dtypes, "resource")
variant_dtype: Any = _attribute(dtypes, "variant")
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


def eager_scope() -> contextlib.AbstractContextManager[Any]:
    """Out of the function that is being traced, for as long as the block runs."""
    scope = _attribute(ops, "init_scope")
    return contextlib.nullcontext() if scope is None else scope()


@dataclass(frozen=True, slots=True)
class Tracing:
    """What becomes of the function that is being traced."""

    compiled: bool = False  # by XLA
    foreign: bool = False  # it is rewritten, run elsewhere or saved: nothing may be added to it


# Folders of TensorFlow that trace functions for other ends than running them as they are.
_FOREIGN_TRACERS = (
    "/tensorflow/python/ops/parallel_for/",
    "/tensorflow/python/data/",
    "/tensorflow/python/saved_model/",
    "/tensorflow/python/ops/custom_gradient.py",
    "/tensorflow/lite/",
)


def tracing(frame: FrameType | None) -> Tracing:
    """Who traces, by the frames of the stack."""
    compiled = foreign = False
    while frame is not None:
        path = frame.f_code.co_filename.replace("\\", "/")
        if "/tensorflow/python/eager/" in path:
            foreign = foreign or frame.f_code.co_name == "get_concrete_function"  # to be converted or exported
            compiled = compiled or getattr(frame.f_locals.get("self"), "_jit_compile", None) is True
        foreign = foreign or any(part in path for part in _FOREIGN_TRACERS)
        frame = frame.f_back
    return Tracing(compiled, foreign)


def replicas() -> int:
    """How many copies of the model are trained at once."""
    strategy = _attribute(distribute, "get_strategy")
    return 1 if strategy is None else int(strategy().num_replicas_in_sync)


def is_tensor(thing: Any) -> bool:
    """Whether it is a dense tensor, of a graph or with a value."""
    return tensor_class is not None and isinstance(thing, tensor_class)


def count_operations(graph: Any) -> int:
    """How many ops a graph has."""
    count = getattr(graph, "num_operations", None)
    return int(count()) if count is not None else len(graph.get_operations())


def constant_of(operation: Any) -> Any:
    """The tensor of a traced constant."""
    assert tensor_util is not None
    assert ops is not None
    return ops.convert_to_tensor(tensor_util.MakeNdarray(operation.get_attr("value")), operation.outputs[0].dtype)


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


TAP = "whygrad_tap"


def tap(graph: Any, tensor: Any) -> Any:
    """Let a traced function leave a tensor in a new variable whenever it runs; the variable's handle."""
    assert context is not None
    assert resource_variable_ops is not None
    kind = tensor.dtype.as_datatype_enum
    names = ("container", "", "shared_name", context.anonymous_name())
    handle = run_op("VarHandleOp", 1, [], (*names, "dtype", kind, "shape", None, "allowed_devices", []))[0]
    handle._handle_data = _handle_data(kind)
    with graph.as_default():
        resource_variable_ops.gen_resource_variable_ops.assign_variable_op(handle, tensor, name=TAP)
    return handle


def _handle_data(kind: int) -> Any:
    """The description of a variable of unknown shape."""
    module = _module("tensorflow.core.framework.cpp_shape_inference_pb2") or _module(
        "tensorflow.python.framework.cpp_shape_inference_pb2"
    )
    assert module is not None
    data = module.CppShapeInferenceResult.HandleData(is_set=True)
    described = data.shape_and_type.add(dtype=kind)
    described.shape.unknown_rank = True
    return data


def is_variable_handle(tensor: Any) -> bool:
    """Whether a tensor is the handle of a variable that has been made."""
    described = _described(tensor) if tensor.dtype is resource_dtype else None
    return described is not None and described.is_set and len(described.shape_and_type) == 1


def dtype_of_handle(handle: Any) -> int:
    """The number TensorFlow has for the dtype of the variable behind a handle."""
    return int(_kind_of_handle(handle)[0])


def bytes_of_handle(handle: Any) -> int:
    """How large the variable behind a handle is."""
    assert dtypes is not None
    kind, shape = _kind_of_handle(handle)
    count = 1
    for side in shape or ():
        count *= max(int(side), 0)
    return count * int(dtypes.as_dtype(kind).size or 0)


def runs_eagerly() -> bool:
    """Whether ops run at once in this thread."""
    return context is not None and bool(context.context().executing_eagerly())


def call_function(function: Any, arguments: list[Any]) -> list[Any]:
    """Call a traced function as it was compiled, unseen."""
    assert context is not None
    options = context.context().function_call_options.as_attrs()
    attrs = tuple(item for pair in options.items() for item in pair)
    return run_op(function.name.decode(), len(function.function_type.flat_outputs), arguments, attrs)


def _described(handle: Any) -> Any:
    """What kind of variable a handle stands for, also one that is traced."""
    if hasattr(handle, "_handle_data"):
        return handle._handle_data
    look = _attribute(handle_data_util, "get_handle_data")
    return None if look is None else look(handle)


def _kind_of_handle(handle: Any) -> tuple[Any, Any]:
    described = _described(handle).shape_and_type[0]
    return described.dtype, None if described.shape.unknown_rank else [side.size for side in described.shape.dim]


def has_gradient(op_type: str) -> bool:
    """Whether TensorFlow has a gradient function for an op."""
    try:
        return gradient_registry.lookup(op_type) is not None
    except LookupError:
        return False


def is_dtype(value: Any) -> bool:
    return dtypes is not None and isinstance(value, dtypes.DType)


def dtype_named(name: str) -> Any:
    assert dtypes is not None
    return dtypes.as_dtype(name)


def version() -> str:
    return str(getattr(sys.modules.get("tensorflow"), "__version__", ""))


def bytes_of_tensor(tensor: Any) -> bytes:
    """A tensor of any dtype as TensorFlow writes it to files."""
    content: bytes = run_op("SerializeTensor", 1, [tensor], ("T", tensor.dtype.as_datatype_enum))[0].numpy()
    return content


def tensor_from_bytes(content: bytes, dtype: str) -> Any:
    assert ops is not None
    kind = dtype_named(dtype).as_datatype_enum
    return run_op("ParseTensor", 1, [ops.convert_to_tensor(content)], ("out_type", kind))[0]


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


def in_replica() -> bool:
    """Whether this thread is one of several replicas of a distribution strategy."""
    return bool(
        distribute is not None
        and distribute.has_strategy()
        and distribute.get_replica_context() is not None
        and distribute.get_strategy().num_replicas_in_sync > 1
    )


def stop_listening(callback: Callable[..., Any]) -> None:
    """Take a listener to ops out of this thread, if it is in it."""
    if remove_op_callback is not None and context is not None and callback in context.context().op_callbacks:
        remove_op_callback(callback)


def others_listen() -> bool:
    """Whether somebody else listens to ops in this thread too."""
    return context is not None and len(context.context().op_callbacks) > 1
