"""`wg.Accumulator`: gradient accumulation for a training loop of one's own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from whygrad.arguments import check_choice, check_module_name
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.errors import AccumulationError, EmptyWindowError, MicrobatchWeightError
from whygrad.training.accumulation.arguments import as_weight, check_steps, check_weight, in_graph_check
from whygrad.training.accumulation.replicated import for_optimizer, on_every_replica
from whygrad.training.accumulation.variable_set import check_known, check_pairs
from whygrad.training.accumulation.window import Share, Window
from whygrad.training.replicas import across_replicas
from whygrad.training.wrapping.delegating import check_optimizer

_EMPTY = "there is nothing to apply: no micro-batch was added since the last update"
_EMPTY_HELP = "call add(gradients, variables, weight=...) for each micro-batch, and apply when `ready`"


class Accumulator(tf.Module):  # type: ignore[misc]
    """Sums the gradients of micro-batches so that one update equals the big batch's.

    `reduction` says what each loss is: with `"mean"` a mean over `weight` examples (or tokens), with `"sum"` a sum.
    `steps` is the number of micro-batches after which it is `ready`; without it, one is enough.
    `buffer_dtype="float32"` sums float16 and bfloat16 gradients in float32. `name` is that of the module.
    Works in and out of `tf.function`; save it with `tf.train.Checkpoint(accumulator=...)`, also half-full.
    Under a `tf.distribute` strategy, make it in its scope. A `"mean"` is then what `tf.nn.compute_average_loss` gives:
    the part of this replica in the mean over all of them.

    >>> accumulator = wg.Accumulator(steps=4)
    >>> for x, y in microbatches:
    ...     with tf.GradientTape() as tape:
    ...         loss = tf.reduce_mean((model(x) - y) ** 2)
    ...     variables = model.trainable_variables
    ...     accumulator.add(tape.gradient(loss, variables), variables, weight=len(x))
    ...     if accumulator.ready:
    ...         accumulator.apply(optimizer)
    """

    def __init__(
        self, steps: int | None = None, *, reduction: str = "mean", buffer_dtype: Any = None, name: str = "accumulator"
    ) -> None:
        check_module_name(name, error=AccumulationError)
        super().__init__(name=name)
        if steps is not None:
            check_steps(steps)
        check_choice("reduction", reduction, ("mean", "sum"), error=AccumulationError)
        dtype = getattr(buffer_dtype, "name", buffer_dtype)  # `tf.float32` is as good as its name
        check_choice("buffer_dtype", dtype, (None, "float32", "float64"), error=AccumulationError)
        self._steps = steps
        self._summed = reduction == "sum"
        self._weighted: bool | None = None  # whether the micro-batches of the window came with a weight
        self._absent: list[int] = []  # variables that had no gradient yet when `add` was last traced
        self._strategy = tf.distribute.get_strategy()
        self.window = Window(steps=steps, buffer_dtype=buffer_dtype)

    @unconverted
    def add(self, gradients: Iterable[Any], variables: Iterable[Any], weight: Any = None) -> None:
        """Add one micro-batch; a wrong call raises and leaves the window as it was.

        `weight`: how many examples or tokens the mean was taken over. Leave it out only if all are of one size.
        """
        gradients, variables = check_pairs(gradients, variables)
        self.window.check_replicas("the Accumulator", help="make it inside `with strategy.scope():`")
        self._check_weight(weight)
        self._prepare(gradients, variables)
        if self._summed or weight is None:
            share = Share(summed=self._summed)
        else:
            share = Share(weight=as_weight(weight))
        self._absent = self.window.absent_in(gradients, variables)
        self._weighted = weight is not None
        self.window.add(gradients, variables, share)

    @property
    def microbatches(self) -> Any:
        """How many micro-batches the window holds: a number, or a tensor inside `tf.function`."""
        count = self.window.first_replica(self.window.microbatches)
        return int(count.numpy()) if tf.executing_eagerly() else count.read_value()

    @property
    def ready(self) -> Any:
        """Whether the window is full: a bool, or a tensor inside `tf.function`, where `if` understands it."""
        return self.microbatches >= (self._steps or 1)

    @property
    def notes(self) -> tuple[str, ...]:
        """Variables that had no gradient in some micro-batches, and how often."""
        return self.window.notes()

    @unconverted
    def gradients(self) -> list[tuple[Any, Any]]:
        """What `apply` would hand to the optimizer, as (gradient, variable) pairs."""
        if tf.executing_eagerly() and not self.microbatches:
            raise EmptyWindowError(_EMPTY, help=_EMPTY_HELP)
        gradients = self.window.gradients(scaled=not self._summed)
        return list(zip(gradients, self.window.variables_held, strict=True))

    @unconverted
    def apply(self, optimizer: Any) -> None:
        """Update with the accumulated gradient and start a new window.

        Under a strategy each replica adds to its own part, and they sum these here, once. In a `tf.function`, a step
        that is run by `strategy.run` may not ask `if accumulator.ready`: ask around it, or use `wg.accumulate`.
        """
        if not self.window.buffers or (tf.executing_eagerly() and not self.microbatches):
            raise EmptyWindowError(_EMPTY, help=_EMPTY_HELP)
        check_optimizer(optimizer, error=AccumulationError)
        check_known(optimizer, self.window.variables_held)
        compat.build(optimizer, self.window.variables_held)

        def send(gradients: list[Any], variables: list[Any]) -> None:
            optimizer.apply_gradients(list(zip(for_optimizer(gradients, optimizer), variables, strict=True)))

        def deliver(without: Sequence[int]) -> None:
            self.window.deliver(send, without=without, scaled=not self._summed)

        self._weighted = None
        if self.window.replicas == 1:
            self._close(deliver)
            return
        with contextlib.nullcontext() if tf.distribute.has_strategy() else self._strategy.scope():
            across_replicas(lambda: self._close(on_every_replica(deliver)))

    @unconverted
    def reset(self) -> None:
        """Drop the micro-batches of this window."""
        self._weighted = None
        self.window.reset()

    def _close(self, deliver: Callable[[Sequence[int]], None]) -> None:
        count = self.window.first_replica(self.window.microbatches).read_value()
        with tf.control_dependencies([] if tf.executing_eagerly() else [in_graph_check(count > 0, _EMPTY, count)]):
            self.window.close(self._absent, deliver)

    def _prepare(self, gradients: list[Any], variables: list[Any]) -> None:
        if self.window.replicas == 1 or not self.window.needs_buffers(variables):
            self.window.prepare(gradients, variables)
            return

        def create() -> None:
            with tf.init_scope(), self._strategy.scope():  # inside a replica it would be one variable for each
                self.window.create([None] * len(variables), variables)

        across_replicas(create)

    def _check_weight(self, weight: Any) -> None:
        if weight is not None:
            check_weight(weight)
        if self._weighted in (None, weight is not None) or self._summed:
            return
        if not self.window.is_empty_now():
            had, has = ("a weight", "none") if self._weighted else ("no weight", "one")
            raise MicrobatchWeightError(
                f"the micro-batches before had {had}, this one has {has}",
                help="pass weight= for every micro-batch, or for none",
            )
