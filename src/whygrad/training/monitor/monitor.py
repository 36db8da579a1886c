"""`Monitor`: a Keras callback that records every step of `fit`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, Final

import tensorflow as tf

from whygrad.arguments import check_path, check_text, check_type, check_whole
from whygrad.backends import DISTRIBUTIONS
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.notice import warn
from whygrad.store import Run, RunWriter
from whygrad.training.guard.guard import ModelGuard
from whygrad.training.monitor.collector import Collector, Executions, ProgressLine
from whygrad.training.monitor.monitored_function import MonitoredFunction, monitored
from whygrad.training.monitor.step_recorder import StepSettings
from whygrad.training.replicas import is_coordinated, this_worker
from whygrad.training.run_diagnosis import DEFAULT, Thresholds, store_diagnosis, store_ledger

_HISTOGRAMS_EVERY: Final = 100  # recorded steps


class Monitor(compat.CallbackWithoutLogs, tf.keras.callbacks.Callback):  # type: ignore[misc]
    """Records the gradients of every variable at every step of `fit`, and what the optimizer makes of them.

    `model.fit(..., callbacks=[whygrad.Monitor()])`, then `whygrad show latest`. Of each variable: sum, norm, minimum,
    maximum, zeros and non-finite elements of the gradient, its norm after clipping, the norm of the weight and of the
    update; of each step: loss, learning rate, loss scale, duration, and what the training step returns. Several
    `fit` calls with one Monitor are one run. The training is bit for bit the same.

    Under a `tf.distribute` strategy the numbers are those of the gradient that the optimizer applies, summed over all
    replicas. A replica whose gradients alone are not finite is named. Each worker of a cluster writes a run of its own,
    and `whygrad show` puts them side by side.

    Args:
        name: what to call the run, besides its id.
        folder: where to keep it; `.whygrad` unless `WHYGRAD_DIR` says otherwise.
        every: record one step in so many.
        closely_every: of variables with more than 8192 elements, sum, norm and finiteness of the gradient are taken at
            each recorded step, and minimum, maximum, zeros, weight norm and update norm at one in so many. 1: at each,
            which costs more.
        histograms: at one recorded step in so many, count how the elements of each gradient, weight (after the update)
            and update are spread; of more than 8192 elements, so many evenly spaced ones are counted. True: one in 100.
        per_replica: record the gradients of each replica of this process as well, before they are summed.
        progress: write a line to the terminal: step, loss, norm of all gradients, worst variable.
        thresholds: from where on the numbers of the run are worth a finding.
        guard: what to do with updates that are not finite, `"skip"`, `"zero"`, `"rollback"` or `"raise"`, as
            `whygrad.guard` does; None: they are applied. Only then is the training another one, and only where one is.
        patience: how many such steps in a row end the training.
    """

    def __init__(
        self,
        name: str = "",
        *,
        folder: str | os.PathLike[str] | None = None,
        every: int = 1,
        closely_every: int = 16,
        histograms: int | bool = False,
        per_replica: bool = False,
        progress: bool = False,
        thresholds: Thresholds = DEFAULT,
        guard: str | None = None,
        patience: int | None = 10,
    ) -> None:
        super().__init__()
        check_text("name", name)
        check_path("folder", folder)
        check_whole("every", every, help="`every=16` records one step in 16")
        check_whole("closely_every", closely_every, help="`closely_every=16` looks closely at one step in 16")
        if not isinstance(histograms, bool):
            check_whole("histograms", histograms, help="`histograms=100` takes them at one recorded step in 100")
        if patience is not None:
            check_whole("patience", patience, help="`patience=None` never stops the training")
        check_type("thresholds", thresholds, Thresholds, help="leave it out, or pass a `Thresholds(...)`")
        self.name = name
        self._folder = folder
        counted = _HISTOGRAMS_EVERY if histograms is True else histograms or None
        self._settings = StepSettings(every, closely_every, counted, per_replica)
        self._progress = ProgressLine() if progress else None
        self._thresholds = thresholds
        self._writer: RunWriter | None = None
        self._function: MonitoredFunction | None = None
        self._collector: Collector | None = None
        self._executions = Executions()
        self._since_drain = 0
        self._steps_done = 0
        self._hooks = Hooks()
        self._guard = None if guard is None else ModelGuard(guard, patience)

    @property
    def run(self) -> Run | None:
        """The recorded run, also while it is recorded; None before the first step."""
        path = None if self._writer is None else self._writer.path
        return None if path is None else Run(path)

    @property
    def run_id(self) -> str | None:
        return None if self._writer is None else self._writer.id or None

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        if self._guard is not None:  # not behind `safely`: what it guards against must not go by unguarded
            self._guard.put_on(self.model)
        self._hooks.safely(self._start)

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._hooks.safely(self._note_epoch, epoch, logs)

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        self._hooks.safely(self._stop, "finished", None)

    def _start(self) -> None:
        model = self.model
        self._stop("interrupted", None)  # a `fit` that ended without telling
        unable = _not_recorded(model)
        if unable is not None:
            warn(f"Monitor cannot record {unable}: this `fit` goes on without it")
            return
        self._writer = self._open_run(model)
        self._executions = Executions()
        self._since_drain = 0
        self._function = monitored(model, self._settings)
        self._collector = Collector(self._function.recorder, self._executions, self._writer, self._steps_done)
        self._function.install(partial(self._hooks.safely, self._after_execution), self._on_failure)
        self._writer.add_source(self._collector.drain)

    def _open_run(self, model: Any) -> RunWriter:
        path = None if self._writer is None else self._writer.path
        if path is not None:
            return RunWriter.resume(path, frameworks=DISTRIBUTIONS)
        facts: dict[str, Any] = {"model": str(getattr(model, "name", "")), "every": self._settings.every}
        worker = this_worker()
        if worker is not None:
            facts["worker"] = asdict(worker)
        return RunWriter.start(self._folder, name=self.name, facts=facts, frameworks=DISTRIBUTIONS)

    def _after_execution(self, begun: float, seconds: float) -> None:
        assert self._collector is not None
        batches = compat.steps_per_execution(self.model)
        self._executions.add(batches, begun, seconds)
        self._since_drain += batches
        if self._since_drain * 2 >= self._collector.room * self._settings.every:
            self._since_drain = 0
            self._collector.drain()
        if self._progress is not None:
            self._progress.show(self._collector.glimpse)

    def _note_epoch(self, epoch: int, logs: Mapping[str, Any] | None) -> None:
        if self._collector is None or self._writer is None:
            return
        self._executions.correct(int(self._collector.recorder.counter.numpy()))
        numbers = {str(key): float(value) for key, value in (logs or {}).items()}
        step = self._steps_done + self._executions.batches - 1
        self._note_units()
        self._writer.add_event("epoch", {"epoch": epoch, **numbers}, step)

    def _note_units(self) -> None:
        assert self._collector is not None
        assert self._writer is not None
        silent: dict[str, tuple[int, int]] = {}
        for watch in self._collector.recorder.units.values():
            silent |= watch.silent_since(self._executions.batches // 2)
        if silent:
            self._writer.set_fact("silent_units", silent)

    def _on_failure(self, error: BaseException) -> None:
        self._hooks.safely(self._stop, "failed", f"{type(error).__name__}: {str(error).splitlines()[0][:200]}")

    def _stop(self, status: str, failure: str | None) -> None:
        if self._collector is None or self._writer is None or self._function is None:
            return
        self._function.remove()
        if self._guard is not None:
            self._guard.take_off(self._writer)
        self._writer.remove_source(self._collector.drain)
        self._executions.correct(int(self._collector.recorder.counter.numpy()))
        self._collector.drain(final=True)
        if self._progress is not None:
            self._progress.show(self._collector.glimpse, final=True)
        self._note_units()
        self._steps_done = self._collector.last_step + 1
        if self._collector.lost:
            self._writer.set_fact("overwritten", self._collector.lost)
        if self._collector.recorder.graph is not None:
            self._writer.set_graph(0, self._collector.recorder.graph)
        store_ledger(self._writer)
        found = store_diagnosis(self._writer, self._thresholds)
        self._writer.close(status, failure)
        alone = self._collector.replicas.first
        self._collector = self._function = None
        if alone is not None:
            print(f"whygrad: {alone}", file=sys.stderr)
        if found:
            plural = "" if len(found) == 1 else "s"
            print(
                f"whygrad: {len(found)} finding{plural} in run {self.run_id}: `whygrad show {self.run_id}`",
                file=sys.stderr,
            )


def _not_recorded(model: Any) -> str | None:
    """What kind of step it is that cannot be recorded; None for any other."""
    strategy = getattr(model, "distribute_strategy", None)
    replicas = getattr(strategy, "num_replicas_in_sync", 1)
    if is_coordinated(strategy):
        return "steps that a coordinator sends to workers"
    if replicas > 1 and model.jit_compile and not model.run_eagerly:
        return f"a step that XLA compiles for {replicas} replicas"
    return None
