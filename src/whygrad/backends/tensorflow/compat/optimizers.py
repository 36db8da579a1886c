"""The inside of Keras optimizers and models: their slots, their variables, when they trace anew."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow.capability import Loss, find
from whygrad.backends.tensorflow.compat.core import (
    TAP,
    _kind_of_handle,
    is_stateful,
    is_variable_handle,
    resource_dtype,
)
from whygrad.backends.tensorflow.compat.objects import trainables_of, updating_method

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
    return tf.as_dtype(_kind_of_handle(handle)[0])


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


_xla_optimization_barrier = find("tensorflow.compiler.tf2xla.ops.gen_xla_ops:xla_optimization_barrier", Loss.XLA)
HAS_XLA_BARRIER = _xla_optimization_barrier is not None


def xla_barriers(tensors: list[Any]) -> list[Any]:
    """The tensors, computed on their own under XLA, not fused with what uses them, and all in one place."""
    return _xla_optimization_barrier(tensors) if _xla_optimization_barrier else tensors


# What Keras optimizers call between being given gradients and using them.
CLIPPING_METHODS = ("_clip_gradients",)
SUMMING_METHOD = "aggregate_gradients"  # over replicas, in tf_keras


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
        optimizers = getattr(sys.modules.get(name), "optimizers", None)
        base = getattr(optimizers, "Optimizer", None)
        legacy = getattr(getattr(optimizers, "legacy", None), "Optimizer", None)
        if base is not None:
            found.append((base, updating_method(base)))
        if legacy is not None and hasattr(legacy, "apply_gradients"):
            found.append((legacy, "apply_gradients"))
    return tuple(found)


def steps_per_execution(model: Any) -> int:
    """How many batches one call of a model's training function takes."""
    steps: Any = getattr(model, "steps_per_execution", None) or getattr(model, "_steps_per_execution", None)
    return int(steps.numpy()) if hasattr(steps, "numpy") else int(steps or 1)


_NO_SLOTS = frozenset({"_variables", "_trainable_variables"})


def _indices(optimizer: Any) -> dict[Any, int]:
    """Variable key -> position in every list of slots; Keras 3 and tf_keras."""
    known = getattr(optimizer, "_trainable_variables_indices", None)
    known = getattr(optimizer, "_index_dict", None) if known is None else known
    return {} if known is None else known


def unknown_to(optimizer: Any, variables: Iterable[Any]) -> list[Any]:
    """The variables that a built optimizer has no slots for; empty where it cannot be told."""
    known, key = _indices(optimizer), getattr(optimizer, "_var_key", None)
    built = getattr(optimizer, "built", None) or getattr(optimizer, "_built", False)
    return [each for each in variables if key(each) not in known] if built and known and key is not None else []


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


def trainable_when_compiled(model: Any) -> list[Any] | None:
    """What `compile` of tf_keras saw to be trainable, where layers got their weights after it; None: nobody knows."""
    then = getattr(model, "_compiled_trainable_state", None)
    return None if not then else [each for layer, flag in then.items() if flag for each in trainables_of(layer)]
