"""What a step must keep so that it can be replayed: the values that no op of it can make again.

Only what is alive anyway is held: the batch, reads of variables (a shared buffer, no copy), random draws. All of it is
let go before an update, so that the optimizer still writes in place.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.op_record import OpRecord

Makers = Mapping[int, OpRecord | None]  # by tensor
MOST_FOLLOWED: Final = 10_000  # tensors; whoever computes more with gradients does not update with them
MOST_BESIDE: Final = 1_000_000  # elements, handled by ops that take no gradient: a rate, where a search began


class WayBack(NamedTuple):
    """A gradient that is no op's own: a user's custom one, or a compiled function's."""

    backward: Any
    outputs: tuple[int, ...]  # tensor ids
    inputs: tuple[int, ...]


class Episode:
    """From the moment a first tape records to the last gradient that is asked of its tapes."""

    __slots__ = ("__weakref__", "closures", "held", "scaled", "start", "tapes")

    def __init__(self, start: int) -> None:
        self.start = start  # the recorder's clock
        self.held: dict[int, Any] = {}  # tensor id -> tensor
        self.closures: dict[int, WayBack] = {}  # first output -> how to go back
        self.scaled: dict[int, int] = {}  # scaled loss -> loss, by tensor id
        self.tapes = 0  # tapes that may still be asked

    def hold(self, op: OpRecord, inputs: Sequence[Any], outputs: Sequence[Any], makers: Makers) -> None:
        """Keep what a replay of this op could not make again."""
        held, start = self.held, self.start
        for index, number in enumerate(op.inputs):
            maker = makers[number]
            if (maker is None or maker.sequence <= start) and number not in held:
                held[number] = inputs[index]
        if not op.type.startswith("__") and compat.is_stateful(op.type):
            for tensor in outputs:
                held[compat.tensor_id(tensor)] = tensor


class Aftermath(Episode):
    """From a gradient to the update that takes it: what is computed with gradients, and what is small beside them.

    Variables are read again rather than held: whoever writes them by hand still writes in place.
    """

    __slots__ = ("_counted", "_room", "reach")

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.reach: set[int] = set()
        self._room = MOST_BESIDE
        self._counted: set[object] = set()

    def take(self, gradients: Iterable[Any]) -> None:
        """From here on it is followed what becomes of these."""
        given = {compat.tensor_id(tensor): tensor for tensor in gradients if tensor is not None}
        self.held |= given
        self.reach |= given.keys()

    def hold(self, op: OpRecord, inputs: Sequence[Any], outputs: Sequence[Any], makers: Makers) -> None:
        if not outputs or len(self.reach) >= MOST_FOLLOWED:
            return
        if not self.reach.isdisjoint(op.inputs):
            self.reach.update(map(compat.tensor_id, outputs))
        elif self._room > 0:
            self._room -= sum(tensor.shape.num_elements() or 1 for tensor in (*inputs, *outputs))
        else:
            return
        super().hold(op, inputs, outputs, makers)

    def counts(self, what: object) -> bool:
        """Whether this is the first of its kind since the gradients were asked for: a step writes many variables."""
        is_first = what not in self._counted
        self._counted.add(what)
        return is_first

    def has_changed(self, tensor: Any) -> bool:
        """Whether something was computed with gradients to make this."""
        number = compat.id_of(tensor)
        return number in self.reach and number not in self.held


class Episodes:
    """Which episode each living tape belongs to."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.of_tape: weakref.WeakKeyDictionary[Any, Episode] = weakref.WeakKeyDictionary()

    def entered(self, tape: Any) -> None:
        """A tape begins to record, or goes on; the first one begins an episode."""
        recorder = self.recorder
        if not recorder.tapes or recorder.episode is None:
            recorder.episode = self.of_tape.get(tape) or Episode(recorder.now)
        if tape not in self.of_tape:
            self.of_tape[tape] = recorder.episode
            recorder.episode.tapes += 1
        recorder.aftermath = None

    def asked(self, tape: Any, *, again: bool) -> None:
        """A gradient was taken; a tape that cannot be asked again needs nothing any more."""
        if again:
            return
        episode = self.of_tape.pop(tape, None)
        if episode is not None:
            episode.tapes -= 1
            if episode.tapes <= 0 and episode is self.recorder.episode:
                self.recorder.episode = None

    def answered(self, gradients: Iterable[Any]) -> None:
        """An eager request gave these; where no tape goes on recording, what becomes of them is followed."""
        recorder = self.recorder
        if not recorder.tapes:
            if recorder.aftermath is None:
                recorder.aftermath = Aftermath(recorder.now)
            recorder.aftermath.take(gradients)

    def updating(self) -> None:
        """Variables are about to be written; a living tape that may be asked again keeps its own episode."""
        self.recorder.aftermath = None
        if not self.recorder.tapes:
            self.recorder.episode = None
