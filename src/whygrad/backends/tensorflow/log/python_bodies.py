"""Python functions that run as ops: the op inside of one that made the first value that is not finite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.finite import is_finite
from whygrad.observe.place import Place

_MOST: Final = 16  # calls whose ops are held until their gradient is asked for, and gradients after that


class InnerOp(NamedTuple):
    """An op inside of such a function, with what went in."""

    type: str
    inputs: tuple[Any, ...]
    place: Place


class BadOp(NamedTuple):
    """The first op of a function that makes a bad value of finite ones, or whose gradient does."""

    op: InnerOp
    backward: bool


class PythonBodies:
    """The functions whose gradient is wanted, each by the token of the op that runs it."""

    def __init__(self) -> None:
        self.bad: dict[str, BadOp] = {}
        self.bad_gradient: dict[str, BadOp] = {}  # by the token of the op that is differentiated
        self.gave_back: dict[str, list[Any]] = {}  # the gradients themselves, by the same
        self._ran: dict[str, dict[tuple[str, int], InnerOp]] = {}  # by type and the id of what went in or came out
        self._differentiated: InnerOp | None = None

    def begin(self, token: str, place_at: Callable[[Any], Place]) -> Callable[..., None]:
        """A function starts; what is returned is to be told of each op that runs inside."""
        _drop_oldest(self._ran)
        ran = self._ran[token] = {}

        def on_op(op_type: Any, inputs: Any, outputs: Any, frame: Any) -> None:
            op = InnerOp(compat.text_of(op_type), tuple(inputs), place_at(frame))
            ran.update(((op.type, compat.tensor_id(tensor)), op) for tensor in (*inputs, *outputs))
            if self._is_first(token, inputs, outputs):
                self.bad[token] = BadOp(op, backward=False)

        return on_op

    def begin_gradient(self, token: str, of: str) -> Callable[..., None]:
        """The same of TensorFlow's own function that differentiates what the function of another op computed."""

        def on_op(_: Any, inputs: Any, outputs: Any, __: Any) -> None:
            if self._differentiated is not None and self._is_first(token, inputs, outputs):
                self.bad[token] = self.bad_gradient[of] = BadOp(self._differentiated, backward=True)

        return on_op

    def end_gradient(self, of: str, given: Any) -> None:
        _drop_oldest(self.gave_back)
        self.gave_back[of] = list(given) if isinstance(given, (list, tuple)) else [given]
        self._ran.pop(of, None)

    def differentiated(self, op_name: str, inputs: Any, outputs: Any) -> Callable[[], None] | None:
        """A gradient function is called for an op; what is returned is to be called after. None: it ran elsewhere."""
        keys = [(op_name, compat.id_of(tensor) or -1) for tensor in (*(outputs or ()), *(inputs or ()))]
        found = next((ran[key] for ran in self._ran.values() for key in keys if key in ran), None)
        if found is None:
            return None
        before, self._differentiated = self._differentiated, found
        return lambda: setattr(self, "_differentiated", before)

    def _is_first(self, token: str, inputs: Any, outputs: Any) -> bool:
        known = token in self.bad or len(self.bad) >= _MOST
        return not known and not all(map(is_finite, outputs)) and all(map(is_finite, inputs))


def _drop_oldest(known: dict[str, Any]) -> None:
    for old in list(known)[: 1 - _MOST]:
        del known[old]
