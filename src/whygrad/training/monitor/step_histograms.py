"""Histograms of gradients, weights and updates at some steps, in rings of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import tensorflow as tf

from whygrad.backends.tensorflow.measure.gradient_part import Part, Tensor
from whygrad.backends.tensorflow.measure.histograms import histograms
from whygrad.backends.tensorflow.measure.step_means import Means
from whygrad.graph.histogram import KINDS, WIDTH
from whygrad.store.rows import Array
from whygrad.training.monitor.ring import Ring
from whygrad.training.monitor.row_layout import RowLayout
from whygrad.training.monitor.step_probe import Application
from whygrad.training.monitor.step_row import present_of

_RING_BYTES: Final = 1 << 20
_LEAST_ROWS, _MOST_ROWS = 2, 64


class StepHistograms:
    """Taken at one recorded step in `every`; the others have one op more, which does nothing."""

    def __init__(self, every: int, rows_at_once: int) -> None:
        self.every = every
        self.rings: dict[RowLayout, Ring] = {}
        self._rows_at_once = rows_at_once

    def write(
        self, layout: RowLayout, applications: Sequence[tuple[Application, Means]], number: Tensor, turn: Tensor
    ) -> None:
        """Add ops that write the histograms of step `number`, the `turn`-th that is recorded."""
        ring = self.rings.get(layout) or self._new_ring(layout)

        def take() -> Tensor:
            rows = [tf.reshape(tf.cast(_taken(*each), tf.float32), [-1]) for each in applications]
            ring.write(number, turn // self.every, tf.concat(rows, 0))
            return tf.constant(True)

        tf.cond(turn % self.every == 0, take, lambda: tf.constant(False))

    def clear(self) -> None:
        for ring in self.rings.values():
            ring.clear()

    def _new_ring(self, layout: RowLayout) -> Ring:
        width = sum(len(section.present) for section in layout.sections) * len(KINDS) * WIDTH
        fitting = max(_LEAST_ROWS, min(_MOST_ROWS, _RING_BYTES // (4 * width)))
        ring = self.rings[layout] = Ring(width, max(fitting, 2 * (self._rows_at_once // self.every + 1)), "float32")
        return ring


def _taken(application: Application, means: Means) -> Tensor:
    """[variables, KINDS, WIDTH]; unknown for an optimizer that was called inside a branch."""
    present = present_of(application, application.variables)
    if application.measured is None:
        return means.unknown(len(present), len(KINDS), WIDTH)
    gradients, changes = application.measured
    scale = tf.cast(application.scale, means.dtype) if application.given_scaled else None
    parts = [
        part
        for gradient, variable, change in zip(gradients, present, changes, strict=True)
        for part in (
            gradient if scale is None else _times(gradient, 1 / scale),
            means.part(tf.convert_to_tensor(variable)),
            _times(means.part(change.delta), -1) if change.negative else means.part(change.delta),
        )
    ]
    return tf.reshape(histograms(parts, means.dtype), [len(present), len(KINDS), WIDTH])


def _times(part: Part, factor: Any) -> Part:
    return replace(part, values=part.values * tf.cast(factor, part.values.dtype))


def unpacked(layout: RowLayout, numbers: Array, data: Array, start: int) -> Iterator[tuple[str, int, Array]]:
    """(track, step, [variables, KINDS, WIDTH]) of rows out of a ring; steps are those of the rows of the store."""
    tracks = layout.tracks()
    often = {name: sum(section.optimizer == name for section in layout.sections) for name in tracks}
    turns = dict.fromkeys(tracks, 0)
    offset = 0
    for section in layout.sections:
        names = [info.name for info in tracks[section.optimizer].variables]
        places = [names.index(info.name) for info in section.present]
        width = len(places) * len(KINDS) * WIDTH
        block = data[:, offset : offset + width].reshape(len(data), len(places), len(KINDS), WIDTH)
        offset += width
        values = np.full((len(data), len(names), len(KINDS), WIDTH), np.nan, np.float32)
        values[:, places] = block
        for number, each in zip(numbers, values, strict=True):
            if not np.isnan(each).all():
                yield section.optimizer, start + int(number) * often[section.optimizer] + turns[section.optimizer], each
        turns[section.optimizer] += 1
