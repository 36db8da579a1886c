"""Calls of the frameworks' own loss functions: which argument is the label and which the prediction.

The functions are not hooked: who compiles a model with one keeps the function itself. What they do first is seen.
"""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from whygrad.source.position import CodeOwner, owner_of

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture

TELLING: Final = frozenset({"Log", "Log1p", b"Log", b"Log1p"})  # ops that all of these functions run
_ARGUMENTS: Final = {
    "categorical_crossentropy": ("y_true", "y_pred"),
    "binary_crossentropy": ("y_true", "y_pred"),
    "categorical_focal_crossentropy": ("y_true", "y_pred"),
    "binary_focal_crossentropy": ("y_true", "y_pred"),
    "poisson": ("y_true", "y_pred"),
    "sigmoid_cross_entropy_with_logits": ("labels", "logits"),
    "sigmoid_cross_entropy_with_logits_v2": ("labels", "logits"),
    "weighted_cross_entropy_with_logits_v2": ("labels", "logits"),
}
_MAX_FRAMES = 48


def note_loss_function(capture: Capture, frame: FrameType | None, graph: Any) -> None:
    """Log the call of a loss function that an op was run for, unless a loss object made it."""
    recorder = capture.recorder
    found: FrameType | None = None
    for _ in range(_MAX_FRAMES):
        if frame is None or owner_of(frame.f_code) is CodeOwner.USER or recorder.paused:
            break
        name = frame.f_code.co_name
        if name in _ARGUMENTS and _names_in(frame) is not None:
            found = frame
        elif name == "__call__" and "/losses/" in frame.f_code.co_filename.replace("\\", "/"):
            return
        frame = frame.f_back
    if found is None or frame is None or recorder.paused:
        return
    label, prediction = _names_in(found) or ("", "")
    ids = [getattr(found.f_locals.get(name), "_id", None) for name in (prediction, label)]
    place = recorder._place_of(frame)
    if None not in ids and capture.last_loss != (place, *ids):
        capture.last_loss = (place, *ids)
        recorder.add_virtual(f"LossCall:{found.f_code.co_name}", filter(None, ids), (), place, graph)


def _names_in(frame: FrameType) -> tuple[str, str] | None:
    """What label and prediction are called in a loss function; `keras.ops` has names of its own."""
    for names in (_ARGUMENTS[frame.f_code.co_name], ("target", "output")):
        if names[0] in frame.f_locals:
            return names
    return None
