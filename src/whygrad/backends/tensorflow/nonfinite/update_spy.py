"""Listens to the ops of an eager update where the user's own code takes part in it: an optimizer, a schedule."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from types import FrameType, FunctionType
from typing import Any

from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.measure.finite import facts_of_values, is_finite
from whygrad.backends.tensorflow.nonfinite.birth import failing_op
from whygrad.graph.nonfinite import Nonfinite, Stage
from whygrad.observe.place import span
from whygrad.source.position import CodeOwner, owner_of

_PARTS = ("inner_optimizer", "_learning_rate")


@dataclass(slots=True)
class UpdateSpy:
    """The first op of one update, in the user's code, whose output is not finite although its inputs are."""

    recorder: Recorder
    variables: list[int]
    above: FrameType  # the frame that asks for the update
    born: Nonfinite | None = None

    def on_op(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, frame: FrameType) -> None:
        if self.born is not None or all(map(is_finite, outputs)) or not all(map(is_finite, inputs)):
            return
        place = self.recorder.place_below(frame, self.above)
        if place is None:
            return
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        op = failing_op(name, filter(_is_float, inputs))
        self.born = Nonfinite(stage=Stage.BORN, where=span(place), value=facts_of_values(outputs[0]), op=op)


def has_users_code(optimizer: Any) -> bool:
    """Whether a class of the user's own makes the update."""
    parts = (optimizer, *(getattr(optimizer, name, None) for name in _PARTS))
    return any(_are_users(type(part).__mro__) for part in parts if part is not None)


@functools.lru_cache(maxsize=256)
def _are_users(classes: tuple[type, ...]) -> bool:
    methods = (method for each in classes for method in vars(each).values() if isinstance(method, FunctionType))
    return any(owner_of(method.__code__) is CodeOwner.USER for method in methods)


def _is_float(tensor: Any) -> bool:
    return bool(getattr(getattr(tensor, "dtype", None), "is_floating", False))
