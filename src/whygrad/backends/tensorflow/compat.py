"""Every private or version-dependent TensorFlow and Keras name, behind a capability check.

A name that is missing is None, and `missing_capabilities` says which feature goes without.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
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
func_graph_module = _module("tensorflow.python.framework.func_graph")
pywrap_tfe = _module("tensorflow.python.pywrap_tfe") or _module("tensorflow.python._pywrap_tfe")
nest = _module("tensorflow.python.util.nest")
execute = _module("tensorflow.python.eager.execute")
gradients_util = _module("tensorflow.python.ops.gradients_util")
distribute = _module("tensorflow.python.distribute.distribute_lib")
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
EagerTensor: Any = _attribute(ops, "EagerTensor")
gradient_registry: Any = _attribute(ops, "_gradient_registry") or _attribute(ops, "gradient_registry")
BaseResourceVariable: Any = _attribute(resource_variable_ops, "BaseResourceVariable")
EagerFunc: Any = _attribute(script_ops, "EagerFunc")
AtomicFunction: Any = _attribute(atomic_function, "AtomicFunction")
Optional: Any = _attribute(optional_ops, "_OptionalImpl")
FuncGraph: Any = _attribute(func_graph_module, "FuncGraph")
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


def given_attributes(attrs: Any) -> tuple[Any, ...]:
    """A listener is told of an attribute nobody gave as None, which running the op again does not take."""
    flat = tuple(attrs or ())
    return tuple(item for pair in zip(flat[::2], flat[1::2], strict=True) if pair[1] is not None for item in pair)


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


# --- guard ---


_READS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp", "Identity")


def writes_resources(operation: Any) -> bool:
    """Whether a traced op may change one of the variables it is given; functions that it calls included."""
    if operation.type in _READS or not is_stateful(operation.type) or TAP in operation.name:
        return False
    return any(is_variable_handle(tensor) for tensor in operation.inputs if tensor.dtype == resource_dtype)


def draws_numbers(operation: Any) -> bool:
    """Whether a traced op takes random numbers from TensorFlow's own generator, whose state cannot be had."""
    kind = operation.type
    return is_stateful(kind) and kind.startswith(("Random", "Truncated", "Multinomial", "Parameterized"))


def captured_handle(graph: Any, variable: Any) -> Any:
    """The handle of a variable as the graph knows it."""
    return graph.capture(variable.handle)


def tf_dtype_of_handle(handle: Any) -> Any:
    assert dtypes is not None
    return dtypes.as_dtype(_kind_of_handle(handle)[0])


def can_run_before(graph: Any) -> bool:
    """Whether ops of this graph can be put before others that were made earlier."""
    return getattr(graph, "experimental_acd_manager", None) is not None


def run_before(operation: Any, others: Iterable[Any]) -> None:
    """Run a traced op before others that were made earlier, whatever TensorFlow's own order would be."""
    operation.graph.experimental_acd_manager.run_independently(operation)
    for other in others:
        other._add_control_input(operation)


def state_of_optimizer(optimizer: Any) -> list[Any]:
    """Its slots and counters, those of the optimizer inside included."""
    own = optimizer.variables
    return list(own() if callable(own) and not hasattr(own, "__len__") else own)


# --- accumulation ---


def frames_above(depth: int = 2) -> Iterator[FrameType]:
    """The stack from the caller's caller outwards."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        yield frame
        frame = frame.f_back


def inside_xla() -> bool:
    """Whether a `tf.function(jit_compile=True)` is being traced around the caller."""
    return any(getattr(frame.f_locals.get("self"), "_jit_compile", None) is True for frame in frames_above())


def native(variable: Any) -> Any:
    """The TensorFlow variable inside a Keras 3 variable; any other as it is."""
    keras_variable = getattr(sys.modules.get("keras"), "Variable", None)
    inside = keras_variable is not None and isinstance(variable, keras_variable)
    return variable.value if inside else variable


def unknown_to(optimizer: Any, variables: Iterable[Any]) -> list[Any]:
    """The variables that a built optimizer has no slots for; empty where it cannot be told."""
    known = getattr(optimizer, "_trainable_variables_indices", None)  # Keras 3
    if known is None:
        known = getattr(optimizer, "_index_dict", None)  # tf_keras
    built = getattr(optimizer, "built", None) or getattr(optimizer, "_built", False)
    key = getattr(optimizer, "_var_key", None)
    if not built or not known or key is None:
        return []
    return [variable for variable in variables if key(variable) not in known]


def build(optimizer: Any, variables: Iterable[Any]) -> None:
    """Create an optimizer's slots now: inside the branch of a graph Keras 3 would leave them uninitialised."""
    import tensorflow as tf

    with tf.init_scope():
        if not hasattr(optimizer, "build"):
            getattr(optimizer, "_create_all_weights", list)(list(variables))  # tf_keras legacy
        elif not getattr(optimizer, "built", False):  # tf_keras itself builds no more than once
            optimizer.build(list(variables))


