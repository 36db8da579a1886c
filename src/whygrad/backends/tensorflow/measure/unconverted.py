"""Keep AutoGraph out of our own code: what it would rewrite is plain Python that builds a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import tensorflow as tf

F = TypeVar("F", bound=Callable[..., Any])


def unconverted(function: F) -> F:
    """The function, left as it is when it is called inside `tf.function`."""
    return cast(F, tf.autograph.experimental.do_not_convert(function))
