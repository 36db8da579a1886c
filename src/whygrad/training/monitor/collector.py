"""Brings what a step recorded from its rings into the store, and shows the newest of it in a line on request."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, Final

import numpy as np

from whygrad.graph.series import CHANNELS
from whygrad.store import Rows, RunWriter, Track
from whygrad.store.rows import Array
from whygrad.training.monitor.replica_trouble import ReplicaTrouble
from whygrad.training.monitor.row_layout import RowLayout
from whygrad.training.monitor.step_histograms import unpacked
from whygrad.training.monitor.step_recorder import StepRecorder

_SECONDS: Final = 0.5  # between two lines of a terminal


class Executions:
    """The calls of a training function, each of several batches: `fit` knows only how long these took together."""

    def __init__(self) -> None:
        self._calls: list[tuple[int, int, float, float]] = []  # first batch, batches, when, how long
        self._lock = threading.Lock()
        self.batches = 0  # that are done

    def add(self, batches: int, when: float, seconds: float) -> None:
        with self._lock:
            self._calls.append((self.batches, batches, when, seconds))
            self.batches += batches

    def correct(self, batches: int) -> None:
        """The count of batches, as the graph has it: the last call of an epoch may have had fewer than the others."""
        with self._lock:
            if self._calls and batches != self.batches:
                first, _, when, seconds = self._calls[-1]
                self._calls[-1] = (first, max(1, batches - first), when, seconds)
            self.batches = batches

    def at(self, numbers: Array) -> Array:
        """[k, 3]: time, duration and number of these batches; NaN where they are not known."""
        result = np.full((len(numbers), 3), np.nan)
        result[:, 2] = numbers
        with self._lock:
            calls = list(self._calls)
        if calls and len(numbers):
            first, count, when, seconds = (np.array(column) for column in zip(*calls, strict=True))
            place = np.clip(np.searchsorted(first, numbers, side="right") - 1, 0, None)
            inside = (numbers >= first[place]) & (numbers < first[place] + count[place])
            share = seconds[place] / count[place]
            ended = when[place] + share * (numbers - first[place] + 1)
            result[inside, 0], result[inside, 1] = ended[inside], share[inside]
        return result

    def forget(self, before: int) -> None:
        """Drop what no row will ask for any more."""
        with self._lock:
            self._calls = [call for call in self._calls if call[0] + call[1] > before]


class Collector:
    """Called from the writer's thread, and from the training's own when a ring is nearly full."""

    def __init__(self, recorder: StepRecorder, executions: Executions, writer: RunWriter, start: int = 0) -> None:
        self.recorder = recorder
        self.executions = executions
        self.writer = writer
        self.glimpse: tuple[int, str] | None = None
        self.last_step = start - 1
        self.replicas = ReplicaTrouble(writer)
        self._start = start
        self._numbers: dict[RowLayout, dict[str, int]] = {}
        self._lock = threading.Lock()

    def drain(self, *, final: bool = False) -> None:
        """Take what is complete; at the end also what a step left that did not come to its own."""
        with self._lock:
            done = self.executions.batches  # more may come while this is read
            before = None if final else done
            for layout, ring in list(self.recorder.rings.items()):
                numbers, data = ring.drain(before, self.recorder.every)
                if len(numbers):
                    self._take(layout, numbers, data)
            self._take_histograms(before)
            self.executions.forget(done - 1)

    @property
    def room(self) -> int:
        """How many more rows the smallest ring could hold."""
        counted = self.recorder.histograms
        rarer = [] if counted is None else [ring.capacity * counted.every for ring in counted.rings.values()]
        return min((*(ring.capacity for ring in self.recorder.rings.values()), *rarer), default=1 << 30)

    @property
    def lost(self) -> int:
        return sum(ring.lost for ring in self.recorder.rings.values())

    def _take(self, layout: RowLayout, numbers: Any, data: Any) -> None:
        tracks = layout.tracks()
        if layout not in self._numbers:
            self._numbers[layout] = {name: self.writer.add_track(track) for name, track in tracks.items()}
        rows = layout.unpack(numbers, data, self.executions.at(numbers), self._start)
        if layout.replicas:
            self.replicas.note(layout, self._start + numbers, data)
        for name, each in rows.items():
            self.writer.append(self._numbers[layout][name], each)
            self.last_step = max(self.last_step, int(each.steps[-1]))
        name = layout.sections[-1].optimizer
        self.glimpse = glimpse_of(tracks[name], rows[name])

    def _take_histograms(self, before: int | None) -> None:
        counted = self.recorder.histograms
        if counted is None:
            return
        for layout, ring in list(counted.rings.items()):
            numbers, data = ring.drain(before, self.recorder.every * counted.every)
            for name, step, values in unpacked(layout, numbers, data, self._start):
                if layout in self._numbers:
                    self.writer.add_histograms(self._numbers[layout][name], step, values)


def glimpse_of(track: Track, rows: Rows) -> tuple[int, str]:
    """The newest step, and in a line its loss, the norm of all gradients, and the largest, or one not finite."""
    norms = rows.values[-1, :, CHANNELS.index("norm")].astype(np.float64)
    known = [i for i, info in enumerate(track.variables) if not info.missing]
    broken = [i for i in known if not np.isfinite(norms[i])]
    worst = broken[0] if broken else max(known, key=lambda i: norms[i], default=None)
    step, loss = int(rows.steps[-1]), float(rows.scalars[-1, track.scalars.index("loss")])
    norm = float(np.sqrt(np.sum(np.square(norms[known]))))
    name, largest = ("", float("nan")) if worst is None else (track.variables[worst].name, float(norms[worst]))
    share = largest / norm if norm else 0.0
    percent = f" ({share:.0%})" if share == share else ""
    return step, f"step {step + 1}  loss {loss:.4g}  |gradient| {norm:.3g}  worst {name} {largest:.3g}{percent}"


class ProgressLine:
    """One line that is written over on a terminal; elsewhere a line now and then."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._over = self._stream.isatty()
        self._last = -1
        self._next = 0.0
        self._pause = _SECONDS if self._over else 10 * _SECONDS

    def show(self, glimpse: tuple[int, str] | None, *, final: bool = False) -> None:
        now = time.monotonic()
        if glimpse is None or glimpse[0] == self._last or (now < self._next and not final):
            return
        self._next = now + self._pause
        self._last, text = glimpse
        self._stream.write(f"\r\x1b[2K{text}" if self._over else f"{text}\n")
        if final and self._over:
            self._stream.write("\n")
        self._stream.flush()
