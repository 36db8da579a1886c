"""What is done with each micro-batch of a window, and when it is full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.graph_building import choose
from whygrad.errors import AccumulationError
from whygrad.training.accumulation.arguments import Settings
from whygrad.training.accumulation.microbatch_weight import share_of
from whygrad.training.accumulation.replicated import for_optimizer, on_every_replica
from whygrad.training.accumulation.variable_set import check_known, check_pairs
from whygrad.training.accumulation.window import Window


class WindowUpdates:
    """One window, the settings it follows, and the optimizer around the one it updates with."""

    def __init__(self, settings: Settings, wrapper: Any) -> None:
        self.settings = settings
        self._wrapper = wrapper
        self.strategy = tf.distribute.get_strategy() if tf.distribute.has_strategy() else None
        skips = settings.nonfinite == "microbatch"
        self.window = Window(steps=settings.steps, buffer_dtype=settings.buffer_dtype, skips=skips)
        self.absent: list[int] = []
        self._flushes: dict[tuple[int, ...], Any] = {}

    def build(self, variables: Sequence[Any]) -> None:
        """Under a strategy buffers are made here: inside a replica it would be too late."""
        if self.strategy is not None and not self.window.buffers:
            self.window.create([None] * len(variables), variables)

    def microbatch(self, gradients: Sequence[Any], variables: Sequence[Any], weight: Any, owner: Any) -> None:
        """Add a micro-batch, and update if it fills the window. A wrong call raises before anything changes."""
        check_pairs(gradients, variables)
        check_known(owner, variables)
        self._check_replicas()
        share = share_of(self.settings.weight, self.settings.reduction, weight)
        self.window.prepare(gradients, variables)
        self.absent = self.window.absent_in(gradients, variables)
        if self.settings.nonfinite == "window":
            self.window.add(gradients, variables, share)
        else:
            choose(
                _all_finite(gradients),
                lambda: self.window.add(gradients, variables, share),
                lambda: self._skip(list(gradients), list(variables)),
            )
        self._update_if_full()

    def flush(self) -> bool:
        """Update with what a part-filled window holds; False if it is empty. Called outside of any graph."""
        if self.window.is_empty_now():
            return False
        absent = tuple(self.window.never_touched())
        if self.strategy is None:
            self._close(absent)
        else:
            self._flush_replicas(absent)
        return True

    def drop(self) -> None:
        """Forget a part-filled window."""
        if self.strategy is None:
            self.window.reset()
        else:
            self.strategy.run(self.window.reset)

    def end_of_epoch(self) -> None:
        """Treat a part-filled window as `partial` says."""
        if self.settings.partial == "apply":
            self.flush()
        elif self.settings.partial == "drop":
            self.drop()

    def _update_if_full(self) -> None:
        def update(close: Callable[[Sequence[int]], None]) -> None:
            full = self.window.first_replica(self.window.microbatches) >= self.settings.steps
            choose(full, lambda: self.window.close(self.absent, close), lambda: None)

        if self.strategy is None:
            update(self._close)
            return
        # A cond in a replica may not hold the merge_call that an optimizer's update is: ask, then go back.
        context = tf.distribute.get_replica_context()
        context.merge_call(lambda strategy: update(on_every_replica(self._close)))

    def _flush_replicas(self, absent: tuple[int, ...]) -> None:
        strategy = self.strategy
        assert strategy is not None
        if absent not in self._flushes:  # in a graph: eagerly, replicas run one op at a time
            self._flushes[absent] = tf.function(lambda: strategy.run(lambda: self._close(absent)), autograph=False)
        self._flushes[absent]()

    def _close(self, without: Sequence[int]) -> None:
        def send(gradients: list[Any], variables: list[Any]) -> None:
            before = self.loss_scale()
            self._wrapper.hand_over(for_optimizer(gradients, self._wrapper.wrapped), variables)
            if before is not None:
                lowered = self.loss_scale() < before  # that is how a window with a NaN was left out
                self.window.dropped.assign_add(tf.where(lowered, self.window.kept(), 0))

        def deliver() -> None:
            self.window.deliver(send, without=without)

        if self.settings.nonfinite == "window":
            deliver()
        else:
            choose(self.window.kept() > 0, deliver, self.window.reset)

    def loss_scale(self) -> Any:
        """None without dynamic loss scaling."""
        return compat.dynamic_scale_of(self._wrapper.wrapped)

    def _skip(self, gradients: list[Any], variables: list[Any]) -> None:
        """Leave a micro-batch out, and have gradients that are not finite lower the loss scale."""
        before = self.loss_scale()
        if before is not None:
            iterations = tf.identity(compat.native(self._wrapper.iterations))
            self._wrapper.hand_over(gradients, variables)  # it lowers its scale and updates nothing
            if self._wrapper.UNSCALES_IN_APPLY:
                self.window.rescale(self.loss_scale() / before)  # the sums are in the old scale
            else:  # tf_keras counts it as an iteration, and has unscaled before
                self._wrapper.iterations.assign(iterations)
        self.window.skip()
        self.window.dropped.assign_add(1)

    def _check_replicas(self) -> None:
        self.window.check_replicas(
            "the optimizer", help="call wg.accumulate and build the model inside `with strategy.scope():`"
        )
        if self.strategy is not None and self.settings.nonfinite == "microbatch":
            raise AccumulationError(
                "nonfinite='microbatch' does not work under a tf.distribute strategy",
                help="use nonfinite='window': replicas must agree on what is left out",
            )


def _all_finite(gradients: Sequence[Any]) -> Any:
    parts = [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients if g is not None]
    return tf.reduce_all([tf.reduce_all(tf.math.is_finite(part)) for part in parts])
