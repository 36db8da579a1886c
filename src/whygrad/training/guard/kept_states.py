"""The last good states of a training: its variables and its optimizer's, copied now and then, put back on demand."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.graph_building import choose
from whygrad.errors import UsageError
from whygrad.training.replicas import single_variable


class MemoryShelf:
    """Each state in variables of its own."""

    def __init__(self, state: Sequence[Any], places: int) -> None:
        self._state = list(state)
        self._copies = [[_copy(each) for each in state] for _ in range(places)]
        self.variables: list[Any] = [copy for copies in self._copies for copy in copies]

    def put(self, place: int) -> None:
        _assign(self._copies[place], self._state)

    def take(self, place: int) -> None:
        _assign(self._state, self._copies[place])


class DiskShelf:
    """Each state in files of its own, as `tf.train.load_checkpoint` reads them; written by ops, also of a graph."""

    def __init__(self, state: Sequence[Any], folder: str) -> None:
        self._state = list(state)
        self._folder = Path(folder)
        self._names = [f"{i:04d} {variable.name.split(':')[0]}" for i, variable in enumerate(state)]
        self._written = tf.Variable(0, trainable=False, dtype=tf.int64, name="states_written")
        self.variables: list[Any] = [self._written]
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise UsageError(
                f"states cannot be kept in {folder}: {reason}", help="name a folder that can be written"
            ) from None

    def put(self, place: int) -> None:
        _refuse_xla()
        values = [each.read_value() for each in self._state]
        done = tf.raw_ops.SaveV2(
            prefix=self._file(place), tensor_names=self._names, shape_and_slices=[""] * len(values), tensors=values
        )
        with tf.control_dependencies([] if done is None else [done]):  # a function drops it if nothing waits for it
            self._written.assign_add(1)

    def take(self, place: int) -> None:
        _refuse_xla()
        kinds = [each.dtype for each in self._state]
        values = tf.raw_ops.RestoreV2(
            prefix=self._file(place), tensor_names=self._names, shape_and_slices=[""] * len(kinds), dtypes=kinds
        )
        for variable, value in zip(self._state, values, strict=True):
            variable.assign(tf.ensure_shape(value, variable.shape))

    def _file(self, place: int) -> str:
        return str(self._folder / f"state-{place}")


class KeptStates:
    """A ring of states. The first is taken at once, so that there is always one to go back to."""

    def __init__(self, state: Sequence[Any], keep: int, every: int, folder: str | None = None) -> None:
        self._keep = keep
        self._every = every
        with tf.init_scope():
            self._shelf = MemoryShelf(state, keep) if folder is None else DiskShelf(state, folder)
            self._shelf.put(0)
            self._good = single_variable(0, tf.int64, "good_updates")
            self._newest = single_variable(0, tf.int64, "newest_state")
            self._filled = single_variable(1, tf.int64, "states_kept")

    @property
    def variables(self) -> list[Any]:
        return [self._good, self._newest, self._filled, *self._shelf.variables]

    def note(self) -> None:
        """An update was good."""
        self._good.assign_add(1)
        choose(tf.equal(tf.math.floormod(self._good, self._every), 0), self._take, lambda: None)

    def _take(self) -> None:
        self._newest.assign(tf.math.floormod(self._newest + 1, self._keep))
        self._filled.assign(tf.minimum(self._filled + 1, self._keep))
        for i in range(self._keep):
            choose(tf.equal(self._newest, i), functools.partial(self._shelf.put, i), lambda: None)

    def go_back(self) -> None:
        """To the newest state; to the one before it where training goes bad again before a new one was taken."""
        for i in range(self._keep):
            choose(tf.equal(self._newest, i), functools.partial(self._shelf.take, i), lambda: None)
        older = tf.math.floormod(self._newest - 1, self._keep)
        self._newest.assign(tf.where(self._filled > 1, older, self._newest))
        self._filled.assign(tf.maximum(self._filled - 1, 1))


def _copy(variable: Any) -> Any:
    """A variable with the same value, on the same device."""
    value = variable.read_value()
    return single_variable(value, value.dtype, "state", device=variable.device)


def _assign(targets: Sequence[Any], sources: Sequence[Any]) -> None:
    for target, source in zip(targets, sources, strict=True):
        target.assign(source.read_value())


def _refuse_xla() -> None:
    if compat.inside_xla():
        raise UsageError(
            "a step under jit_compile=True cannot write or read files",
            help="keep the states in memory (leave `keep_in` out), or compile without XLA",
        )
