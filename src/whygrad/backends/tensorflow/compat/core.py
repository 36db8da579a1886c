"""Private names of TensorFlow, each a capability, and what is done with them.

Using a name that is missing raises `MissingNameError`: what needs it is switched off, the rest goes on.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow.capability import Loss, find

eager_context = find("tensorflow.python.eager.context:context", Loss.EVERYTHING)
anonymous_name = find("tensorflow.python.eager.context:anonymous_name", Loss.REPLAY)
add_op_callback = find("tensorflow.python.framework.op_callbacks:add_op_callback", Loss.EVERYTHING)
remove_op_callback = find("tensorflow.python.framework.op_callbacks:remove_op_callback", Loss.EVERYTHING)
inside_function = find("tensorflow.python.framework.ops:inside_function", Loss.TRACES)
default_graph = find("tensorflow.python.framework.ops:get_default_graph", Loss.TRACES)
recording_is_stopped = find(
    "tensorflow.python.pywrap_tfe:TFE_Py_TapeSetIsStopped",
    Loss.EVERYTHING,
    "tensorflow.python._pywrap_tfe:TFE_Py_TapeSetIsStopped",
)
unrecorded = find("tensorflow.python.eager.record:stop_recording", Loss.REPLAY)  # a block that no tape sees
_stop, _restart = (
    find(f"tensorflow.python.pywrap_tfe:{name}", Loss.REPLAY, f"tensorflow.python._pywrap_tfe:{name}")
    for name in ("TFE_Py_TapeSetStopOnThread", "TFE_Py_TapeSetRestartOnThread")
)
record = find("tensorflow.python.eager.record", Loss.CUSTOM)
could_possibly_record = find("tensorflow.python.eager.record:could_possibly_record", Loss.FOREIGN)
custom_gradient = find("tensorflow.python.ops.custom_gradient", Loss.CUSTOM)
script_ops = find("tensorflow.python.ops.script_ops", Loss.FOREIGN)
EagerFunc = find("tensorflow.python.ops.script_ops:EagerFunc", Loss.FOREIGN)
PythonOps = find("tensorflow.python.ops.script_ops:FuncRegistry", Loss.FOREIGN)
EagerTensorBase = find("tensorflow.python.framework.ops:_EagerTensorBase", Loss.LEAVING)
array_view = find("tensorflow.python.framework.ops:_EagerTensorBase._numpy", Loss.REPLAY)
BaseResourceVariable = find("tensorflow.python.ops.resource_variable_ops:BaseResourceVariable", Loss.CREATION)
source_mappers = find("tensorflow.python.util.tf_stack:_source_mapper_stacks", Loss.SOURCE)
gradient_registry = find(
    "tensorflow.python.framework.ops:_gradient_registry",
    Loss.FLOWS,
    "tensorflow.python.framework.ops:gradient_registry",
)
MockOp = find("tensorflow.python.eager.backprop:_MockOp", Loss.FLOWS)
op_definition = find("tensorflow.python.framework.op_def_registry:get", Loss.REPLAY)
quick_execute = find("tensorflow.python.eager.execute:quick_execute", Loss.REPLAY)
assign_variable_op = find("tensorflow.python.ops.gen_resource_variable_ops:assign_variable_op", Loss.COMPILED)
get_handle_data = find("tensorflow.python.ops.handle_data_util:get_handle_data", Loss.REPLAY)
HandleData = find(
    "tensorflow.core.framework.cpp_shape_inference_pb2:CppShapeInferenceResult.HandleData",
    Loss.COMPILED,
    "tensorflow.python.framework.cpp_shape_inference_pb2:CppShapeInferenceResult.HandleData",
)
gradient_function = find("tensorflow.python.eager.backprop:_gradient_function", Loss.BACKWARD)
register_gradient_function = find(
    "tensorflow.python.pywrap_tfe:TFE_Py_RegisterGradientFunction",
    Loss.BACKWARD,
    "tensorflow.python._pywrap_tfe:TFE_Py_RegisterGradientFunction",
)
TensorProto = find("tensorflow.core.framework.tensor_pb2:TensorProto", Loss.REPLAY)
op_def_library = find("tensorflow.python.framework.op_def_library", Loss.REPLAY)
gradients_util = find("tensorflow.python.ops.gradients_util", Loss.BACKWARD)
AtomicFunction = find("tensorflow.python.eager.polymorphic_function.atomic_function:AtomicFunction", Loss.COMPILED)
Optional = find("tensorflow.python.data.ops.optional_ops:_OptionalImpl", Loss.COMPILED)

imperative_grad = find("tensorflow.python.eager.imperative_grad:imperative_grad", Loss.TERMS)

GradientTape, DType, version = tf.GradientTape, tf.DType, tf.__version__
ReplicaContext = tf.distribute.ReplicaContext
resource_dtype, variant_dtype, float32 = tf.resource, tf.variant, tf.float32
not_numbers = (tf.resource, tf.string)
int64 = tf.int64
float32_number, float16_number = tf.float32.as_datatype_enum, tf.float16.as_datatype_enum
flatten: Callable[[Any], list[Any]] = tf.nest.flatten
constant_value: Callable[[Any], Any] = tf.get_static_value
dtype_named: Callable[[str | int], Any] = tf.as_dtype
runs_eagerly: Callable[[], bool] = tf.executing_eagerly  # whether ops run at once in this thread
eager_scope: Callable[[], AbstractContextManager[Any]] = tf.init_scope  # out of the function that is being traced


@contextmanager
def recorded() -> Iterator[None]:
    """A block inside `unrecorded` in which tapes record again."""
    if not recording_is_stopped():
        yield
        return
    _restart()
    try:
        yield
    finally:
        _stop()


def current_graph() -> Any:
    """The function graph that is being traced, or None when ops run at once."""
    tracing = tf.compat.v1.executing_eagerly_outside_functions() and inside_function and inside_function()
    return default_graph() if tracing else None


def run_op(op_type: str, outputs: int, inputs: list[Any], attrs: Any) -> list[Any]:
    """Run one op now, seen by no tape and by no listener."""
    results = quick_execute(op_type, outputs, inputs, attrs, eager_context())
    return list(results) if isinstance(results, (list, tuple)) else []


def int32_tensor(number: int) -> Any:
    return tf.convert_to_tensor(number, dtype="int32")


def constant_like(array: Any) -> Any:
    return tf.constant(array)


def ones_like(tensor: Any) -> Any:
    return run_op("OnesLike", 1, [tensor], ("T", tensor.dtype))[0]


def zeros_like(tensor: Any) -> Any:
    return run_op("ZerosLike", 1, [tensor], ("T", tensor.dtype))[0]


def sum_of(tensors: list[Any]) -> Any:
    """Of gradients; slices are made dense."""
    dense = [tf.convert_to_tensor(tensor) for tensor in tensors]
    return run_op("AddN", 1, dense, ("N", len(dense), "T", dense[0].dtype))[0]


def gradients_on(recorded: Any, targets: list[Any], sources: list[Any], given: list[Any] | None = None) -> list[Any]:
    """What a tape that may be asked again answers, without the tape's own checks; see `recorded_by`."""
    handles = [getattr(source, "handle", None) if hasattr(source, "assign") else source for source in sources]
    return list(imperative_grad(recorded, targets, handles, output_gradients=given, sources_raw=sources))


