"""What runs around a training step of Keras: its frames, losses, masks, scales and copies of optimizers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

import tensorflow as tf

from whygrad.backends.tensorflow.compat.optimizers import optimizer_inside

_MOST_RATES: Final = 64  # that are asked of a schedule


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
    inner = getattr(variable, "_value", None)
    return inner if hasattr(inner, "assign_sub") else variable


def compiled_step(model: Any) -> Any:
    """The training step of a model that `fit` calls as a graph; None if it has none, or runs op by op."""
    eager = getattr(model, "run_eagerly", False) or tf.config.functions_run_eagerly()
    return None if eager else getattr(model, "train_function", None)


def value_now(counter: Any) -> int | None:
    """What a counter holds, also while a graph is traced; None where it cannot be read."""
    try:
        with tf.init_scope():
            return int(native(counter).numpy())
    except Exception:  # a graph of version 1 around it, or a copy on each device
        return None


def rate_now(optimizer: Any) -> float | None:
    """The learning rate of an optimizer, also while a graph is traced; None where it cannot be read."""
    try:
        with tf.init_scope():
            rate = native(optimizer.learning_rate)
            return float(rate.numpy() if hasattr(rate, "numpy") else rate)
    except Exception:  # a schedule of the user's own that fails outside of the step, a copy on each device
        return None


def schedule_of(optimizer: Any) -> Any:
    """The schedule that a learning rate comes from; None where there is none, or it is the user's own."""
    schedule = getattr(optimizer_inside(optimizer), "_learning_rate", None)
    own = str(getattr(type(schedule), "__module__", "")).startswith(("keras.", "tf_keras."))
    return schedule if own and callable(schedule) and hasattr(schedule, "get_config") else None


def rates_of(schedule: Any, first: int, end: int) -> tuple[float, ...]:
    """What a schedule gives between two steps."""
    if schedule is None or end <= first:
        return ()
    try:
        with tf.init_scope():
            return tuple(float(schedule(step)) for step in range(first, end, max(1, -(-(end - first) // _MOST_RATES))))
    except Exception:  # one that wants more than a number
        return ()


def build(optimizer: Any, variables: Iterable[Any]) -> None:
    """Create an optimizer's slots now: inside the branch of a graph Keras 3 would leave them uninitialised."""
    with tf.init_scope():
        if not hasattr(optimizer, "build"):
            getattr(optimizer, "_create_all_weights", list)(list(variables))  # tf_keras legacy
        elif not getattr(optimizer, "built", False):  # tf_keras itself builds no more than once
            optimizer.build(list(variables))


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


def unasked_loss(frame: FrameType) -> Any:
    """The loss of a training step of Keras's own that will ask for no gradient: its model lists no trainable weight."""
    own = str(frame.f_globals.get("__name__", "")).startswith("keras.")
    if not own or frame.f_code.co_name not in ("train_step", "tf__train_step"):
        return None
    values = frame.f_locals
    return None if values["self"].trainable_weights else values.get("loss")


def weighs_third(model: Any) -> bool:
    """Whether the third argument of `compile` is the weights of the losses: in Keras 3, not in tf_keras."""
    return any(base.__module__.startswith("keras.") for base in type(model).__mro__)


def unpack(data: Any) -> tuple[Any, Any, Any]:
    """(x, y, sample_weight) of what Keras passes to train_step."""
    if not isinstance(data, (list, tuple)):
        return data, None, None
    x, y, sample_weight = [*data, None, None][:3]
    return x, y, sample_weight


def losses_of(step: TrainStep) -> list[tuple[Any, Any, Any, Any]]:
    """(loss, target, prediction, sample weight) of every loss given to `compile`; empty where that cannot be told."""
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


def option_of_loss(loss: Any, name: str) -> Any:
    """What a loss object was made with; legacy Keras keeps most options for the function that it wraps."""
    own = getattr(loss, name, None)
    return getattr(loss, "_fn_kwargs", {}).get(name) if own is None else own


def mask_of(prediction: Any) -> Any:
    """The Keras mask that a prediction carries, or None."""
    return getattr(prediction, "_keras_mask", None)


def put_mask(tensor: Any, mask: Any) -> None:
    """Give a tensor a Keras mask."""
    tensor._keras_mask = mask


def has_added_losses(model: Any) -> bool:
    """Whether regularizers or add_loss contribute to the loss."""
    return bool(getattr(model, "losses", ()))


def layers_inside(model: Any) -> list[Any]:
    """Every layer of a Keras model, also those inside others."""
    return list(getattr(model, "_flatten_layers", tuple)())


def has_activity_losses(model: Any) -> bool:
    """Whether a layer called add_loss with something that depends on the batch."""
    return any(getattr(layer, "_losses", None) for layer in layers_inside(model))


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
    scale = getattr(optimizer, "dynamic_scale", None)  # Keras 3
    if scale is None and getattr(optimizer, "dynamic", False):  # tf_keras
        scale = optimizer.loss_scale
    return None if scale is None else tf.identity(tf.convert_to_tensor(scale))


def new_optimizer(optimizer: Any, variable: Any, value: Any) -> tuple[Any, Any]:
    """One of the same kind and settings that has taken no step, and a variable like another one that it trains."""
    keras_variable = native(variable) is not variable
    kind: Any = type(variable) if keras_variable else tf.Variable
    table = kind(value, dtype=variable.dtype, name="whygrad_rows")
    made = type(optimizer).from_config(optimizer.get_config())
    made.build([table])
    return made, table
