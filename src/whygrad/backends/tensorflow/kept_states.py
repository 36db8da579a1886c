"""The last good states of a training: its variables and its optimizer's, copied now and then, put back on demand."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow.choose import choose


class KeptStates:
    """A ring of copies. The first is taken at once, so that there is always one to go back to."""

    def __init__(self, state: Sequence[Any], keep: int, every: int) -> None:
        self._state = list(state)
        self._every = every
        with tf.init_scope():
            self._copies = [[tf.Variable(each.read_value(), trainable=False) for each in state] for _ in range(keep)]
            self._good = tf.Variable(0, trainable=False, dtype=tf.int64, name="good_updates")
            self._newest = tf.Variable(0, trainable=False, dtype=tf.int64, name="newest_state")
            self._filled = tf.Variable(1, trainable=False, dtype=tf.int64, name="states_kept")

    @property
    def variables(self) -> list[Any]:
        return [self._good, self._newest, self._filled, *(copy for copies in self._copies for copy in copies)]

    def note(self) -> None:
        """An update was good."""
        self._good.assign_add(1)
        choose(tf.equal(tf.math.floormod(self._good, self._every), 0), self._take, lambda: None)

    def _take(self) -> None:
        self._newest.assign(tf.math.floormod(self._newest + 1, len(self._copies)))
        self._filled.assign(tf.minimum(self._filled + 1, len(self._copies)))
        for i, copies in enumerate(self._copies):
            choose(tf.equal(self._newest, i), functools.partial(_assign, copies, self._state), lambda: None)

    def go_back(self) -> None:
        """To the newest state; to the one before it where training goes bad again before a new one was taken."""
        for i, copies in enumerate(self._copies):
            choose(tf.equal(self._newest, i), functools.partial(_assign, self._state, copies), lambda: None)
        older = tf.math.floormod(self._newest - 1, len(self._copies))
        self._newest.assign(tf.where(self._filled > 1, older, self._newest))
        self._filled.assign(tf.maximum(self._filled - 1, 1))


def _assign(targets: Sequence[Any], sources: Sequence[Any]) -> None:
    for target, source in zip(targets, sources, strict=True):
        target.assign(source.read_value())
