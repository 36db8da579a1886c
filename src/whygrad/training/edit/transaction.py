"""`transaction`: all or nothing for the variables of a model and its optimizer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import tensorflow as tf

from whygrad.arguments import check_choice
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.ledger.writer import writing_as
from whygrad.errors import NonfiniteError, UsageError
from whygrad.training.edit.owned_variables import first_values, variables_of
from whygrad.training.replicas import copies_of, current_replica, summed_over_workers
from whygrad.training.variables import name_of


class Transaction:
    """What `with transaction(...) as t` gives: `t.check(loss)`, `t.roll_back()`, and afterwards what became of it."""

    def __init__(self, owners: tuple[Any, ...]) -> None:
        self._owners = owners
        self._variables: list[Any] = []
        self._before: list[tuple[Any, Any]] = []  # (one device's variable, its value)
        self._born: list[tuple[Any, Any]] = []
        self._checked: list[Any] = []
        self._asked = False
        self.rolled_back: Any = False  # inside `tf.function` a tensor
        self.reason = ""

    def check(self, *tensors: Any) -> None:
        """Let these decide too: a value that is not finite, such as the loss, rolls back at the end."""
        self._checked += [tensor for tensor in tf.nest.flatten(tensors) if tensor is not None]

    def roll_back(self) -> None:
        """Roll back at the end, whatever happens."""
        self._asked = True

    # -- used by `transaction` ---------------------------------------------------------------------

    def begin(self) -> None:
        if current_replica() is not None:
            raise UsageError(
                "a transaction inside a replica would be decided by each replica for itself",
                help="open it around `strategy.run`",
            )
        self._variables = variables_of(*self._owners)
        for variable in chain.from_iterable(map(copies_of, self._variables)):
            self._before.append((variable, tf.identity(variable.read_value())))

    def created(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        for part in copies_of(variable):
            if tf.executing_eagerly():
                self._born.append((part, tf.identity(part.read_value())))
        return variable

    def restore(self, reason: str) -> None:
        """Put every variable back, also those made inside; an interruption meanwhile is raised afterwards."""
        self.rolled_back, self.reason = True, reason
        interruption: BaseException | None = None
        with writing_as("edit.transaction"):
            for variable, value in [*self._before, *self._since()]:
                for _ in range(3):
                    try:
                        variable.assign(value)
                        break
                    except BaseException as error:
                        interruption = error
        if interruption is not None:
            raise interruption

    def _since(self) -> Iterator[tuple[Any, Any]]:
        """Variables that came into being inside, with what they began as."""
        known = {id(variable) for variable, _ in [*self._before, *self._born]}
        yield from self._born
        for owner in self._owners:
            optimizer = owner if hasattr(owner, "apply_gradients") else getattr(owner, "optimizer", None)
            if optimizer is not None and hasattr(optimizer, "apply_gradients"):
                yield from _new_slots(optimizer, known)

    def spoiled(self) -> str:
        """What is not finite now and was before; empty where all is well."""
        for tensor in self._checked:
            if not bool(_is_finite(tensor)):
                return "a checked value is not finite"
        for variable, value in [*self._before, *self._since()]:
            if not bool(_is_finite(variable)) and bool(_is_finite(value)):
                return f"`{name_of(variable)}` is not finite"
        return ""

    def finish(self) -> None:
        if not tf.executing_eagerly():
            self._finish_in_graph()
            return
        reason = "asked to" if self._asked else self.spoiled()
        if int(summed_over_workers(tf.constant(bool(reason), tf.int32), self._variables)):
            self.restore(reason or "another worker rolled back")

    def _finish_in_graph(self) -> None:
        """The same decision as part of the graph; `rolled_back` is known when it runs."""
        bad = [tf.logical_not(_is_finite(tensor)) for tensor in self._checked]
        bad += [tf.logical_and(tf.logical_not(_is_finite(v)), _is_finite(before)) for v, before in self._before]
        self.rolled_back = tf.reduce_any(tf.stack(bad)) if bad else tf.constant(False)
        if self._asked:
            self.rolled_back = tf.constant(True)
        self.rolled_back = summed_over_workers(tf.cast(self.rolled_back, tf.int32), self._variables) > 0
        with writing_as("edit.transaction"):
            for variable, before in self._before:
                variable.assign(tf.where(self.rolled_back, before, variable.read_value()))


@contextlib.contextmanager
def transaction(*owners: Any, nonfinite: str = "restore") -> Iterator[Transaction]:
    """All or nothing: an exception, or a value that is not finite, restores every variable bit for bit.

    Give the model and the optimizer (a compiled model brings its own), or any modules and variables. An exception goes
    on after the restoring. A variable that is not finite at the end but was at the beginning restores quietly, and
    `t.rolled_back` says so; `nonfinite="raise"` raises `NonfiniteError` then. Slots and weights made inside get
    the values they began with. Inside `tf.function` the whole is part of the graph: build model and optimizer before.

    >>> with wg.edit.transaction(model, optimizer) as t:
    ...     loss = train_step(batch)
    ...     t.check(loss)
    >>> if t.rolled_back:
    ...     print("skipped:", t.reason)
    """
    check_choice("nonfinite", nonfinite, ("restore", "raise"))
    if not owners:
        raise UsageError("a transaction needs something to guard", help="pass the model and the optimizer")
    guard = Transaction(owners)
    guard.begin()
    try:
        with tf.variable_creator_scope(guard.created):
            yield guard
        guard.finish()
    except BaseException as error:
        if tf.executing_eagerly():  # a graph whose tracing failed is thrown away
            guard.restore(f"{type(error).__name__}: {error}")
        raise
    if nonfinite == "raise" and guard.rolled_back is True and guard.reason != "asked to":
        raise NonfiniteError(f"{guard.reason}; every variable was restored")


def _new_slots(optimizer: Any, known: set[int]) -> Iterator[tuple[Any, Any]]:
    """Slots made while a function was traced: their first values were never seen here."""
    inner = compat.innermost(optimizer)
    for variable in compat.trainables_of(inner):
        slots = [part for slot in compat.slots_of(inner, variable) for part in copies_of(slot)]
        if known.issuperset(map(id, slots)):
            continue
        for slot, first in zip(slots, first_values(inner, variable), strict=False):
            if id(slot) not in known:
                yield slot, tf.broadcast_to(tf.cast(first, slot.dtype), tf.shape(slot))


def _is_finite(value: Any) -> Any:
    tensor = tf.convert_to_tensor(value)
    if tensor.dtype.is_complex:
        return tf.logical_and(_is_finite(tf.math.real(tensor)), _is_finite(tf.math.imag(tensor)))
    if not tensor.dtype.is_floating:
        return tf.constant(True)
    return tf.reduce_all(tf.math.is_finite(tensor))
