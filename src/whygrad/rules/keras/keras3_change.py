"""What Keras 3 no longer has, by the exception that tells of it."""

from __future__ import annotations

from typing import Final, NamedTuple

from whygrad.diagnostics import Word
from whygrad.graph import Failure, FailureKind
from whygrad.source import source_text


class Change(NamedTuple):
    what: str
    instead: str


def change_of(failure: Failure) -> Change | None:
    """The change that an exception is about; None: it is about something else."""
    if failure.outdated is not None and failure.instead is not None:
        return Change(failure.outdated, failure.instead)
    return (
        _missing_attribute(failure)
        or _attribute_of_a_type(failure)
        or _refused_argument(failure)
        or _refused_call(failure)
        or _called_anyway(failure)
        or (None if failure.kind is None else _BY_KIND.get(failure.kind))
    )


def _missing_attribute(failure: Failure) -> Change | None:
    attribute = failure.attribute
    if attribute is None or not _is_of_keras(failure, attribute):
        return None
    if failure.similar is not None and (failure.object_type or "").startswith("keras."):
        return Change(f"Keras 3 has no `{attribute}` here", f"write `{failure.similar}`")
    advice = REMOVED.get(attribute)
    return None if advice is None else Change(f"Keras 3 has no `{attribute}` here any more", advice)


def _attribute_of_a_type(failure: Failure) -> Change | None:
    """`x.dtype.name`: of a Keras variable or tensor the type is its name."""
    text = None if failure.where is None else source_text(failure.where)
    if failure.object_type != "builtins.str" or not (text or "").endswith(f".dtype.{failure.attribute}"):
        return None
    return Change(f"the `dtype` of a Keras 3 variable is a string, without `{failure.attribute}`", _NO_TYPE)


_NO_TYPE: Final = 'leave out what follows `dtype`, which is the name itself, such as `"float32"`'


def _is_of_keras(failure: Failure, attribute: str) -> bool:
    """Whether it was asked of a Keras object; a user's class derived from one may have words of its own."""
    if (failure.object_type or "").startswith("keras."):
        return True
    return attribute not in _COMMON_WORDS and any(kind.startswith("keras.") for kind in failure.object_bases)


def _refused_argument(failure: Failure) -> Change | None:
    for functions, name, advice in ARGUMENTS:
        if failure.argument == name and (functions is None or failure.function in functions):
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


def _called_anyway(failure: Failure) -> Change | None:
    """What used to be a method; the failing expression ends like this in the source."""
    text = None if failure.where is None else source_text(failure.where)
    for kind, ending, change in _NO_METHODS if text is not None else ():
        if failure.kind is kind and (text or "").replace(" ", "").endswith(ending):
            return change
    return None


REMOVED: Final = {
    "minimize": f"take the gradient yourself: `with {Word.TAPE}() as tape: ...`, then `optimizer.apply_gradients(...)`",
    "get_scaled_loss": "write `optimizer.scale_loss(loss)` under the tape",
    "get_unscaled_gradients": "pass the scaled gradients to `apply_gradients`: it unscales them itself",
    "get_gradients": f"use `{Word.TAPE}`",
    "get_updates": f"use `{Word.TAPE}` and `optimizer.apply_gradients`",
    "_compute_gradients": f"use `{Word.TAPE}`",
    "compute_gradients": f"use `{Word.TAPE}`",
    "aggregate_gradients": "leave it out: `apply_gradients` adds the replicas' gradients up",
    "gradients": f"use `{Word.TAPE}`",
    "function": f"make a model of those inputs and outputs, or wrap your step in `{Word.COMPILED_FUNCTION}`",
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
    "scatter_nd_update": f"write `variable.assign({Word.SCATTER_UPDATE}(variable, indices, updates))`",
    "scatter_update": f"write `variable.assign({Word.SCATTER_UPDATE}(variable, indices, updates))`",
    "scatter_add": f"write `variable.assign({Word.SCATTER_ADD}(variable, indices, updates))`",
    "scatter_nd_add": f"write `variable.assign({Word.SCATTER_ADD}(variable, indices, updates))`",
    "scatter_sub": f"write `variable.assign({Word.SCATTER_SUB}(variable, indices, updates))`",
    "CuDNNLSTM": "use `LSTM`: it uses the same kernels",
    "CuDNNGRU": "use `GRU`: it uses the same kernels",
    "np_utils": "write `keras.utils.to_categorical`",
    "multi_gpu_model": f"use `{Word.SEVERAL_DEVICES}`",
    "scikit_learn": "use `keras.wrappers.SKLearnClassifier`, or the package scikeras",
    "ImageDataGenerator": "use `keras.utils.image_dataset_from_directory` and preprocessing layers",
    "Tokenizer": "use `keras.layers.TextVectorization`",
    "engine": "import `Model` and `Input` from `keras` itself, and layers from `keras.layers`",
    **dict.fromkeys(
        ("advanced_activations", "convolutional", "recurrent"), "import the layer from `keras.layers` itself"
    ),
    "estimator": "there are no estimators any more: use `model.fit`",
}

