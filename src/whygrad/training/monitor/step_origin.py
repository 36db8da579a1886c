"""Where the gradients of an application come from, and what became of the variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow.measure.gradient_part import Tensor
from whygrad.training.monitor.step_probe import Application, AskedGradient, OptimizerWrite, current_graph


def gradients_and_loss(application: Application, asked: Sequence[AskedGradient]) -> tuple[list[Any], Any]:
    """The gradients as the tape gave them, before user code clipped or changed them, and the loss they are of.

    Of several replicas: their sums, as the optimizer was to use them, and the losses of those of this process.
    """
    raw, loss = summed(application), None
    comparable = (application.scale is None or application.given_scaled) and application.replica is None
    for i, variable in enumerate(application.variables):
        mine = [each for each in asked if id(variable) in each.gradients]
        if not mine:
            continue
        loss = list({each.replica: each.target for each in mine}.values()) if loss is None else loss
        gradient = mine[0].gradients[id(variable)]
        if len(mine) == 1 and comparable and gradient is not None and raw[i] is not None and is_here(gradient):
            raw[i] = gradient
    return raw, loss


def summed(application: Application) -> list[Any]:
    """The gradients of the replicas together; those that were given where they were not summed, or not here."""
    here = iter(application.reduced or ())
    if application.reduced is None or not all(is_here(gradient) for gradient in application.reduced):
        return list(application.gradients)
    return [None if gradient is None else next(here) for gradient in application.gradients]


def is_here(tensor: Any) -> bool:
    """Whether the graph that is being built can use it."""
    if tf.executing_eagerly():
        return True
    home = getattr(getattr(tensor, "values", tensor), "graph", None)
    graph = current_graph()
    while graph is not None and graph is not home:
        graph = getattr(graph, "outer_graph", None)
    return graph is not None


def changes_of(application: Application, present: Sequence[int], compiled: bool) -> list[OptimizerWrite]:
    """What the update added to each variable: what was written, or the difference of the values.

    XLA has both values at hand, and would have to keep what was written.
    """
    changes = []
    for i in present:
        variable = application.variables[i]
        written = None if compiled else _written(application.writes.get(id(variable), []))
        changes.append(
            OptimizerWrite(tf.convert_to_tensor(variable) - application.before[i]) if written is None else written
        )
    return changes


def _written(writes: Sequence[OptimizerWrite]) -> OptimizerWrite | None:
    """The sum of what was written; None: it has to be taken from the values."""
    deltas = [write.delta for write in writes]
    usable = ((tf.is_tensor(each) or isinstance(each, tf.IndexedSlices)) and is_here(each) for each in deltas)
    if not deltas or not all(usable):
        return None
    if len(deltas) == 1:
        return writes[0]
    if any(isinstance(delta, tf.IndexedSlices) for delta in deltas):
        return None
    return OptimizerWrite(tf.add_n([-write.delta if write.negative else write.delta for write in writes]))


def total_of(loss: Any, dtype: Any) -> Tensor:
    """A target of several tensors, or of many elements, is differentiated as their sum."""
    here = [tf.cast(part, dtype) for part in tf.nest.flatten(loss) if is_here(part)]
    parts = [part if part.shape.rank == 0 else tf.reduce_sum(part) for part in here]
    if len(parts) == 1:
        return parts[0]
    return tf.add_n(parts) if parts else tf.cast(float("nan"), dtype)
