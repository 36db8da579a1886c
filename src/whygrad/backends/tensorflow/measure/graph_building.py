"""Building blocks of code that runs at once or as part of a graph, whichever is being built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import tensorflow as tf

F = TypeVar("F", bound=Callable[..., Any])


def unconverted(function: F) -> F:
    """The function, left as it is inside `tf.function`: what AutoGraph would rewrite is Python that builds a graph."""
    return cast(F, tf.autograph.experimental.do_not_convert(function))


def choose(condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> None:
    """Run one branch: at once where the condition is known, as part of the graph where it is not."""
    if tf.executing_eagerly():
        yes() if bool(condition) else no()
        return

    def run(branch: Callable[[], Any]) -> Callable[[], None]:
        def silent() -> None:
            branch()

        return silent

    tf.cond(condition, run(yes), run(no))


class Factor:
    """A float64 scalar, cast and negated once for each dtype and not once for each variable."""

    def __init__(self, value: Any) -> None:
        self._casts: dict[tuple[tf.DType, bool], Any] = {(tf.float64, False): value}

    def of(self, dtype: tf.DType, *, negative: bool = False) -> Any:
        """The factor in `dtype`, or minus it."""
        key = (dtype, negative)
        if key not in self._casts:
            plain = tf.cast(self._casts[tf.float64, False], dtype)
            self._casts[key] = -plain if negative else plain
        return self._casts[key]


def scaled(value: Any, factor: Factor | None, dtype: tf.DType) -> Any:
    """`value * factor` in `dtype`, worked out in float32 at least; a factor of None leaves the value as it is."""
    if factor is None:
        return tf.cast(value, dtype)
    wide = value.dtype if value.dtype.size >= 4 else tf.float32
    return tf.cast(tf.cast(value, wide) * factor.of(wide), dtype)
