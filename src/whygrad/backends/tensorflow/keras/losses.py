"""Calls of loss objects and of the frameworks' own loss functions: which argument is the label, which the prediction.

The functions are not hooked: who compiles a model with one keeps the function itself. They are known by their code.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from types import CodeType, FrameType, ModuleType
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.source.position import CodeOwner, owner_of

_OVER_CLASSES: Final = ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
_LOGARITHMS: Final = ("Log", "Log1p")
_TELLING: Final = (*_LOGARITHMS, *_OVER_CLASSES, "Square", "Abs")  # all of these functions run one of them
TELLING: Final = frozenset({*_TELLING, *(name.encode() for name in _TELLING)})
_FUNCTIONS: Final = {
    "losses": (
        "mean_squared_error",
        "mean_absolute_error",
        "sparse_categorical_crossentropy",
        "categorical_crossentropy",
        "binary_crossentropy",
        "categorical_focal_crossentropy",
        "binary_focal_crossentropy",
        "poisson",
    ),
    "ops": ("categorical_crossentropy", "binary_crossentropy", "sparse_categorical_crossentropy"),
    "backend": ("categorical_crossentropy", "binary_crossentropy", "sparse_categorical_crossentropy"),
    "nn": (
        "sigmoid_cross_entropy_with_logits",
        "weighted_cross_entropy_with_logits",
        "softmax_cross_entropy_with_logits",
        "sparse_softmax_cross_entropy_with_logits",
    ),
}  # all of them take the label first and the prediction second
_MAX_FRAMES: Final = 48


OnFunction = Callable[[str, bool, Any, Any, FrameType], None]  # name, whether of logits, label, prediction


class Losses:
    def __init__(self, recorder: Recorder, frameworks: list[ModuleType], on_function: OnFunction) -> None:
        self._recorder = recorder
        self._on_function = on_function
        self.seen: weakref.WeakSet[Any] = weakref.WeakSet()  # loss objects
        self._functions: dict[int, CodeType] = {}  # by their identity: a frame is compared with them at every logarithm
        self._objects: dict[int, CodeType] = {}  # how a loss object is called: the hook on it knows the arguments
        self._last: tuple[Any, ...] = ()  # where, and of which tensors
        for framework in frameworks:
            self.learn(framework)

    def learn(self, framework: ModuleType) -> None:
        """The functions of a framework; asking TensorFlow for one of Keras would import it."""
        is_keras = framework.__name__ != "tensorflow"
        for home in ("losses", "ops", "backend") if is_keras else ("nn",):
            for name in _FUNCTIONS[home]:
                _remember(self._functions, getattr(getattr(framework, home, None), name, None))
        if is_keras:
            _remember(self._objects, framework.losses.Loss.__call__)

    def note_object(self, loss: Any, frame: FrameType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Log the call of a loss object."""
        recorder = self._recorder
        self.seen.add(loss)
        given = {**dict(zip(("y_true", "y_pred"), args, strict=False)), **kwargs}
        ids = [compat.id_of(given.get(name)) for name in ("y_pred", "y_true")]
        if recorder.paused or None in ids:
            return
        function = getattr(loss, "fn", None) if type(loss).__name__ == "LossFunctionWrapper" else type(loss)
        own = str(getattr(function, "__module__", "")).split(".")[0] in ("keras", "tf_keras")
        name = f"LossCall:{getattr(function, '__name__', type(loss).__name__) if own else 'function'}"
        recorder.add_virtual(name, filter(None, ids), (), recorder.places.at(frame), compat.current_graph())

    def _tell(self, function: FrameType, label: Any, prediction: Any, frame: FrameType) -> None:
        name = function.f_code.co_name
        of_logits = "_with_logits" in name or bool(function.f_locals.get("from_logits", False))
        self._on_function(name, of_logits, label, prediction, frame)

    def note_function(self, op_type: str, frame: FrameType | None, graph: Any) -> None:
        """Log the call of a loss function that an op was run for, unless a loss object made it."""
        recorder = self._recorder
        found: FrameType | None = None
        for _ in range(0 if recorder.paused else _MAX_FRAMES):
            if frame is None or owner_of(frame.f_code) is CodeOwner.USER:
                break
            if id(frame.f_code) in self._objects:
                return
            found = frame if id(frame.f_code) in self._functions else found
            frame = frame.f_back
        if found is None or frame is None:
            return
        label, prediction = (found.f_locals.get(name) for name in found.f_code.co_varnames[:2])
        self._tell(found, label, prediction, frame)
        if op_type not in _LOGARITHMS:  # a distance has no order, and other ops say themselves which is which
            return
        ids = [compat.id_of(tensor) for tensor in (prediction, label)]
        place = recorder.places.of(frame)
        if None not in ids and self._last != (place, *ids):
            self._last = (place, *ids)
            recorder.add_virtual(f"LossCall:{found.f_code.co_name}", filter(None, ids), (), place, graph)


def _remember(codes: dict[int, CodeType], function: Any) -> None:
    code = None if function is None else getattr(inspect.unwrap(function), "__code__", None)
    if code is not None:
        codes[id(code)] = code
