"""Losses that user code writes out itself, known by the ops that compare a prediction with a target."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.keras.layer_chain import LayerChain
from whygrad.backends.tensorflow.keras.loss_sites import MARGIN
from whygrad.source.position import user_frame

_OPS: Final = ("Mul", "Sub", "Maximum", "Relu")
COMPARING: Final = frozenset({*_OPS, *(name.encode() for name in _OPS)})

OnLoss = Callable[[str, bool, Any, Any, FrameType], None]  # name, whether of logits, target, prediction


class ByHand:
    """Follows `max(0, 1 - y * p)`: the product of a prediction and something else, taken from one, cut off at zero."""

    def __init__(self, chain: LayerChain, on_loss: OnLoss) -> None:
        self._chain = chain
        self._on_loss = on_loss
        self._compared: tuple[Any, Any] | None = None  # target and prediction of the last product
        self._product: int | None = None
        self._margin: int | None = None

    def note(self, op_type: str, inputs: Any, outputs: Any, frame: FrameType | None) -> None:
        """An op of one of these types ran, or was traced."""
        ids = [compat.id_of(each) for each in inputs]
        if op_type == "Mul":
            outs = [each in self._chain.given for each in ids]
            if outs in ([True, False], [False, True]):
                self._compared = (inputs[outs.index(False)], inputs[outs.index(True)])
                self._product = compat.id_of(outputs[0])
        elif op_type == "Sub":
            if self._product is not None and ids[1] == self._product and compat.shape_of(inputs[0]) == ():
                self._margin = compat.id_of(outputs[0])
        elif self._margin is not None and self._margin in ids and self._compared is not None:
            user = user_frame(frame)
            if user is not None:
                self._on_loss(MARGIN, False, *self._compared, user)
            self._compared = self._product = self._margin = None