@dataclass(frozen=True, slots=True)
class Tracing:
    """What becomes of the function that is being traced."""

    compiled: bool = False  # by XLA
    foreign: bool = False  # it is rewritten, run elsewhere or saved: nothing may be added to it


# Folders of TensorFlow that trace functions for other ends than running them as they are.
_FOREIGN_TRACERS = (
    "/tensorflow/python/ops/parallel_for/",
    "/tensorflow/python/saved_model/",
    "/tensorflow/python/ops/custom_gradient.py",
    "/tensorflow/lite/",
)
_DATA = "/tensorflow/python/data/"
_LOOPS = "/tensorflow/python/data/ops/dataset_autograph.py"  # `for x in dataset`, in a function


def tracing(frame: FrameType | None) -> Tracing:
    """Who traces, by the frames of the stack. A loop over a data set in a function is run as it is, by the data set."""
    compiled = foreign = exported = False
    while frame is not None:
        path = frame.f_code.co_filename.replace("\\", "/")
        if "/tensorflow/python/eager/" in path:
            exported = exported or frame.f_code.co_name == "get_concrete_function"  # to be converted or exported
            compiled = compiled or getattr(frame.f_locals.get("self"), "_jit_compile", None) is True
        exported = (exported or _DATA in path) and _LOOPS not in path
        foreign = foreign or any(part in path for part in _FOREIGN_TRACERS)
        frame = frame.f_back
    return Tracing(compiled, foreign or exported)


