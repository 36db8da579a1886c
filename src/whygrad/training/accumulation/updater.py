"""The optimizer inside an accumulating one: how it updates, and its loss scale if it has one."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat


class Updater:
    """Hands accumulated gradients to the optimizer that a wrapper holds."""

    def __init__(self, wrapper: Any) -> None:
        self._wrapper = wrapper

    def send(self, gradients: list[Any], variables: list[Any]) -> None:
        whole = _on_first_replica(gradients) if self._wrapper.UNSCALES_IN_APPLY else gradients
        self._wrapper.hand_over(whole, variables)

    def loss_scale(self) -> Any:
        """None without dynamic loss scaling."""
        return compat.dynamic_scale_of(self._wrapper.wrapped)

    def lower_loss_scale(self, gradients: list[Any], variables: list[Any]) -> Any:
        """Have the scale lowered by gradients that are not finite; what sums must be multiplied by, None for one."""
        before = self.loss_scale()
        if before is None:
            return None
        iterations = tf.identity(compat.native(self._wrapper.iterations))
        self._wrapper.hand_over(gradients, variables)  # it lowers its scale and updates nothing
        if self._wrapper.UNSCALES_IN_APPLY:
            return self.loss_scale() / before  # the sums are in the old scale
        self._wrapper.iterations.assign(iterations)  # tf_keras counts it as an iteration, and has unscaled before
        return None


def _on_first_replica(gradients: list[Any]) -> list[Any]:
    """The sum over all replicas on the first, zeros on the others.

    Keras 3 clips, and looks for NaN, on each replica before it sums; this way it does so with the whole gradient.
    """
    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        return gradients
    present = [gradient for gradient in gradients if gradient is not None]
    whole = iter(context.all_reduce(tf.distribute.ReduceOp.SUM, present))
    first = tf.equal(context.replica_id_in_sync_group, 0)
    return [None if g is None else tf.where(first, total := next(whole), tf.zeros_like(total)) for g in gradients]
