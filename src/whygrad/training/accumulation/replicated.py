"""What an accumulated gradient is handed over as where each replica holds a part of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import tensorflow as tf

from whygrad.backends.tensorflow import compat

_CLIPS: Final = ("clipnorm", "clipvalue", "global_clipnorm")


def for_optimizer(gradients: list[Any], optimizer: Any) -> list[Any]:
    """The gradients of this replica as its optimizer must get them: it sums those of all replicas.

    Keras 3 clips, and looks for NaN, on each replica before it sums. An optimizer that does either gets the sum over
    all replicas on the first, and zeros on the others; any other is left to sum, which is once for an update.
    """
    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1 or not _judges_parts(optimizer):
        return gradients
    present = [gradient for gradient in gradients if gradient is not None]
    whole = iter(context.all_reduce(tf.distribute.ReduceOp.SUM, present))
    first = tf.equal(context.replica_id_in_sync_group, 0)
    return [None if g is None else tf.where(first, total := next(whole), tf.zeros_like(total)) for g in gradients]


def on_every_replica(close: Callable[[Sequence[int]], None]) -> Callable[[Sequence[int]], None]:
    """The same, called across replicas: each of them does it with its own part."""

    def close_all(without: Sequence[int]) -> None:
        tf.distribute.get_strategy().extended.call_for_each_replica(lambda: close(without))

    return close_all


def _judges_parts(optimizer: Any) -> bool:
    """Whether what an optimizer does with a gradient before it sums is not the same for parts of it: Keras 3."""
    if compat.sets_rate_when_applied(optimizer):  # tf_keras sums first
        return False
    inner = compat.optimizer_inside(optimizer)
    clips = any(getattr(inner, name, None) is not None for name in _CLIPS)
    return clips or compat.dynamic_scale_of(optimizer) is not None