def replicas() -> int:
    """How many copies of the model are trained at once."""
    return int(tf.distribute.get_strategy().num_replicas_in_sync)


def is_tensor(thing: Any) -> bool:
    """Whether it is a dense tensor, of a graph or with a value."""
    return isinstance(thing, tf.Tensor)


def count_operations(graph: Any) -> int:
    """How many ops a graph has."""
    count = getattr(graph, "num_operations", None)
    return int(count()) if count is not None else len(graph.get_operations())


def constant_of(operation: Any) -> Any:
    """The tensor of a traced constant."""
    return tf.convert_to_tensor(tf.make_ndarray(operation.get_attr("value")), operation.outputs[0].dtype)


def as_results_of(operation: Any, values: Iterable[Any]) -> list[Any]:
    """Values, as a traced op gives them."""
    return [tf.convert_to_tensor(each, like.dtype) for each, like in zip(values, operation.outputs, strict=False)]


def read_handle(handle: Any) -> Any:
    """The value of the variable behind a handle."""
    kind, _ = _kind_of_handle(handle)
    return run_op("ReadVariableOp", 1, [handle], ("dtype", kind))[0]


def copy_of_variable(handle: Any, value: Any = None) -> Any:
    """The handle of a new variable with the same value, or with the given one; it goes when the handle does."""
    kind, shape = _kind_of_handle(handle)
    tensor = read_handle(handle) if value is None else value
    names = ("container", "", "shared_name", anonymous_name())
    copy = run_op("VarHandleOp", 1, [], (*names, "dtype", kind, "shape", shape, "allowed_devices", []))[0]
    copy._handle_data = handle._handle_data
    run_op("AssignVariableOp", 0, [copy, tensor], ("dtype", kind, "validate_shape", False))
    return copy


TAP = "whygrad_tap"


def tap(graph: Any, tensor: Any, name: str = TAP) -> Any:
    """Let a traced function leave a tensor in a new variable whenever it runs; the variable's handle."""
    kind = tensor.dtype.as_datatype_enum
    names = ("container", "", "shared_name", anonymous_name())
    handle = run_op("VarHandleOp", 1, [], (*names, "dtype", kind, "shape", None, "allowed_devices", []))[0]
    handle._handle_data = _handle_data(kind)
    with graph.as_default():
        assign_variable_op(handle, tensor, name=name)
    return handle


def _handle_data(kind: int) -> Any:
    """The description of a variable of unknown shape."""
    data = HandleData(is_set=True)
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
    kind, shape = _kind_of_handle(handle)
    count = 1
    for side in shape or ():
        count *= max(int(side), 0)
    return count * int(tf.as_dtype(kind).size or 0)


@functools.cache
def stand_in() -> Any:
    """A tensor in the place of one that must not be kept."""
    with tf.init_scope():
        return tf.constant(0)


def call_function(function: Any, arguments: list[Any]) -> list[Any]:
    """Call a traced function as it was compiled, unseen."""
    options = eager_context().function_call_options.as_attrs()
    attrs = tuple(item for pair in options.items() for item in pair)
    return run_op(function.name.decode(), len(function.function_type.flat_outputs), arguments, attrs)