def trained_by(optimizer: Any) -> list[Any]:
    """The variables that a Keras 3 optimizer was built with."""
    return list(optimizer._trainable_variables)


def gradients_of(optimizer: Any, loss: Any, variables: Any, tape: Any) -> Any:
    """(gradient, variable) pairs as a tf_keras optimizer takes them, with its loss scaling."""
    if hasattr(optimizer, "compute_gradients"):
        return optimizer.compute_gradients(loss, variables, tape=tape)
    return optimizer._compute_gradients(loss, var_list=variables, tape=tape)  # legacy


@dataclass(frozen=True, slots=True)
class TrainStep:
    """The `Model.train_step` that is running: its model, its batch, and its predictions if it is Keras's own."""

    model: Any
    data: Any
    predictions: Any = None


def enclosing_train_step() -> TrainStep | None:
    """The innermost Keras train_step on the stack. Its second argument is the batch: that much is documented."""
    for frame in frames_above():
        code = frame.f_code
        if code.co_name not in ("train_step", "tf__train_step") or code.co_argcount < 2:
            continue
        values = frame.f_locals
        model: Any = values.get(code.co_varnames[0])
        data = values.get(code.co_varnames[1])
        if not hasattr(model, "compute_loss") or data is None:
            continue
        own = str(frame.f_globals.get("__name__", "")).startswith(("keras.", "tf_keras."))
        plain = own and type(model).compute_loss.__module__.startswith(("keras.", "tf_keras."))
        return TrainStep(model, data, values.get("y_pred") if plain else None)
    return None


def unpack(data: Any) -> tuple[Any, Any, Any]:
    """(x, y, sample_weight) of what Keras passes to train_step."""
    if not isinstance(data, (list, tuple)):
        return data, None, None
    x, y, sample_weight = [*data, None, None][:3]
    return x, y, sample_weight


def losses_of(step: TrainStep) -> list[tuple[Any, Any, Any, Any]]:
    """(loss, target, prediction, sample weight) of every loss given to `compile`; empty where that cannot be told."""
    import tensorflow as tf

    _, targets, weights = unpack(step.data)
    compiled = getattr(step.model, "_compile_loss", None)
    if compiled is None:  # tf_keras
        container = getattr(step.model, "compiled_loss", None)
        return _flat_losses(tf.nest.flatten(getattr(container, "_losses", None) or []), step, targets, weights)
    if not hasattr(compiled, "_flat_losses"):  # Keras 3 before it nested its losses
        return _flat_losses(list(getattr(compiled, "flat_losses", None) or []), step, targets, weights)
    return [
        (loss, _follow(targets, path), _follow(step.predictions, path), _follow(weights, path))
        for path, loss, *_ in compiled._flat_losses or []
    ]


def _flat_losses(losses: list[Any], step: TrainStep, targets: Any, weights: Any) -> list[tuple[Any, Any, Any, Any]]:
    import tensorflow as tf

    predictions = tf.nest.flatten(step.predictions)
    goals = tf.nest.flatten(targets)
    scales = tf.nest.flatten(weights) if weights is not None else []
    if not losses or len(losses) != len(predictions) or len(goals) != len(predictions):
        return []
    scales = scales * len(losses) if len(scales) == 1 else scales or [None] * len(losses)
    entries = zip(losses, goals, predictions, scales, strict=False)
    return [entry for entry in entries if entry[0] is not None]


