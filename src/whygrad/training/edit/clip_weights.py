"""`ClipWeights`: keep weights within bounds after each update."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from whygrad.arguments import check_number
from whygrad.backends.tensorflow import compat
from whygrad.errors import UsageError
from whygrad.training.edit.owned_variables import Pattern, trained
from whygrad.training.edit.planned_edit import PlannedEdit
from whygrad.training.replicas import write


class ClipWeights(PlannedEdit):
    """Clip the weights of a model after each step.

    One of: each element to `low` and `high` (`limit=c` is `-c` and `c`), each variable to a `norm`, all to a
    `global_norm`.
    """

    def __init__(
        self,
        model: Any,
        limit: float | None = None,
        *,
        low: float | None = None,
        high: float | None = None,
        norm: float | None = None,
        global_norm: float | None = None,
        layers: Pattern | None = None,
        every: int = 1,
        name: str | None = None,
    ) -> None:
        for key, bound in {"limit": limit, "low": low, "high": high, "norm": norm, "global_norm": global_norm}.items():
            if bound is not None:
                check_number(key, bound, help="`limit=0.01` keeps every weight from -0.01 to 0.01")
        if limit is not None:
            if limit < 0 or low is not None or high is not None:
                raise UsageError("`limit` is positive and stands for both `low` and `high`")
            low, high = -limit, limit
        ways = [low is not None or high is not None, norm is not None, global_norm is not None]
        if sum(ways) != 1:
            raise UsageError("give one way to clip", help="`limit`, `low` and `high`, `norm` or `global_norm`")
        if low is not None and high is not None and low > high:
            raise UsageError(f"`low` is above `high`: {low} > {high}")
        variables = trained(model, layers)
        super().__init__(variables, every=every, name=name)
        self._low, self._high, self._norm, self._global_norm = low, high, norm, global_norm

    def _act(self, now: Any, times: Any) -> None:
        factor = self._global_factor() if self._global_norm is not None else None
        for variable in self._held.variables:
            write(variable, lambda own: self._clipped(tf.convert_to_tensor(own), factor))

    def _clipped(self, value: Any, factor: Any) -> Any:
        if factor is not None:
            return value * tf.cast(factor, value.dtype)
        if self._norm is not None:
            return tf.clip_by_norm(value, self._norm)
        value = value if self._low is None else tf.maximum(value, tf.cast(self._low, value.dtype))
        return value if self._high is None else tf.minimum(value, tf.cast(self._high, value.dtype))

    def _global_factor(self) -> Any:
        values = [tf.cast(compat.native(v).read_value(), tf.float32) for v in self._held.variables]
        whole = tf.linalg.global_norm(values)
        limit = tf.constant(self._global_norm, tf.float32)
        return tf.where(whole > limit, limit / whole, tf.ones_like(whole))
