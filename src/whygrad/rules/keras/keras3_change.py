"""What Keras 3 no longer has, by the exception that tells of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from whygrad.graph import Failure
from whygrad.source import source_text


class Change(NamedTuple):
    what: str
    instead: str


def change_of(failure: Failure) -> Change | None:
    """The change that an exception is about; None: it is about something else."""
    for look in (_missing_attribute, _refused_argument, _refused_call, _told_in_words):
        found = look(failure)
        if found is not None:
            return found
    return None


def _missing_attribute(failure: Failure) -> Change | None:
    attribute = _attribute(failure)
    advice = None if attribute is None else REMOVED.get(attribute)
    return None if advice is None else Change(f"Keras 3 has no `{attribute}` here any more", advice)


def _attribute(failure: Failure) -> str | None:
    """The attribute of a Keras object that was not there; a converted function keeps only the text."""
    if failure.attribute is not None and (failure.object_type or "").startswith("keras."):
        return failure.attribute
    if failure.attribute is not None and any(kind.startswith("keras.") for kind in failure.object_bases):
        return None if failure.attribute in _COMMON_WORDS else failure.attribute
    found = re.search(r"'(\w+)' object has no attribute '(\w+)'", failure.message)
    if found is not None and (found[1].endswith("Optimizer") or found[1] in _KERAS_CLASSES):
        return found[2]
    found = re.search(r"module '(?:tf_)?keras[\w.]*' has no attribute '(\w+)'", failure.message)
    return None if found is None else found[1]


_UNEXPECTED = re.compile(
    r"(?:([\w.]+)\(\) got an unexpected keyword argument|Argument\(s\) not recognized: {) ?'(\w+)'"
)
_UNRECOGNIZED = re.compile(r"Unrecognized keyword arguments passed to (\w+): {'(\w+)'")


def _refused_argument(failure: Failure) -> Change | None:
    found = _UNEXPECTED.search(failure.message) or _UNRECOGNIZED.search(failure.message)
    for functions, name, advice in ARGUMENTS if found is not None else ():
        function = (found[1] or "__init__").split(".")[-1] if found is not None else ""
        if found is not None and found[2] == name and (functions is None or function in functions):
            return Change(f"Keras 3 has no argument `{name}` here any more", advice)
    return None


def _refused_call(failure: Failure) -> Change | None:
    """Functions that are still there to raise."""
    if failure.called is None or not failure.called.startswith("keras."):
        return None
    for ending, errors, change in _CALLS:
        if failure.called.endswith(ending) and failure.type_name in errors:
            return change
    return None


def _told_in_words(failure: Failure) -> Change | None:
    return next((change for applies, change in _MESSAGES if applies(failure)), None)


def _says(text: str) -> Callable[[Failure], bool]:
    return lambda failure: text in failure.message


def _writes(ending: str, message: str) -> Callable[[Failure], bool]:
    """The failing expression ends like this in the source."""

    def applies(failure: Failure) -> bool:
        text = None if failure.where is None else source_text(failure.where)
        return message in failure.message and text is not None and text.replace(" ", "").endswith(ending)

    return applies


REMOVED: Final = {
    "minimize": "take the gradient yourself: `with tf.GradientTape() as tape: ...`, then `optimizer.apply_gradients(...)`",
    "get_scaled_loss": "write `optimizer.scale_loss(loss)` under the tape",
    "get_unscaled_gradients": "hand the scaled gradients to `apply_gradients`: it unscales them itself",
    "get_gradients": "use `tf.GradientTape`",
    "get_updates": "use `tf.GradientTape` and `optimizer.apply_gradients`",
    "_compute_gradients": "use `tf.GradientTape`",
    "compute_gradients": "use `tf.GradientTape`",
    "aggregate_gradients": "leave it out: `apply_gradients` adds the replicas' gradients up",
    "gradients": "use `tf.GradientTape`",
    "function": "make a model of those inputs and outputs, or wrap your step in `tf.function`",
    "get_session": "there are no sessions any more: call the function directly",
    "set_session": "there are no sessions any more: leave it out",
    "fit_generator": "`model.fit` takes generators and data sets itself",
    "evaluate_generator": "`model.evaluate` takes generators itself",
    "predict_generator": "`model.predict` takes generators itself",
    "predict_classes": "write `model.predict(x).argmax(axis=-1)`",
    "predict_proba": "write `model.predict(x)`",
    "lr": "the attribute is `learning_rate`",
    "decay": "use a schedule: `keras.optimizers.schedules`",
    "weights": "the attribute is `variables`",
    "get_weights": "read `optimizer.variables`",
    "set_weights": "assign to `optimizer.variables`",
    "get_slot": "read `optimizer.variables`",
    "get_slot_names": "read `optimizer.variables`",
    "add_slot": "write `self.add_variable_from_reference(variable, name=...)`",
    "_create_slots": "make the slots in `build(variables)`",
    "_set_hyper": "keep it in an attribute of the optimizer",
    "_get_hyper": "keep it in an attribute of the optimizer",
    "_decayed_lr": "`update_step(gradient, variable, learning_rate)` is given the rate",
    "_resource_apply_dense": "override `update_step(gradient, variable, learning_rate)`",
    "legacy": "use `keras.optimizers` itself",
    "experimental": "what was experimental has moved one module up",
    "add_update": "assign in `call`",
    "updates": "assign in `call`",
    "get_updates_for": "assign in `call`",
    "get_losses_for": "read `losses`",
    "state_updates": "assign in `call`",
    "total_loss": "use the `loss` that `compute_loss` returns",
    "compiled_loss": "use `self.compute_loss(...)`",
    "compiled_metrics": "use `self.compute_metrics(...)` or `metric.update_state(...)`",
    "_make_train_function": "override `train_step`",
    "_collected_trainable_weights": "read `trainable_weights`",
    "sample_weights": "use `sample_weight` in `fit`, or a custom `train_step`",
    "targets": "write a custom `train_step`",
    "uses_learning_phase": "leave it out: pass `training=` in the call",
    "experimental_run_tf_function": "leave it out",
    "losses_utils": "leave it out",
    "set_learning_phase": "pass `training=True` or `training=False` in the call",
    "learning_phase": "pass `training=True` or `training=False` in the call",
    "in_train_phase": "use the `training` argument of `call`",
    "in_test_phase": "use the `training` argument of `call`",
    "placeholder": "use `keras.Input`",
    "Reduction": 'write the reduction as text: `reduction="none"`',
    "input_shape": "read `layer.input.shape`",
    "output_shape": "read `layer.output.shape`",
    "get_input_at": "read `layer.input`",
    "get_output_at": "read `layer.output`",
    "get_input_shape_at": "read `layer.input.shape`",
    "get_output_shape_at": "read `layer.output.shape`",
    "inbound_nodes": "read `layer.input` and `layer.output`",
    "outbound_nodes": "read `layer.input` and `layer.output`",
    "reset_states": "call `reset_states()` of each recurrent layer",
    "read_value": "a Keras variable's value is `variable.value`",
    "scatter_nd_update": "write `variable.assign(tf.tensor_scatter_nd_update(variable, indices, updates))`",
    "scatter_update": "write `variable.assign(tf.tensor_scatter_nd_update(variable, indices, updates))`",
    "scatter_add": "write `variable.assign(tf.tensor_scatter_nd_add(variable, indices, updates))`",
    "scatter_nd_add": "write `variable.assign(tf.tensor_scatter_nd_add(variable, indices, updates))`",
    "scatter_sub": "write `variable.assign(tf.tensor_scatter_nd_sub(variable, indices, updates))`",
    "CuDNNLSTM": "use `LSTM`: it uses the same kernels",
    "CuDNNGRU": "use `GRU`: it uses the same kernels",
    "np_utils": "write `keras.utils.to_categorical`",
    "multi_gpu_model": "use `tf.distribute.MirroredStrategy`",
    "scikit_learn": "use `keras.wrappers.SKLearnClassifier`, or the package scikeras",
    "ImageDataGenerator": "use `keras.utils.image_dataset_from_directory` and preprocessing layers",
    "Tokenizer": "use `keras.layers.TextVectorization`",
    "estimator": "there are no estimators any more: use `model.fit`",
}

_MAKING = frozenset({"__init__"})
# Where the argument is too common a word, the functions that used to take it.
ARGUMENTS: Final[tuple[tuple[frozenset[str] | None, str, str], ...]] = (
    (None, "lr", "write `learning_rate=`"),
    (None, "decay", "use a schedule from `keras.optimizers.schedules`"),
    (None, "var_list", "use `tf.GradientTape`"),
    (None, "batch_input_shape", "write `batch_shape=` on `keras.Input`"),
    (None, "experimental_steps_per_execution", "write `steps_per_execution=`"),
    (None, "clipnorm_by_global", "write `global_clipnorm=`"),
    (None, "experimental_run_tf_function", "leave it out, or write `run_eagerly=`"),
    (None, "experimental_aggregate_gradients", "leave it out: `apply_gradients` adds the replicas' gradients up"),
    (None, "skip_gradients_aggregation", "leave it out: `apply_gradients` adds the replicas' gradients up"),
    (None, "sample_weight_mode", "give `fit` a `sample_weight` of the shape of the targets"),
    (None, "target_tensors", "write a custom `train_step`"),
    (frozenset({"fit", "evaluate", "predict"}), "workers", "set it on the `keras.utils.PyDataset`"),
    (frozenset({"fit", "evaluate", "predict"}), "use_multiprocessing", "set it on the `keras.utils.PyDataset`"),
    (frozenset({"fit", "evaluate", "predict"}), "max_queue_size", "set it on the `keras.utils.PyDataset`"),
    (frozenset({"fit"}), "nb_epoch", "write `epochs=`"),
    (frozenset({"train_on_batch", "test_on_batch"}), "reset_metrics", "call `model.reset_metrics()`"),
    (frozenset({"apply_gradients"}), "name", "leave it out"),
    (frozenset({"assign", "assign_add", "assign_sub"}), "use_locking", "leave it out"),
    (frozenset({"assign", "assign_add", "assign_sub"}), "read_value", "leave it out"),
    (_MAKING, "weights", "call `layer.set_weights(...)` after building it"),
    (_MAKING, "period", 'write `save_freq="epoch"`'),
    (_MAKING, "time_major", "transpose the input and the output"),
    (_MAKING, "fused", "leave it out"),
)

_OLD_FILES = "save as `.keras`, weights as `.weights.h5`; for checkpoints of TensorFlow's own use `tf.train.Checkpoint`"
_ADD_LOSS = Change(
    "Keras 3 has no `add_loss` for symbolic tensors of a functional model any more",
    "call `self.add_loss(...)` in the `call` of a layer that is given these tensors, or write a custom `train_step`",
)
_SYMBOLIC = Change(
    "a TensorFlow function is given a symbolic tensor of a functional model: Keras 3 no longer makes a layer of it",
    "use the same function of `keras.ops`, or wrap it in a layer",
)
_NO_SYMBOLIC_GRADIENT = Change(
    "Keras 3 has no gradients of symbolic tensors any more",
    "call the model on real data under `tf.GradientTape` and ask the tape",
)

_NO_ASSIGNING = Change(
    "`set_value` of Keras 2 does not work on a variable of Keras 3", "write `variable.assign(value)`"
)

_CALLS: Final = (
    (".add_loss", ("NotImplementedError", "ValueError"), _ADD_LOSS),
    (
        ".add_metric",
        ("NotImplementedError",),
        Change(
            "Keras 3 has no `add_metric` any more", "make the metric in `__init__` and call `metric.update_state(...)`"
        ),
    ),
    (".legacy.backend.gradients", ("RuntimeError",), _NO_SYMBOLIC_GRADIENT),
    (".legacy.backend.set_value", ("AttributeError",), _NO_ASSIGNING),
    (".legacy.backend.batch_set_value", ("AttributeError",), _NO_ASSIGNING),
    (
        ".add_weight",
        ("ValueError", "TypeError"),
        Change(
            "`add_weight` of Keras 3 takes the shape first", "name the arguments: `add_weight(shape=..., name=...)`"
        ),
    ),
)

_MESSAGES: Final[tuple[tuple[Callable[[Failure], bool], Change], ...]] = (
    (
        lambda failure: failure.type_name == "ValueError" and failure.message.startswith("Passed in object <Variable"),
        Change(
            "a Keras 3 variable is not a `tf.Variable`: the tape cannot watch it",
            "watch `variable.value`, or drop the `watch`",
        ),
    ),
    (_says("A KerasTensor cannot be used as input to a TensorFlow function"), _SYMBOLIC),
    (_says("A KerasTensor is symbolic: it's a placeholder"), _SYMBOLIC),
    (
        _says("`keras.optimizers.legacy` is not supported in Keras 3"),
        Change("Keras 3 has no `keras.optimizers.legacy`", "use `keras.optimizers` itself"),
    ),
    (_says("Keras 3 only supports V3"), Change("Keras 3 no longer reads files of this format", _OLD_FILES)),
    (_says("must end in `.weights.h5`"), Change("Keras 3 no longer writes weights under this name", _OLD_FILES)),
    (_says("must end in `.keras`"), Change("Keras 3 no longer writes models under this name", _OLD_FILES)),
    (
        _says("Invalid filepath extension for saving"),
        Change("Keras 3 no longer writes models under this name", _OLD_FILES),
    ),
    (
        _writes(".value()", "'ResourceVariable' object is not callable"),
        Change("a Keras 3 variable's `value` is no method", "write `variable.value`, without the call"),
    ),
    (
        _writes(".variables()", "'list' object is not callable"),
        Change("a Keras 3 optimizer's `variables` is no method", "write `optimizer.variables`, without the call"),
    ),
)

# A class of the user's own may have forgotten to set an attribute of such a name.
_COMMON_WORDS = frozenset({"targets", "sample_weights", "lr", "decay", "function", "updates", "experimental", "legacy"})

_KERAS_CLASSES = frozenset(
    {"Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "SGD", "RMSprop", "Nadam", "Ftrl", "Lion", "Lamb"}
    | {"Sequential", "Functional", "Model"}
)