def _follow(structure: Any, path: tuple[Any, ...]) -> Any:
    """What stands at `path` in nested lists and dicts; a leaf above it stands for all below."""
    for step in path:
        if isinstance(structure, dict):
            structure = structure[step] if step in structure else list(structure.values())[step]
        elif isinstance(structure, (list, tuple)):
            structure = structure[step] if isinstance(step, int) else structure[0]
    return structure


def reduction_of(loss: Any) -> str:
    """`sum`, `none`, `mean_with_sample_weight` or `mean`."""
    kind = str(getattr(loss, "reduction", "mean")).lower()
    return kind if kind in ("sum", "none", "mean_with_sample_weight") else "mean"


def mask_of(prediction: Any) -> Any:
    """The Keras mask that a prediction carries, or None."""
    return getattr(prediction, "_keras_mask", None)


def put_mask(tensor: Any, mask: Any) -> None:
    """Give a tensor a Keras mask."""
    tensor._keras_mask = mask


def has_added_losses(model: Any) -> bool:
    """Whether regularizers or add_loss contribute to the loss."""
    return bool(getattr(model, "losses", ()))


def has_activity_losses(model: Any) -> bool:
    """Whether a layer called add_loss with something that depends on the batch."""
    layers = getattr(model, "_flatten_layers", lambda: ())()
    return any(getattr(layer, "_losses", None) for layer in layers)


def enclosing_fit(model: Any) -> FrameType | None:
    """The frame of the `model.fit` that is running, if one is."""
    for frame in frames_above():
        if frame.f_code.co_name == "fit" and frame.f_locals.get("self") is model:
            return frame
    return None


def callback_list_of(frame: FrameType, model: Any) -> Any:
    """The CallbackList of a running `fit`, None if the frame is not one or does not show it."""
    if frame.f_code.co_name != "fit":
        return None
    values = frame.f_locals
    callbacks = values.get("callbacks")
    complete = hasattr(callbacks, "callbacks") and hasattr(callbacks, "params")
    return callbacks if values.get("self") is model and complete else None


def dynamic_scale_of(optimizer: Any) -> Any:
    """The current loss scale of a LossScaleOptimizer that adapts it, as a tensor; None for any other."""
    import tensorflow as tf

    scale = getattr(optimizer, "dynamic_scale", None)  # Keras 3
    if scale is None and getattr(optimizer, "dynamic", False):  # tf_keras
        scale = optimizer.loss_scale
    return None if scale is None else tf.identity(tf.convert_to_tensor(scale))


def register_wrappers(kind: str) -> None:
    """Make the wrappers of the Kerases in use known to their loaders."""
    for name in ("keras", "tf_keras"):
        if name in sys.modules:
            importlib.import_module(f"whygrad.backends.tensorflow.{kind}_{name}")


def wrapper_class(kind: str, optimizer: Any) -> Any:
    """The class that wraps this optimizer to `accumulate`, `deduplicate` or `guard`, in its own Keras."""
    scaled = hasattr(optimizer, "inner_optimizer") and hasattr(optimizer, "dynamic_growth_steps")
    old = any(cls.__module__.split(".")[0] == "tf_keras" for cls in type(optimizer).__mro__)
    module = importlib.import_module(f"whygrad.backends.tensorflow.{kind}_{'tf_keras' if old else 'keras'}")
    names = {
        "accumulate": "AccumulatingOptimizer",
        "deduplicate": "DeduplicatingOptimizer",
        "guard": "GuardedOptimizer",
    }
    return getattr(module, f"LossScaled{names[kind]}" if scaled else names[kind])


def optimizer_copy(optimizer: Any, variable: Any, rows: Any) -> tuple[Any, Any]:
    """A copy of an optimizer and its state for `rows` of one variable, and a variable with these rows for it."""
    import tensorflow as tf

    def taken(source: Any) -> Any:
        return tf.gather(tf.convert_to_tensor(native(source)), rows)

    copy = type(optimizer).from_config(optimizer.get_config())
    part = _like(variable, taken(variable))
    copy.build([part])
    known = getattr(optimizer, "_trainable_variables_indices", None) or getattr(optimizer, "_index_dict", None) or {}
    position = known.get(optimizer._var_key(variable)) if known else None
    for name, value in list(vars(optimizer).items()):
        own: Any = getattr(copy, name, None)
        if isinstance(value, list) and isinstance(own, list) and name not in ("_variables", "_trainable_variables"):
            slots = [value[position]] if position is not None and len(value) > position and len(own) == 1 else []
            for slot in slots:
                if hasattr(slot, "shape") and tuple(slot.shape) == tuple(variable.shape):
                    own[0].assign(taken(slot))
        elif hasattr(value, "assign") and hasattr(own, "assign") and tuple(value.shape) == tuple(own.shape) == ():
            own.assign(tf.convert_to_tensor(native(value)))
    return copy, part


