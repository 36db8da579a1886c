"""What all planned edits share: a step counter, a callback's hooks, and the way to call them in a loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from whygrad.arguments import check_module_name, check_number, check_whole
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.ledger.writer import writing_as
from whygrad.backends.tensorflow.measure.graph_building import choose, unconverted
from whygrad.training.replicas import across_replicas, scope_of
from whygrad.training.variables import variable_list

Logs = Mapping[str, Any] | None


class FitCallback(compat.CallbackWithoutLogs):
    """Every hook of a callback, doing nothing; one object serves both Kerases."""

    model: Any = None
    params: Any = None
    hears_training_batches = True

    def set_params(self, params: Any) -> None:
        self.params = params

    def set_model(self, model: Any) -> None:
        self.model = model

    def _nothing(self, *args: Any, **kwargs: Any) -> None: ...

    on_train_begin = on_test_begin = on_predict_begin = on_epoch_begin = _nothing
    on_train_end = on_test_end = on_predict_end = on_epoch_end = _nothing
    on_train_batch_begin = on_test_batch_begin = on_predict_batch_begin = _nothing
    on_train_batch_end = on_test_batch_end = on_predict_batch_end = _nothing
    on_batch_begin = on_batch_end = _nothing  # Keras 2 still calls these old names for `on_train_batch_...`


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Variables that an edit writes to but that are not its own: a checkpoint of the edit leaves them out."""

    variables: Sequence[Any]
    owner: Any = None

    @property
    def optimizer(self) -> Any:
        """The optimizer that was given, or that of the model; `owner` is the two of them."""
        given, model = self.owner
        return given if given is not None else getattr(model, "optimizer", None)


class PlannedEdit(tf.Module, FitCallback):  # type: ignore[misc]
    """A change to variables that belongs to the training.

    Give it to `fit` as a callback, or call `edit.step()` after each update of your own loop, at once or inside
    `tf.function`, with or without `jit_compile`, on one device or in a replica of a distributed step. Its counter and
    its own variables are kept by `tf.train.Checkpoint(edit=...)`.

    In `fit` it acts when Keras calls back: after every step, and with `steps_per_execution=k` after every k-th, with
    the effect of all k on its counter.
    """

    def __init__(self, variables: Iterable[Any], *, every: int = 1, name: str | None = None) -> None:
        check_module_name(name)
        super().__init__(name=name)
        check_whole("every", every, help="`every` is a number of steps")
        self._every = int(every)
        self._held = Held(variable_list(variables))
        self._batch, self._iterations = -1, 0
        with tf.init_scope(), scope_of(self._held.variables):
            self.steps = tf.Variable(
                0, dtype=tf.int64, trainable=False, name="steps", aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
            )

    @unconverted
    def step(self, count: Any = 1) -> None:
        """Tell that `count` updates were made, and do what is due."""
        if not tf.is_tensor(count):
            check_number("count", count, "a number of steps", lambda number: number >= 0)
        with tf.name_scope(type(self).__name__), writing_as(f"edit.{type(self).__name__}"):
            across_replicas(lambda: self._advance(tf.cast(count, tf.int64)))

    __call__ = step

    def _advance(self, count: Any) -> None:
        self.steps.assign_add(count)
        now = tf.identity(self.steps.read_value() if hasattr(self.steps, "read_value") else self.steps)
        if self._every == 1:
            self._act(now, count)
            return
        due = now // self._every - (now - count) // self._every
        choose(due > 0, lambda: self._act(now, due), lambda: None)

    def _act(self, now: Any, times: Any) -> None:
        """Change the variables: `now` steps were made, and the edit is due so many `times`."""
        raise NotImplementedError

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        self._batch = -1
        self._iterations = self._count()

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        self.step(self._made(batch))

    def _made(self, batch: int) -> int:
        """How many steps Keras made since it called last: it names the last one of a full execution, or the first."""
        together = compat.steps_per_execution(self.model)
        last = batch if together == 1 or batch % together else batch + together - 1
        made, self._batch = last - self._batch, last
        if made > 1:
            before, self._iterations = self._iterations, self._count()
            made = min(made, self._iterations - before) if self._iterations > before else made
        return max(made, 1)

    def _count(self) -> int:
        iterations = getattr(getattr(self.model, "optimizer", None), "iterations", None)
        return 0 if iterations is None else int(iterations.numpy())
