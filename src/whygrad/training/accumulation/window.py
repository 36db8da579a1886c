"""The micro-batches since the last update: one buffer a variable, and how much they weigh together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow.measure.graph_building import Factor, choose
from whygrad.errors import AccumulationError
from whygrad.training.accumulation.gradient_buffer import Buffer, make_buffer
from whygrad.training.accumulation.variable_set import VariableSet, check_drift
from whygrad.training.accumulation.window_state import check_restored, load_pending, restoring
from whygrad.training.replicas import refuse_coordinated
from whygrad.training.variables import name_of

Send = Callable[[list[Any], list[Any]], Any]  # gradients, variables -> an update of the optimizer


@dataclass(frozen=True, slots=True)
class Share:
    """What a micro-batch counts for: a mean over `weight` examples, one of equals (None), or a part of a sum."""

    weight: Any = None
    summed: bool = False


class Untracked:
    """Keeps a value out of TensorFlow's automatic tracking, which would save the model's variables twice."""

    def __init__(self) -> None:
        self.variables: VariableSet | None = None
        self.pending: dict[str, Any] = {}  # saved arrays that wait for the buffers they belong to


class Window(tf.Module):  # type: ignore[misc]
    """Running sums that live in variables, so that graphs, checkpoints and replicas see the same window.

    A mean is kept as the sum of `gradient * weight`; in half precision, which would overflow, `weight` is in units of
    the first one. Under a strategy with several replicas each keeps its own part.
    """

    buffers: Sequence[Buffer] = ()  # no list yet: a checkpoint read early waits for the first assignment

    def __init__(self, *, steps: int | None, buffer_dtype: Any = None, skips: bool = False) -> None:
        super().__init__(name="accumulation_window")
        refuse_coordinated("accumulation", AccumulationError)
        self._steps = steps
        self._skips = skips  # whether `skip` will be called; a graph without needless variables is a faster one
        self._dtype = None if buffer_dtype is None else tf.as_dtype(buffer_dtype)
        self.held = Untracked()
        self.replicas = tf.distribute.get_strategy().num_replicas_in_sync
        self.microbatches = self._counter("microbatches", tf.int64)
        self.skipped = self._counter("skipped", tf.int64)  # of these, left out as non-finite
        self.dropped = self._counter("dropped", tf.int64)  # micro-batches ever that were left out
        self.total = self._counter("total", tf.int64)  # micro-batches that were added in all windows before
        self.unit = self._counter("unit", tf.float64)
        self.weight = tf.Variable(0.0, dtype=tf.float64, trainable=False, name="weight", **self._placement())

    def check_replicas(self, owner: str, help: str) -> None:
        """Refuse to run on another number of replicas than it was made for."""
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        if replicas != self.replicas:
            raise AccumulationError(f"{owner} was made for {self.replicas} replicas and runs on {replicas}", help=help)

    @property
    def variables_held(self) -> tuple[Any, ...]:
        return () if self.held.variables is None else self.held.variables.variables

    def prepare(self, gradients: Sequence[Any], variables: Sequence[Any]) -> None:
        """Make buffers for these variables, or check that they are the window's; raises before anything changes."""
        if self.needs_buffers(variables):
            self.create(gradients, variables)
        else:
            assert self.held.variables is not None
            check_drift(self.held.variables, variables)

    def needs_buffers(self, variables: Sequence[Any]) -> bool:
        """Whether there are none yet; between windows the variables may change."""
        held = self.held.variables
        return held is None or (not held.same_as(variables) and self.is_empty_now())

    def create(self, gradients: Sequence[Any], variables: Sequence[Any]) -> None:
        """New buffers; a gradient of None says that it is not known whether it will be sparse."""
        with tf.init_scope():
            buffers = [
                make_buffer(v, g, steps=self._steps, dtype=self._dtype, placement=self._placement())
                for g, v in zip(gradients, variables, strict=True)
            ]
            missing = self._counter("missing", tf.int64, [len(buffers)])
            with restoring(len(buffers)):  # a checkpoint that was read before fills them as they are assigned
                self.missing = missing
                self.buffers = buffers
            load_pending(self)
            check_restored(self)
        self.held.variables = VariableSet.of(variables)

    def add(self, gradients: Sequence[Any], variables: Sequence[Any], share: Share) -> None:
        """Count one more micro-batch; `prepare` must have been called with the same arguments."""
        pairs = list(zip(self._positions(variables), gradients, strict=True))
        with tf.control_dependencies([] if share.weight is None else [share.weight]):  # a bad weight stops all of it
            factor = self._weigh(share)
            for position, gradient in pairs:
                if gradient is not None:
                    self.buffers[position].add(gradient, factor)
            self.microbatches.assign_add(1, read_value=False)
            absent = [position for position, gradient in pairs if gradient is None]
            if absent:
                counts = tf.scatter_nd([[p] for p in absent], tf.ones([len(absent)], tf.int64), [len(self.buffers)])
                self.missing.assign_add(counts, read_value=False)

    def skip(self) -> None:
        """Count a micro-batch that is left out."""
        self.microbatches.assign_add(1)
        self.skipped.assign_add(1)

    def kept(self) -> Any:
        """How many of the window's micro-batches count."""
        return self.microbatches - self.skipped if self._skips else self.microbatches.read_value()

    def gradients(self, *, scaled: bool = True, taken: bool = False) -> list[Any]:
        """The accumulated gradient of each variable; sparse where the micro-batches' were; `taken`: and reset."""
        scale = self._scale() if scaled else None
        pairs = zip(self.buffers, self.variables_held, strict=True)
        return [(b.take if taken else b.gradient)(scale, tf.as_dtype(v.dtype)) for b, v in pairs]

    def deliver(self, send: Send, *, without: Sequence[int] = (), scaled: bool = True) -> None:
        """Send the accumulated gradients, None for those `without` any, and begin a new window.

        Outside of a graph the window is kept if the update fails.
        """
        eager = tf.executing_eagerly()
        gradients = self.gradients(scaled=scaled, taken=not eager)
        send([None if i in without else g for i, g in enumerate(gradients)], list(self.variables_held))
        self.reset(buffers=eager)

    def close(self, absent: Sequence[int], close: Callable[[Sequence[int]], Any]) -> None:
        """Call `close` with the variables that had no gradient: `absent` did not when the step was traced."""
        if tf.executing_eagerly():
            close(self.never_touched())
        elif absent:
            choose(self._any_touched(absent), lambda: close(()), lambda: close(absent))
        else:
            close(())

    def _any_touched(self, positions: Sequence[int]) -> Any:
        """Whether one of these variables had a gradient after all, as known when the graph runs."""
        missing = tf.gather(self.first_replica(self.missing), list(positions))
        return tf.reduce_any(missing < self._added())

    def never_touched(self) -> list[int]:
        """Positions of the variables that had no gradient in any micro-batch so far."""
        if not self.buffers:
            return []
        with tf.init_scope():
            missing, added = self.first_replica(self.missing).numpy(), int(self._added())
        return [i for i, count in enumerate(missing) if count == added]

    def absent_in(self, gradients: Sequence[Any], variables: Sequence[Any]) -> list[int]:
        """Positions without a gradient in this micro-batch, and in all before it."""
        absent = [p for p, g in zip(self._positions(variables), gradients, strict=True) if g is None]
        return sorted(set(absent) & set(self.never_touched())) if absent else []

    def reset(self, *, buffers: bool = True) -> None:
        """Forget the window's micro-batches; `buffers=False`: their sums have been taken."""
        for buffer in self.buffers if buffers else ():
            buffer.reset()
        self.total.assign_add(self.kept(), read_value=False)
        used = [self.microbatches, self.weight, *([self.skipped] * self._skips), *([self.unit] * self._narrow())]
        for variable in used:
            variable.assign(tf.zeros([], variable.dtype), read_value=False)

    def rescale(self, factor: Any) -> None:
        """Multiply what was accumulated, as when the loss scale changes inside a window."""
        for buffer in self.buffers:
            buffer.rescale(factor)

    def is_empty_now(self) -> bool:
        """Whether no micro-batch is waiting, asked outside of any graph."""
        with tf.init_scope():
            return int(self.first_replica(self.microbatches).numpy()) == 0

    def first_replica(self, variable: Any) -> Any:
        return getattr(variable, "values", (variable,))[0]

    def notes(self) -> tuple[str, ...]:
        """Which variables had no gradient, and how often."""
        if not self.buffers:
            return ()
        added = int(self._added())
        counts = self.first_replica(self.missing).numpy()
        return tuple(
            f"`{name_of(variable)}` had no gradient in {int(count)} of {added} micro-batches, counted as zero"
            for variable, count in zip(self.variables_held, counts, strict=True)
            if count
        )

    def _positions(self, variables: Sequence[Any]) -> list[int]:
        assert self.held.variables is not None
        return self.held.variables.positions(variables)

    def _weigh(self, share: Share) -> Any:
        """Note the weight of a micro-batch; what its gradients must be multiplied by, None for one."""
        one = tf.ones([], tf.float64)
        if share.weight is None:
            if share.summed:
                self.weight.assign(one, read_value=False)
            else:
                self.weight.assign_add(one, read_value=False)
            if self._narrow():
                self.unit.assign(one, read_value=False)
            return None
        weight = tf.cast(share.weight, tf.float64)
        self.weight.assign_add(weight, read_value=False)
        if not self._narrow():
            return Factor(weight)
        unit = tf.where(self.unit > 0.0, self.unit, weight)
        self.unit.assign(unit, read_value=False)
        return Factor(tf.math.divide_no_nan(weight, unit))

    def _scale(self) -> Any:
        weight = self.weight.read_value()
        if self.replicas > 1:
            context = tf.distribute.get_replica_context()
            if context is not None:  # across replicas it is read as the sum of all
                weight = context.all_reduce(tf.distribute.ReduceOp.SUM, weight)
            weight /= self.replicas  # Keras divided each replica's loss by their number
        unit = self.unit.read_value() if self._narrow() else tf.ones([], tf.float64)
        return Factor(tf.math.divide_no_nan(unit, weight))

    def _narrow(self) -> bool:
        """Whether a sum could overflow if weights were large; replicas would not agree on a unit."""
        return self.replicas == 1 and any(buffer.dtype.size < 4 for buffer in self.buffers)

    def _added(self) -> Any:
        """How many micro-batches were added ever."""
        first = self.first_replica
        added = first(self.total) + first(self.microbatches)
        return added - first(self.skipped) if self._skips else added

    def _placement(self) -> dict[str, Any]:
        if self.replicas == 1:
            return {}
        return {"synchronization": tf.VariableSynchronization.ON_READ, "aggregation": tf.VariableAggregation.SUM}

    def _counter(self, name: str, dtype: tf.DType, shape: Sequence[int] = ()) -> Any:
        placement = self._placement()
        if placement:
            placement["aggregation"] = tf.VariableAggregation.ONLY_FIRST_REPLICA
        return tf.Variable(tf.zeros(shape, dtype), trainable=False, name=name, **placement)
