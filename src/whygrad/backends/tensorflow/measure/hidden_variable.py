"""Variables of our own that a graph under construction can use without noticing that they were made."""

from __future__ import annotations

import weakref
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow.measure.own_thread import in_own_thread
from whygrad.graph.node import OWN

_kept: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()


def hidden_variable(value: Any, *, dtype: Any = None, name: str) -> Any:
    """A variable that lives outside of every graph and scope.

    `tf.function` traces a second time when a variable is made while it traces, and refuses one made later. Its scopes
    belong to the thread, so another thread makes the variable; no hook takes note of it there.
    """
    return in_own_thread(lambda: tf.Variable(value, dtype=dtype, trainable=False, name=f"{OWN}{name}"))


def keep_with_graph(variable: Any) -> None:
    """Let a variable live as long as the graph that is being built: graphs hold variables weakly."""
    if not tf.executing_eagerly():
        _kept.setdefault(tf.compat.v1.get_default_graph(), []).append(variable)
