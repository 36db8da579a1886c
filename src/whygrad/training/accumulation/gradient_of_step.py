"""The loss and gradients of a step, whatever form the step has."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.errors import AccumulationError
from whygrad.training.accumulation.microbatch_weight import share_of_step


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one batch gave. Variables and gradients are keyed by the variable's identity."""

    loss: float
    weight: float
    variables: dict[int, Any]
    gradients: dict[int, Any]


def run_step(step: Any, batch: Any, weight: Callable[..., Any] | None, size: int) -> Outcome:
    """Run `step` on `batch` under a tape and take the gradient of its loss."""
    with tf.GradientTape() as tape:
        loss, own = _loss(step, batch)
    if not tf.is_tensor(loss):
        raise AccumulationError(
            f"the step returned {type(loss).__name__}, not a loss", help="return the loss tensor from the step"
        )
    variables = tape.watched_variables()
    gradients = tape.gradient(loss, variables)
    counted = own if weight is None else weight(*_arguments(batch))
    return Outcome(
        loss=float(tf.reduce_sum(loss)),
        weight=float(size if counted is None else counted),
        variables={id(variable): variable for variable in variables},
        gradients={id(v): _dense(g) for v, g in zip(variables, gradients, strict=True)},
    )


def _loss(step: Any, batch: Any) -> tuple[Any, Any]:
    """The loss, and what it was averaged over if that is known."""
    if hasattr(step, "train_step") and hasattr(step, "compute_loss"):
        return _model_loss(step, batch)
    arguments = _arguments(batch)
    if not _takes(step, len(arguments)):
        arguments = (batch,)
    result = step(*arguments)
    if isinstance(result, dict) and "loss" in result:
        result = result["loss"]
    return (result[0], None) if isinstance(result, (tuple, list)) and result else (result, None)


def _model_loss(model: Any, batch: Any) -> tuple[Any, Any]:
    batch = tf.nest.map_structure(tf.convert_to_tensor, batch)
    x, y, sample_weight = compat.unpack(batch)
    predictions = model(x, training=True)
    loss = model.compute_loss(x=x, y=y, y_pred=predictions, sample_weight=sample_weight)
    share = share_of_step(compat.TrainStep(model, batch, predictions), "auto")
    return loss, share.weight


def _arguments(batch: Any) -> tuple[Any, ...]:
    return tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)


def _takes(step: Any, count: int) -> bool:
    try:
        inspect.signature(getattr(step, "python_function", step)).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # no signature to be had
        pass
    return True


def _dense(gradient: Any) -> Any:
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, gradient.dense_shape[0])
