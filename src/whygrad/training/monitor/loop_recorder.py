"""Recording a training loop that is written by hand: one call a step, eagerly or inside `tf.function`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import tensorflow as tf

from whygrad.arguments import check_text
from whygrad.backends import DISTRIBUTIONS
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.backends.tensorflow.measure.hidden_variable import hidden_variable
from whygrad.backends.tensorflow.measure.step_means import Means
from whygrad.diagnostics import Diagnostic
from whygrad.store import Rows, RunWriter
from whygrad.training.monitor.ring import Ring, halves, whole
from whygrad.training.monitor.row_layout import RowLayout, Section, facts_of
from whygrad.training.monitor.step_probe import Application, AskedGradient, current_graph
from whygrad.training.monitor.step_row import application_row, weight_norms
from whygrad.training.replicas import across_replicas, current_replica
from whygrad.training.run_diagnosis import store_diagnosis, store_ledger
from whygrad.training.variables import check_lengths, current_rate, gradient_list, variable_list

_STEP: Final = ("step, high part", "step, low part")  # of the step's number, which float32 cannot hold whole
_RING_ROWS: Final = 512
_CLOSELY_EVERY: Final = 16  # steps


class LoopRecorder:
    """Records what it is given, in a run of its own.

    `recorder.record(gradients=..., variables=..., loss=...)` once a step. The norm of an update is that of the change
    since the call before. Nothing here raises: a failure of ours is told once, and the loop goes on. In a step that
    `strategy.run` runs on several replicas, their gradients are summed for it once more.
    """

    def __init__(self, name: str = "", *, folder: str | os.PathLike[str] | None = None) -> None:
        self._writer = RunWriter.start(folder, name=name, frameworks=DISTRIBUTIONS)
        self._places: dict[object, _Place] = {}
        self._hooks = Hooks()
        self._writer.add_source(self._drain)

    @unconverted
    def record(
        self,
        *,
        gradients: Sequence[Any],
        variables: Sequence[Any],
        loss: Any = None,
        step: Any = None,
        learning_rate: Any = None,
        applied: Sequence[Any] | None = None,
        track: str = "gradients",
    ) -> None:
        """Record one step.

        Args:
            gradients: what `tape.gradient` returned; None for a variable without.
            variables: the variables they belong to, in the same order.
            loss: what they are gradients of.
            step: its number; without it, calls are counted.
            learning_rate: a number, or the optimizer.
            applied: the gradients as they were applied, where they were clipped.
            track: what to call this optimizer, where a loop has several.
        """
        gradients, variables = gradient_list(gradients), variable_list(variables)
        check_lengths(gradients, variables)
        applied = None if applied is None else gradient_list(applied)
        check_text("track", track)
        if learning_rate is not None:
            current_rate(learning_rate)
        if current_replica() is not None:
            gradients, applied, loss = _summed(gradients, applied, loss)
        across_replicas(
            lambda: self._hooks.safely(self._record, gradients, variables, loss, step, learning_rate, applied, track)
        )

    def close(self, status: str = "finished", found: Sequence[Diagnostic] = ()) -> None:
        """End the run; all of it is on the disk then, with what was found otherwise and what its numbers show."""
        self._hooks.safely(self._finish, found)
        self._writer.remove_source(self._drain)
        self._writer.close(status)

    def _finish(self, found: Sequence[Diagnostic]) -> None:
        self._drain()
        known = {diagnostic.rule for diagnostic in found}
        for diagnostic in found:
            self._writer.add_diagnostic(diagnostic)
        store_ledger(self._writer)
        store_diagnosis(self._writer, leave=known)

    def _record(
        self, gradients: list[Any], variables: list[Any], loss: Any, step: Any, rate: Any, applied: Any, track: str
    ) -> None:
        present = tuple(gradient is not None for gradient in gradients)
        key = (track, tuple(id(compat.native(v)) for v in variables), present)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = _Place(track, variables, present)
        rate = None if rate is None else current_rate(rate)
        number = None if step is None else tf.cast(step, tf.int64)
        given = None if applied is None else [g for g in applied if g is not None]
        held = [gradient for gradient in gradients if gradient is not None]
        if tf.executing_eagerly():
            waiting = place.note_time()
            place.compiled(held, given, loss, number, rate)
            if waiting * 2 >= _RING_ROWS:
                self._drain()
        else:
            place.write(held, given, loss, number, rate)

    def _drain(self) -> None:
        for place in list(self._places.values()):
            place.drain(self._writer)


def _summed(gradients: list[Any], applied: list[Any] | None, loss: Any) -> tuple[list[Any], list[Any] | None, Any]:
    """The gradients and the loss of all replicas together."""
    everything = [*gradients, *(applied or ()), loss]
    present = [each for each in everything if each is not None]
    total = iter(tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, present))
    found = [None if each is None else next(total) for each in everything]
    return found[: len(gradients)], None if applied is None else found[len(gradients) : -1], found[-1]


class _Place:
    """The variables of one call, the ring their rows go to, and their values at the call before."""

    def __init__(self, track: str, variables: list[Any], present: tuple[bool, ...]) -> None:
        wide = any(compat.native(variable).dtype == tf.float64 for variable in variables)
        infos = facts_of(variables, [not here for here in present])
        self.layout = RowLayout(_STEP, (Section(track, infos),), "float64" if wide else "float32")
        self._owners = [variable for variable, here in zip(variables, present, strict=True) if here]
        self._variables = [compat.native(variable) for variable in self._owners]
        self._previous = [
            hidden_variable(np.full(v.shape, np.nan, v.dtype.as_numpy_dtype), name="previous") for v in self._variables
        ]
        self._ring = Ring(self.layout.width, _RING_ROWS, self.layout.dtype)
        self._counter = hidden_variable(0, dtype=tf.int64, name="records")
        self._number: int | None = None  # of the track
        self._since = 0
        self._times: dict[int, tuple[float, float]] = {}
        self._last: float | None = None
        self._calls = 0
        self.compiled = tf.function(self.write, autograph=False)

    def note_time(self) -> int:
        """Note when an eager call was made; how many there were since the last drain."""
        now = time.time()
        self._times[self._calls] = (now, float("nan") if self._last is None else now - self._last)
        self._last = now
        self._calls += 1
        self._since += 1
        return self._since

    def write(self, gradients: list[Any], applied: list[Any] | None, loss: Any, step: Any, rate: Any) -> None:
        """Add the ops that measure one step and write its row."""
        turn = tf.identity(self._counter)
        number = turn if step is None else step
        dtype = tf.as_dtype(self.layout.dtype)
        means = Means(dtype, closely=turn % _CLOSELY_EVERY == 0)
        now = [tf.convert_to_tensor(variable) for variable in self._variables]
        application = Application(
            optimizer=None,
            gradients=gradients,
            variables=self._variables,
            owners=self._owners,
            graph=current_graph(),
            before=[tf.convert_to_tensor(previous) for previous in self._previous],
            weight_norms=weight_norms(now, means),
            rate=rate,
            clipped=applied,
        )
        asked = [] if loss is None else [AskedGradient(loss, {id(v): None for v in self._variables})]
        row = application_row(application, asked, means, None)
        self._ring.write(turn, turn, tf.concat([tf.cast(halves(number), dtype), row], 0))
        for previous, value in zip(self._previous, now, strict=True):
            previous.assign(value)
        self._counter.assign_add(1)

    def drain(self, writer: RunWriter) -> None:
        numbers, data = self._ring.drain()
        self._since = 0
        if not len(numbers):
            return
        track = self.layout.sections[0].optimizer
        if self._number is None:
            (layout,) = self.layout.tracks().values()
            self._number = writer.add_track(replace(layout, scalars=layout.scalars[: -len(_STEP)]))
        nothing = (time.time(), float("nan"))
        host = np.array([(*self._times.pop(int(n), nothing), n) for n in numbers], np.float64)
        rows = self.layout.unpack(numbers, data, host)[track]
        writer.append(self._number, Rows(whole(data), rows.scalars[:, : -len(_STEP)], rows.values))
