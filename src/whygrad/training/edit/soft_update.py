"""`SoftUpdate`: a target network that follows another."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from whygrad.arguments import check_number
from whygrad.backends.tensorflow import compat
from whygrad.errors import UsageError
from whygrad.training.edit.owned_variables import variables_of
from whygrad.training.edit.planned_edit import Held, PlannedEdit
from whygrad.training.replicas import mixed, write
from whygrad.training.variables import name_of, shape_of


class SoftUpdate(PlannedEdit):
    """`target = (1 - rate) * target + rate * source` every so many steps; `rate=1` copies.

    Weights and statistics (batch normalisation) follow; whole numbers are copied. Two networks that share a variable,
    or do not match, are refused. With `sync=True` the target starts as a copy.
    """

    def __init__(
        self,
        target: Any,
        source: Any,
        rate: float = 0.005,
        *,
        every: int = 1,
        sync: bool = False,
        name: str | None = None,
    ) -> None:
        check_number("rate", rate, "above 0 and at most 1", lambda number: 0.0 < number <= 1.0, help="`rate=1` copies")
        targets, sources = _weights(target), _weights(source)
        _check(targets, sources)
        super().__init__(targets, every=every, name=name)
        self._rate = float(rate)
        self._sources = Held(sources)
        if sync:
            self.copy()

    def copy(self) -> None:
        """Make the target equal to the source now."""
        for target, source in zip(self._held.variables, self._sources.variables, strict=True):
            write(target, lambda _, new: new, source)

    def _act(self, now: Any, times: Any) -> None:
        share = 1.0 - tf.constant(1.0 - self._rate, tf.float64) ** tf.cast(times, tf.float64)
        for target, source in zip(self._held.variables, self._sources.variables, strict=True):
            write(target, lambda old, new: new if self._rate == 1.0 else mixed(old, new, share), source)


def _weights(network: Any) -> list[Any]:
    weights = None if isinstance(network, type) else getattr(network, "weights", None)
    return list(weights) if weights is not None else variables_of(network)


def _check(targets: list[Any], sources: list[Any]) -> None:
    if not targets:
        raise UsageError("the target has no variables yet", help="build both networks first, by calling each once")
    own = {id(compat.native(target)) for target in targets}
    shared = next((source for source in sources if id(compat.native(source)) in own), None)
    if shared is not None:
        raise UsageError(
            f"target and source share `{name_of(shared)}`: an update would change nothing",
            help="make the target a network of its own, such as keras.models.clone_model(source)",
        )
    if len(targets) != len(sources):
        raise UsageError(f"the target has {len(targets)} variables, the source {len(sources)}")
    for target, source in zip(targets, sources, strict=True):
        if shape_of(target) != shape_of(source):
            raise UsageError(
                f"`{name_of(target)}` has shape {shape_of(target)}, `{name_of(source)}` {shape_of(source)}",
                help="both networks must list their variables in the same order",
            )
