"""Which steps a guard has held back, kept in variables so that compiled steps can write it down too."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.training.replicas import single_variable

REMEMBERED: Final = 64  # bad steps
NAMED: Final = 3  # variables in a message


_LIVING: weakref.WeakSet[GuardRecord] = weakref.WeakSet()


def held_back() -> dict[int, int]:
    """How many bad steps each guard of the program has seen so far; may be asked while a graph is traced."""
    return {id(record): compat.value_now(record.count) or 0 for record in _LIVING}


def counters() -> set[int | None]:
    """The handles of the counters that `held_back` reads: a function that is given one is guarded."""
    return {compat.id_of(getattr(record.count, "handle", None)) for record in _LIVING}


@dataclass(frozen=True, slots=True)
class BadStep:
    """One step whose gradients were not finite."""

    step: int  # counted from 1
    variables: tuple[str, ...]  # whose gradients were not
    replicas: tuple[int, ...] = ()  # that had them, where there are several


class GuardRecord:
    """The counters of one guard, and a ring with its last bad steps."""

    def __init__(self, names: list[str], replicas: int = 1) -> None:
        self.names = names
        self.replicas = replicas
        _LIVING.add(self)
        with tf.init_scope():
            self.steps = single_variable(0, tf.int64, "steps")
            self.count = single_variable(0, tf.int64, "bad_steps")
            self.in_a_row = single_variable(0, tf.int64, "bad_steps_in_a_row")
            self.stopped = single_variable(False, tf.bool, "stopped")
            self.numbers = single_variable(tf.zeros([REMEMBERED], tf.int64), tf.int64, "bad_numbers")
            self.masks = single_variable(tf.zeros([REMEMBERED, len(names)], tf.bool), tf.bool, "bad_variables")
            self.whose = single_variable(tf.zeros([REMEMBERED, replicas], tf.bool), tf.bool, "bad_replicas")

    @property
    def variables(self) -> list[Any]:
        return [self.steps, self.count, self.in_a_row, self.stopped, self.numbers, self.masks, self.whose]

    def good(self) -> None:
        self.steps.assign_add(1)
        self.in_a_row.assign(0)

    def bad(self, finite: list[Any], replicas: Any = None) -> None:
        step = self.steps.assign_add(1, read_value=True)
        place = tf.math.floormod(self.count, REMEMBERED)
        self.numbers.scatter_nd_update([[place]], [tf.identity(step)])
        self.masks.scatter_nd_update([[place]], [tf.logical_not(tf.stack(finite))])
        if replicas is not None:
            self.whose.scatter_nd_update([[place]], [replicas])
        self.count.assign_add(1)
        self.in_a_row.assign_add(1)

    def stop_at(self, limit: int) -> None:
        self.stopped.assign(tf.greater_equal(self.in_a_row, limit))

    def fail_if_stopped(self) -> None:
        """Inside a graph there is no exception but TensorFlow's own."""
        place = tf.math.floormod(self.count - 1, REMEMBERED)
        bad = tf.boolean_mask(tf.constant(self.names), self.masks[place])
        said = ["whygrad: gradients that are not finite were not applied; step", self.steps, "in a row", self.in_a_row]
        tf.debugging.Assert(tf.logical_not(self.stopped), [*said, "variables", bad], summarize=NAMED)

    def bad_steps(self) -> tuple[BadStep, ...]:
        """The last ones, oldest first."""
        count = int(self.count.numpy())
        numbers, masks, whose = self.numbers.numpy(), self.masks.numpy(), self.whose.numpy()
        rows = [i % REMEMBERED for i in range(max(0, count - REMEMBERED), count)]
        return tuple(
            BadStep(
                int(numbers[row]),
                tuple(compress(self.names, masks[row])),
                tuple(compress(range(self.replicas), whose[row])),
            )
            for row in rows
        )

    def last(self) -> str:
        """The last bad step, in one sentence."""
        bad = self.bad_steps()[-1]
        row = int(self.in_a_row.numpy())
        many = f", the {row}th bad step in a row" if row > 3 else f", with {row} bad steps in a row" if row > 1 else ""
        where = self._where(bad)
        return f"the gradient of {_listing(bad.variables)} is not finite{where} at step {bad.step}{many}"

    def lines(self, mode: str) -> list[str]:
        bad = self.bad_steps()
        if not bad:
            return []
        done = {"zero": "their bad elements were set to zero", "rollback": "each went back to a good state"}
        count, steps = int(self.count.numpy()), int(self.steps.numpy())
        head = f"whygrad guard: {count} of {steps} steps had gradients that are not finite; "
        shown = [f"  step {each.step}: {_listing(each.variables)}{self._where(each)}" for each in bad[-8:]]
        return [head + done.get(mode, "nothing of them was applied"), *shown]

    def _where(self, bad: BadStep) -> str:
        """On which replicas, unless it was on all of them."""
        if len(bad.replicas) in (0, self.replicas):
            return ""
        plural = "s" if len(bad.replicas) > 1 else ""
        return f" on replica{plural} {', '.join(map(str, bad.replicas))} of {self.replicas}"


def _listing(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
