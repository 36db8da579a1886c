"""Writing to variables wherever training code runs: one device, a replica, or across replicas."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.training.variables import name_of


def across_replicas(change: Callable[[], None]) -> None:
    """Run once for all replicas; from inside a replica, all of them meet there."""
    context = tf.distribute.get_replica_context()
    if context is None or not tf.distribute.has_strategy():
        change()
        return
    context.merge_call(lambda strategy: change())


def scope_of(variables: Iterable[Any]) -> contextlib.AbstractContextManager[Any]:
    """Where new variables must be made to be on the devices of the given ones."""
    for variable in variables:
        strategy = _strategy(compat.native(variable))
        if strategy is not None and not tf.distribute.has_strategy():
            scope: contextlib.AbstractContextManager[Any] = strategy.scope()
            return scope
    return contextlib.nullcontext()


def copy_of(variable: Any, role: str, value: Any = None) -> Any:
    """A variable of our own, named after another: with its value, or filled with the given one."""
    now = compat.native(variable).read_value()
    first = now if value is None else tf.broadcast_to(tf.cast(value, now.dtype), tf.shape(now))
    return tf.Variable(first, trainable=False, name=f"{name_of(variable)}/{role}")


def write(variable: Any, value: Callable[..., Any], *others: Any) -> None:
    """Set a variable to a function of itself and other variables, on every device that holds it."""
    own = compat.native(variable)
    rest = tuple(compat.native(other) for other in others)
    strategy = _strategy(own)

    def change(target: Any, *sources: Any) -> None:
        target.assign(tf.cast(value(target, *sources), target.dtype))

    if strategy is None or tf.distribute.in_cross_replica_context() is False:
        change(own, *rest)
    elif own.synchronization is tf.VariableSynchronization.ON_READ:
        own.assign(tf.cast(value(own, *rest), own.dtype))
    else:
        strategy.extended.update(own, change, args=rest, group=True)


def mixed(old: Any, new: Any, share: Any) -> Any:
    """A share of the way from one value to another; whole numbers go all the way."""
    old, new = tf.convert_to_tensor(old), tf.convert_to_tensor(new)
    if not (old.dtype.is_floating or old.dtype.is_complex):
        return new
    return old + (tf.cast(new, old.dtype) - old) * tf.cast(share, old.dtype)


def _strategy(variable: Any) -> Any:
    return getattr(variable, "distribute_strategy", None)
