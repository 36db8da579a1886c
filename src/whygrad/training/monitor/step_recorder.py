"""Makes a training step record itself: gradients, weights and updates, measured where they are, kept in a ring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.measure.gradient_part import Tensor
from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.backends.tensorflow.measure.hidden_variable import hidden_variable
from whygrad.backends.tensorflow.measure.step_means import Means
from whygrad.backends.tensorflow.measure.unit_watch import UnitWatch, is_watched
from whygrad.store.rows import of_replica
from whygrad.store.writer import packed
from whygrad.training.monitor.optimizer_names import OptimizerNames
from whygrad.training.monitor.replica_shares import contributions, replica_row, shares_of, with_bad_elements
from whygrad.training.monitor.ring import Ring
from whygrad.training.monitor.row_layout import RowLayout, Section, facts_of
from whygrad.training.monitor.step_graph import graph_of
from whygrad.training.monitor.step_histograms import StepHistograms
from whygrad.training.monitor.step_origin import summed
from whygrad.training.monitor.step_probe import Application, StepProbe, current_graph
from whygrad.training.monitor.step_row import (
    SCALARS,
    application_row,
    gradient_table,
    mean_outputs,
    present_of,
    row_width,
    weight_norms,
)
from whygrad.training.replicas import Replica, current_replica

_RING_BYTES: Final = 1 << 20
_RING_BYTES_COMPILED: Final = 1 << 18  # XLA writes a variable anew each time
_LEAST_ROWS: Final = 16
_MOST_ROWS: Final = 512


@dataclass(frozen=True, slots=True)
class StepSettings:
    """What is recorded of a step on several replicas is the summed gradient; `per_replica`: and that of each, too."""

    every: int  # one step in so many is recorded
    closely_every: int  # of those, one in so many looks at big variables closely
    histograms: int | None  # and one in so many counts how the elements are spread; None: none does
    per_replica: bool


class StepRecorder:
    """Wraps the training step of one model. A failure of ours leaves the step as it was."""

    def __init__(self, model: Any, settings: StepSettings) -> None:
        compiled = bool(model.jit_compile) and not model.run_eagerly
        self.every = settings.every
        self._settings = settings
        self._rows_at_once = compat.steps_per_execution(model)
        self.rings: dict[RowLayout, Ring] = {}
        self.units: dict[RowLayout, UnitWatch] = {}
        often = settings.histograms
        self.histograms = None if often is None else StepHistograms(often, self._rows_at_once)
        self.counter = hidden_variable(0, dtype=tf.int64, name="steps")
        self._one = hidden_variable(1.0, dtype=tf.float32, name="one") if compiled else None
        self._compiled = compiled
        self._model = model
        self._names = OptimizerNames(model)
        self._probe: StepProbe | None = None
        self._graph: Any = None
        self._recorded: Any = None  # the graph that was recorded first
        self._packed: bytes | None = None  # the same as a run keeps it
        self._number: Any = None  # tensors of the step that is being traced
        self._turn: Any = None
        self._closely: Any = True
        self._one_now: Any = None
        self._clipped: dict[int, Any] = {}  # by the identity of the application, which the probe keeps alive
        self._rows: dict[int, Any] = {}
        self._tables: dict[int, Any] = {}
        self._outputs: dict[int, Any] = {}  # what the step of each replica returned
        self._failures = Hooks()

    @property
    def graph(self) -> bytes | None:
        """The step, as it was recorded first, as a run keeps it: every `fit` of the model is of the same."""
        if self._packed is None and self._recorded is not None:
            self._packed = packed(graph_of(self._recorded))
        return self._packed

    def restart(self) -> None:
        """Count from the first step again, and forget what was recorded: another `fit` begins."""
        self.counter.assign(0)
        for ring in self.rings.values():
            ring.clear()
        for watch in self.units.values():
            watch.clear()
        if self.histograms is not None:
            self.histograms.clear()

    def wrap(self, step: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The step, followed by what records it. AutoGraph may convert it, as it would have converted the step."""
        begin, end = unconverted(self._begin), unconverted(self._end)

        def train_step(data: Any) -> Any:
            begin()
            outputs = step(data)
            end(outputs)
            return outputs

        return train_step

    def abandon(self) -> None:
        """Take hooks out that a step left behind when it raised."""
        probe, self._probe = self._probe, None
        if probe is not None:
            probe.stop()

    def opened(self, application: Application) -> None:
        """Take the norms of the weights before they are changed; XLA has them afterwards too."""
        if self._compiled:
            return
        means, variables = self._means(application), present_of(application, application.variables)
        application.weight_norms = self._in_turn(
            lambda: weight_norms(variables, means), lambda: means.unknown(len(variables))
        )

    def clipped(self, application: Application) -> None:
        """The optimizer clips inside a branch: what is known only there is put where the end of the step finds it.

        Not where XLA compiles: a branch that writes one thing more rounds differently. The norms are unknown then.
        """
        present = sum(gradient is not None for gradient in application.gradients)
        assert application.clipped is not None
        if application.clipped_elsewhere and self._compiled:
            self._clipped[id(application)] = None
        elif application.clipped_elsewhere and len(application.clipped) == present:
            norms = self._means(application).norms(application.clipped)
            self._clipped[id(application)] = self._kept(norms, present)

    def reduced(self, application: Application) -> None:
        """The replicas may sum their gradients in a branch: a window that is full, a loss scale that held."""
        if current_graph() is not application.graph:
            table = tf.reshape(gradient_table(application.reduced or (), self._means(application)), [-1])
            known = self._tables.get(id(application))
            if known is None:
                self._tables[id(application)] = self._kept(table, int(table.shape[0]))
            else:  # summed once more, after clipping
                known.assign(table)
        self._clipped.pop(id(application), None)

    def closed(self, application: Application) -> None:
        """An optimizer that is called inside a branch is recorded there."""
        if application.graph is not self._graph and any(g is not None for g in application.gradients):
            self._rows[id(application)] = self._kept(self._computed(application), row_width(application))
            application.measured = None  # what was read there cannot be read at the end of the step

    def _begin(self) -> None:
        replica = current_replica()
        if replica is None or replica.place == 0:
            self.abandon()
            self._outputs = {}
            self._failures.safely(self._start_probe, replica)

    def _start_probe(self, replica: Replica | None) -> None:
        self._graph = current_graph()
        self._number = tf.identity(self.counter)
        self._turn = self._number if self.every == 1 else self._number // self.every
        rarely = self._settings.closely_every
        self._closely = True if rarely == 1 else self._turn % rarely == 0
        self._one_now = None if self._one is None else tf.convert_to_tensor(self._one)
        self._clipped, self._rows, self._tables = {}, {}, {}
        self._probe = StepProbe(self, replica)
        self._probe.start()

    def _end(self, outputs: Any) -> None:
        replica = current_replica()
        self._outputs[0 if replica is None else replica.place] = outputs
        if replica is None:
            self._finish()
        else:  # all of them, whatever became of our probe: they wait for one another
            tf.distribute.get_replica_context().merge_call(lambda strategy: self._finish())

    def _finish(self) -> None:
        probe = self._probe
        if probe is None:
            return
        probe.stop()
        if not probe.is_broken:
            self._failures.safely(self._record, probe)
        self.abandon()

    def _record(self, probe: StepProbe) -> None:
        if probe.makes_variables:  # TensorFlow traces the step once more, without making any, and runs that
            return
        self._recorded = self._recorded or self._graph
        applications = [each for each in probe.applications if any(g is not None for g in each.gradients)]
        metrics = mean_outputs([self._outputs[place] for place in sorted(self._outputs)])
        layout = self._layout(applications, metrics)
        if layout is not None:
            ring = self.rings.get(layout) or self._new_ring(layout)

            def write() -> Tensor:
                self._watch_units(layout, applications)
                rows = [tf.cast(self._row(application), layout.dtype) for application in applications]
                numbers = [tf.stack([tf.cast(value, layout.dtype) for value in metrics.values()])] if metrics else []
                shares = self._shares(layout, applications, rows)
                ring.write(self._number, self._turn, tf.concat([*numbers, *rows, *shares], 0))
                if self.histograms is not None:
                    pairs = [(application, self._means(application)) for application in applications]
                    self.histograms.write(layout, pairs, self._number, self._turn)
                return tf.constant(True)

            self._in_turn(write, lambda: tf.constant(False))
        self.counter.assign_add(1)

    def _shares(self, layout: RowLayout, applications: list[Application], rows: list[Tensor]) -> list[Tensor]:
        """What each replica contributed: its numbers where that was asked for; its loss, and whether it was finite."""
        if not layout.replicas:
            return []
        assert self._probe is not None
        means = [self._means(application) for application in applications]
        shares = [shares_of(each, self._probe.asked, len(layout.replicas)) for each in applications]
        pairs = list(zip(shares, means, strict=True)) if self._settings.per_replica else []
        apart = [tf.cast(replica_row(share, each), layout.dtype) for few, each in pairs for share in few]
        norms = [
            row[len(SCALARS) + len(section.present) : len(SCALARS) + 2 * len(section.present)]
            for row, section in zip(rows, layout.sections, strict=True)
        ]
        return [*apart, tf.cast(contributions(shares, tf.concat(norms, 0), means[0]), layout.dtype)]

    def _watch_units(self, layout: RowLayout, applications: list[Application]) -> None:
        """Note for each unit of a rectified layer at which step it last had a gradient."""
        found: dict[str, Any] = {}
        for section, application in zip(layout.sections, applications, strict=True):
            if application.graph is self._graph and id(application) not in self._tables:
                means = self._means(application)
                pairs = zip(section.variables, summed(application), strict=True)
                found |= {info.name: means.apart(gradient) for info, gradient in pairs if is_watched(info, gradient)}
        if found:
            watch = self.units.get(layout)
            if watch is None:
                watch = self.units[layout] = UnitWatch({name: int(g.shape[0]) for name, g in found.items()})
            watch.write(self._number, list(found.values()))

    def _in_turn(self, take: Callable[[], Tensor], leave: Callable[[], Tensor]) -> Tensor:
        """What is taken at one step in `every`."""
        return take() if self.every == 1 else tf.cond(self._number % self.every == 0, take, leave)

    def _means(self, application: Application) -> Means:
        wide = any(variable.dtype == tf.float64 for variable in application.variables)
        return Means(tf.float64 if wide else tf.float32, self._compiled, self._one_now, closely=self._closely)

    def _row(self, application: Application) -> Tensor:
        kept = self._rows.get(id(application))
        return self._computed(application) if kept is None else _taken(kept)

    def _computed(self, application: Application) -> Tensor:
        assert self._probe is not None
        means, clipped = self._means(application), None
        if id(application) in self._clipped:
            kept = self._clipped[id(application)]
            present = sum(gradient is not None for gradient in application.gradients)
            clipped = means.unknown(present) if kept is None else _taken(kept)
        table, kept = None, self._tables.get(id(application))
        if kept is not None:
            assert application.replica is not None
            shares = shares_of(application, self._probe.asked, application.replica.here)
            table = with_bad_elements(tf.reshape(_taken(kept), [-1, len(shares[0].gradients)]), shares, means)
        return application_row(application, self._probe.asked, means, clipped, table)

    def _kept(self, values: Tensor, length: int) -> Any:
        """A variable that holds what a branch computed, and nothing where the branch was not taken."""
        kept = hidden_variable([float("nan")] * length, dtype=values.dtype, name="branch")
        kept.assign(values)
        return kept

    def _layout(self, applications: list[Application], metrics: dict[str, Any]) -> RowLayout | None:
        if not applications:
            return None
        sections = tuple(
            Section(
                self._names(each.optimizer),
                facts_of(each.owners, [gradient is None for gradient in each.gradients], self._model),
            )
            for each in applications
        )
        wide = any(info.dtype == "float64" for section in sections for info in section.variables)
        replica = applications[0].replica
        numbers = () if replica is None else tuple(range(replica.number, replica.number + replica.here))
        apart = tuple(
            Section(of_replica(section.optimizer, number), section.present)
            for section in (sections if self._settings.per_replica else ())
            for number in numbers
        )
        return RowLayout(tuple(metrics), sections, "float64" if wide else "float32", numbers, apart)

    def _new_ring(self, layout: RowLayout) -> Ring:
        room = _RING_BYTES_COMPILED if self._compiled else _RING_BYTES
        fitting = room // max(1, layout.width * (8 if layout.dtype == "float64" else 4))
        capacity = max(_LEAST_ROWS, min(_MOST_ROWS, fitting), 2 * self._rows_at_once)
        ring = self.rings[layout] = Ring(layout.width, capacity, layout.dtype)
        return ring


def _taken(kept: Any) -> Tensor:
    """What a branch left, once."""
    value = tf.identity(kept)
    with tf.control_dependencies([value]):
        kept.assign(tf.fill(tf.shape(value), tf.cast(float("nan"), value.dtype)))
    return value
