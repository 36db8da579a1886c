"""Targets of one persistent tape that hold the earlier ones: a running sum of losses, differentiated at each term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.log.op_record import OpRecord

_ADDING = frozenset({"Add", "AddV2", "AddN", "Identity", "Mul", "RealDiv", "Neg", "Sum", "Mean", "Pack"})
_LOOKED_AT = 64  # ops behind one target
_KEPT = 64  # targets of one tape


class CarriedTargets:
    def __init__(self) -> None:
        self._tape = 0
        self._earlier: dict[int, int] = {}  # target -> the number of the request

    def inside(
        self, tape: int, targets: Sequence[int], number: int, made: Mapping[int, OpRecord | None]
    ) -> frozenset[int]:
        """The earlier requests to the same tape whose targets were added up in these."""
        if tape != self._tape:
            self._tape, self._earlier = tape, {}
        found = frozenset(self._behind(targets, made)) if self._earlier else frozenset()
        if len(self._earlier) < _KEPT:
            self._earlier.update(dict.fromkeys(targets, number))
        return found

    def _behind(self, targets: Sequence[int], made: Mapping[int, OpRecord | None]) -> set[int]:
        waiting, found, seen = list(targets), set[int](), set(targets)
        while waiting and len(seen) < _LOOKED_AT:
            record = made.get(waiting.pop())
            for tensor in record.inputs if record is not None and record.type in _ADDING else ():
                if tensor in self._earlier:
                    found.add(self._earlier[tensor])
                if tensor not in seen:
                    seen.add(tensor)
                    waiting.append(tensor)
        return found
