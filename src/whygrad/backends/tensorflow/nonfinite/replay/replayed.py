"""A request of an eager step, replayed: its targets now, its gradients when they are wanted."""

from __future__ import annotations

import sys
from typing import Any

from whygrad.backends.tensorflow.log.requests import Ticket
from whygrad.backends.tensorflow.nonfinite.replay.backward import Sweep
from whygrad.backends.tensorflow.nonfinite.replay.eager import EagerReplay
from whygrad.backends.tensorflow.nonfinite.replay.trace import ReplayError, Trace, Value
from whygrad.backends.tensorflow.nonfinite.watched import Watched


class Replayed:
    """The forward pass has run when this is made."""

    def __init__(self, ticket: Ticket, replay: EagerReplay, targets: list[Value], given: list[Any]) -> None:
        self.place = ticket.entry.place
        self.targets = targets
        self.is_unscaled = False
        self._entry = ticket.entry
        self._replay = replay
        self._given = given

    @property
    def trace(self) -> Trace:
        return self._replay.trace

    def start_from(self, targets: list[Value]) -> None:
        """Differentiate these instead: the loss before it was scaled."""
        self.targets, self._given, self.is_unscaled = targets, [None] * len(targets), True

    def sweep_back(self) -> Sweep:
        """The backward pass, op by op."""
        sources = self._entry.sources
        variables = [source.variable for source in sources if source.variable is not None]
        tensors = [source.tensor for source in sources if source.tensor is not None]
        sweep = Sweep(self._replay, self._entry.tape, variables, tensors)
        sweep.run(self.targets, self._given)
        return sweep


def replay_request(watched: Watched, ticket: Ticket) -> Replayed:
    """Run the ops behind a request's targets once more. Raises ReplayError."""
    entry, episode = ticket.entry, ticket.episode
    if episode is None:
        raise ReplayError("the values of the step are gone")
    replay = EagerReplay(watched, episode, entry.targets)
    replay.asked_from = sys._getframe()
    replay.run()
    known = [replay.value(number) for number in entry.targets]
    targets = [value for value in known if value is not None]
    if len(targets) < len(known):
        raise ReplayError("the loss itself is gone")
    replayed = Replayed(ticket, replay, targets, list(ticket.output_gradients or [None] * len(targets)))
    unscaled = [value for number in episode.scaled.values() if (value := replay.value(number)) is not None]
    if unscaled:
        # What overflows only because the loss is scaled is what loss scaling is there to absorb.
        replayed.start_from(unscaled)
    return replayed
