"""Which calls of a model say `training=False`, and on whose behalf."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.log.positions import span
from whygrad.source import SourceSpan
from whygrad.source.position import user_frame
from whygrad.source.training_call import unknowing_step

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.log.recorder import Recorder

_KEPT = 32  # places of one layer


@dataclass(slots=True)
class FlagUse:
    """How one layer is called by user code."""

    taught: bool = False  # some call said `training=True`
    refused: dict[Any, tuple[Any, ...]] = field(default_factory=dict)  # under a tape; the places around each
    untaped: set[Any] = field(default_factory=set)


class TrainingFlags:
    def __init__(self) -> None:
        self.uses: weakref.WeakKeyDictionary[Any, FlagUse] = weakref.WeakKeyDictionary()

    def called(self, layer: Any, value: Any, frame: FrameType, recorder: Recorder) -> None:
        use = self.uses.get(layer)
        if use is None:
            use = self.uses[layer] = FlagUse()
        if value:
            use.taught = True
        elif not recorder.tapes and len(use.untaped) < _KEPT:
            use.untaped.add(recorder._place_of(frame))
        elif value is not None and len(use.refused) < _KEPT:
            place = recorder._place_of(frame)
            if place not in use.refused:
                use.refused[place] = tuple(_around(frame, recorder))

    def refusal(self, layer: Any, inner: list[Any]) -> tuple[SourceSpan, SourceSpan] | None:
        """Where a function says `training=False` for a training step that does not know, and the step's call of it."""
        use = self.uses.get(layer)
        if use is None or use.taught or any(map(_has_seen_data, inner)):
            return None
        for place, around in use.refused.items():
            call, callers = span(place), [s for each in around if (s := span(each)) is not None]
            step = None if call is None else unknowing_step(call, callers, used_elsewhere=place in use.untaped)
            if call is not None and step is not None:
                return call, step
        return None


def flag_given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The `training` argument of a layer call; None: not given. A tensor counts as True: it is decided elsewhere."""
    value = kwargs.get("training", args[1] if len(args) > 1 and isinstance(args[1], bool) else None)
    return value if value is None or isinstance(value, (bool, int)) else True


def _around(frame: FrameType, recorder: Recorder) -> list[Any]:
    found: list[Any] = []
    outer = user_frame(frame.f_back)
    while outer is not None and len(found) < 8:
        found.append(recorder._place_of(outer))
        outer = user_frame(outer.f_back)
    return found


def _has_seen_data(layer: Any) -> bool:
    """Whether a normalisation has statistics of its own: then inference mode is how fine-tuning is done."""
    mean, variance = getattr(layer, "moving_mean", None), getattr(layer, "moving_variance", None)
    if mean is None or variance is None:
        return False
    return bool(mean.numpy().any() or (variance.numpy() != 1.0).any())