def _like(variable: Any, value: Any) -> Any:
    """A new variable of the same kind, Keras 3 or TensorFlow."""
    import tensorflow as tf

    return tf.Variable(value) if native(variable) is variable else type(variable)(value, dtype=variable.dtype)


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


# --- edits ---

_NO_SLOTS = frozenset({"_variables", "_trainable_variables"})


def _indices(optimizer: Any) -> dict[Any, int]:
    """Variable key -> position in every list of slots; Keras 3 and tf_keras."""
    known = getattr(optimizer, "_trainable_variables_indices", None)
    if known is None:
        known = getattr(optimizer, "_index_dict", None)
    return known if known is not None else {}


def innermost(optimizer: Any) -> Any:
    """The optimizer that holds the slots, inside whatever wraps it."""
    inner = getattr(optimizer, "inner_optimizer", None) or getattr(optimizer, "wrapped", None)
    return optimizer if inner is None or inner is optimizer else innermost(inner)


def slots_of(optimizer: Any, variable: Any) -> list[Any]:
    """What an optimizer keeps about one variable; empty as long as it was not built."""
    optimizer = innermost(optimizer)
    if hasattr(optimizer, "get_slot_names"):  # tf_keras legacy
        names = optimizer.get_slot_names()
        slots = getattr(optimizer, "_slots", {}).get(getattr(variable, "_unique_id", None), {})
        return [slots[name] for name in names if name in slots]
    known = _indices(optimizer)
    position = known.get(optimizer._var_key(variable)) if known else None
    if position is None:
        return []
    count = len(known)
    lists = [value for name, value in vars(optimizer).items() if isinstance(value, list) and name not in _NO_SLOTS]
    return [each[position] for each in lists if len(each) == count and hasattr(each[position], "assign")]


def twin_of(optimizer: Any, variables: list[Any]) -> Any:
    """A new optimizer of the same kind, built for the given variables."""
    optimizer = innermost(optimizer)
    twin = type(optimizer).from_config(optimizer.get_config())
    twin.build(variables)
    return twin


def extend(optimizer: Any, variables: Iterable[Any]) -> list[Any]:
    """Give a built optimizer fresh slots for variables it does not know, leaving the others alone; returns these."""
    optimizer = innermost(optimizer)
    new = unknown_to(optimizer, variables)
    if not new:
        return []
    import tensorflow as tf

    with tf.init_scope():
        twin = twin_of(optimizer, new)
    known = _indices(optimizer)
    count = len(known)
    for name, value in vars(twin).items():
        own = getattr(optimizer, name, None)
        if name in _NO_SLOTS or not isinstance(value, list) or not isinstance(own, list):
            continue
        if len(value) == len(new) and len(own) == count:
            own.extend(value)
            _track_slots(optimizer, value)
    for position, variable in enumerate(new, count):
        known[optimizer._var_key(variable)] = position
    if hasattr(optimizer, "_trainable_variables"):
        optimizer._trainable_variables.extend(new)
    return new


def _track_slots(optimizer: Any, slots: list[Any]) -> None:
    for slot in slots:
        if not hasattr(slot, "assign"):
            continue
        if hasattr(optimizer, "_track_variable"):
            optimizer._track_variable(slot)
        elif isinstance(getattr(optimizer, "_variables", None), list):
            optimizer._variables.append(slot)


def retrace_training(model: Any) -> None:
    """Have `fit` compile its step anew: flags of layers are read while it is traced."""
    if getattr(model, "train_function", None) is not None:
        model.make_train_function(force=True)


def trains_as_compiled(model: Any) -> bool:
    """Whether `trainable` flags that are set after `compile` have no effect in `fit`: tf_keras."""
    return any(cls.__module__.split(".")[0] == "tf_keras" for cls in type(model).__mro__)