_MAKING = frozenset({"__init__"})
# Where the argument is too common a word, the functions that used to take it.
ARGUMENTS: Final[tuple[tuple[frozenset[str] | None, str, str], ...]] = (
    (None, "lr", "write `learning_rate=`"),
    (None, "decay", "use a schedule from `keras.optimizers.schedules`"),
    (None, "var_list", f"use `{Word.TAPE}`"),
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

_OLD_FILES = (
    f"save as `.keras`, weights as `.weights.h5`; for checkpoints of {Word.FRAMEWORK}'s own use `{Word.CHECKPOINT}`"
)
_ADD_LOSS = Change(
    "Keras 3 has no `add_loss` for symbolic tensors of a functional model any more",
    "call `self.add_loss(...)` in the `call` of a layer that is given these tensors, or write a custom `train_step`",
)
_NO_SYMBOLIC_GRADIENT = Change(
    "Keras 3 has no gradients of symbolic tensors any more",
    f"call the model on real data under `{Word.TAPE}` and ask the tape",
)

_NO_ASSIGNING = Change(
    "`set_value` of Keras 2 does not work on a variable of Keras 3", "write `variable.assign(value)`"
)

_NAME_FIRST = Change(
    "the arguments of this class have another order in Keras 3", "name them: `super().__init__(name=..., ...)`"
)

_CALLS: Final = (
    (".Loss.__init__", ("ValueError", "TypeError"), _NAME_FIRST),
    (".Metric.__init__", ("ValueError", "TypeError"), _NAME_FIRST),
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

_BY_KIND: Final = {
    FailureKind.WRAPPED_VARIABLE: Change(
        f"a Keras 3 variable is not a `{Word.VARIABLE}`: the tape cannot watch it",
        "watch `variable.value`, or drop the `watch`",
    ),
    FailureKind.SYMBOLIC_INPUT: Change(
        f"a {Word.FRAMEWORK} function is given a symbolic tensor of a functional model: Keras 3 no longer makes a layer of it",
        "use the same function of `keras.ops`, or wrap it in a layer",
    ),
    FailureKind.OLD_OPTIMIZERS: Change("Keras 3 has no `keras.optimizers.legacy`", "use `keras.optimizers` itself"),
    FailureKind.OLD_FILE: Change("Keras 3 no longer reads files of this format", _OLD_FILES),
    FailureKind.OLD_WEIGHTS_NAME: Change("Keras 3 no longer writes weights under this name", _OLD_FILES),
    FailureKind.OLD_MODEL_NAME: Change("Keras 3 no longer writes models under this name", _OLD_FILES),
}

_NO_METHODS: Final = (
    (
        FailureKind.VARIABLE_CALLED,
        ".value()",
        Change("a Keras 3 variable's `value` is not a method", "write `variable.value`, without the call"),
    ),
    (
        FailureKind.LIST_CALLED,
        ".variables()",
        Change("a Keras 3 optimizer's `variables` is not a method", "write `optimizer.variables`, without the call"),
    ),
)

# A class of the user's own may have forgotten to set an attribute of such a name.
_COMMON_WORDS = frozenset({"targets", "sample_weights", "lr", "decay", "function", "updates", "experimental", "legacy"})