def _described(handle: Any) -> Any:
    """What kind of variable a handle stands for, also one that is traced."""
    if hasattr(handle, "_handle_data"):
        return handle._handle_data
    return get_handle_data(handle)


def _kind_of_handle(handle: Any) -> tuple[Any, Any]:
    described = _described(handle).shape_and_type[0]
    return described.dtype, None if described.shape.unknown_rank else [side.size for side in described.shape.dim]


def has_gradient(op_type: str) -> bool:
    """Whether TensorFlow has a gradient function for an op."""
    try:
        return gradient_registry.lookup(op_type) is not None
    except LookupError:
        return False


def is_blank(array: Any) -> bool:
    """Whether an array of floating numbers has elements, and all of them are zero; None is no array."""
    return array is not None and array.dtype.kind == "f" and array.size > 0 and not array.any()


def bytes_of_tensor(tensor: Any) -> bytes:
    """A tensor of any dtype as TensorFlow writes it to files."""
    content: bytes = run_op("SerializeTensor", 1, [tensor], ("T", tensor.dtype.as_datatype_enum))[0].numpy()
    return content


def tensor_from_bytes(content: bytes, dtype: str) -> Any:
    """What `bytes_of_tensor` wrote; a ValueError where it is something else, or claims to be larger than it is."""
    kind = dtype_named(dtype)
    try:
        described = TensorProto.FromString(content)
    except Exception as error:  # protobuf's own class
        raise ValueError(f"a value cannot be read: {error}") from None
    sides = [side.size for side in described.tensor_shape.dim]
    is_list = kind in (resource_dtype, variant_dtype)
    if is_list or described.dtype != kind.as_datatype_enum or any(side < 0 for side in sides):
        raise ValueError(f"a value is not of the type {kind.name}")
    if math.prod(sides) * (1 if kind in not_numbers else kind.size) > len(content):
        raise ValueError("a value is smaller than its shape")
    return run_op("ParseTensor", 1, [tf.convert_to_tensor(content)], ("out_type", kind.as_datatype_enum))[0]


@functools.cache
def is_stateful(op_type: str) -> bool:
    """Whether an op's results depend on more than its inputs; also true of names that are no op of TensorFlow's own."""
    definition = op_definition(op_type) if op_definition else None
    return definition is None or bool(definition.is_stateful)


@functools.cache
def meets_others(op_type: str) -> bool:
    """Whether an op waits for its like on other devices or machines: run alone, it would wait for ever."""
    definition = op_definition(op_type) if op_definition else None
    if definition is None or not definition.is_stateful or any(each.type == "func" for each in definition.attr):
        return False  # TensorFlow marks `Einsum` and calls of functions as well
    return bool(definition.is_distributed_communication or op_type.startswith("Nccl"))


def source_maps() -> Iterator[dict[tuple[str, int], tuple[str, int, str]]]:
    """AutoGraph's maps of generated lines to the user's own, while converted functions run: this thread's first.

    The replicas of a strategy have threads of their own, and run what was converted in the one that waits for them.
    """
    stacks, here = dict(source_mappers or {}), threading.get_ident()
    for thread in sorted(stacks, key=lambda each: each != here):
        yield stacks[thread][-1].get_effective_source_map()


def in_replica() -> bool:
    """Whether this thread is one of several replicas of a distribution strategy."""
    return not tf.distribute.in_cross_replica_context() and replicas() > 1


def container_of(variable: Any) -> Any:
    """The variable that a copy on one device belongs to; None for any other."""
    around = getattr(variable, "_distributed_container", None)
    return around() if callable(around) else None


def stop_listening(callback: Callable[..., Any]) -> None:
    """Take a listener to ops out of this thread, if it is in it."""
    if eager_context and callback in listeners():
        remove_op_callback(callback)


def listeners() -> list[Callable[..., Any]]:
    """Those who hear of the ops of this thread: TensorFlow's own list."""
    heard: list[Callable[..., Any]] = eager_context().op_callbacks
    return heard


def others_listen() -> bool:
    """Whether somebody else listens to ops in this thread too."""
    return len(listeners()) > 1
