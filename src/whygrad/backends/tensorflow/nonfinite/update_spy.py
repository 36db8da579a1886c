"""Listens to the ops of an eager update where the user's own code takes part in it: an optimizer, a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.measure.finite import facts_of_values, is_finite
from whygrad.backends.tensorflow.nonfinite.birth import failing_op
from whygrad.graph.nonfinite import Nonfinite, Stage
from whygrad.observe.place import span


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
        place = self.recorder.places.below(frame, self.above)
        if place is None:
            return
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        op = failing_op(name, filter(_is_float, inputs))
        self.born = Nonfinite(stage=Stage.BORN, where=span(place), value=facts_of_values(outputs[0]), op=op)


def _is_float(tensor: Any) -> bool:
    return bool(getattr(getattr(tensor, "dtype", None), "is_floating", False))
