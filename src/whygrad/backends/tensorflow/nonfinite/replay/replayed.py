"""A request of an eager step, replayed: its targets now, its gradients when they are wanted."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from whygrad.backends.tensorflow.log.requests import RequestEntry, Ticket
from whygrad.backends.tensorflow.nonfinite.replay.backward import Sweep
from whygrad.backends.tensorflow.nonfinite.replay.eager import EagerReplay
from whygrad.backends.tensorflow.nonfinite.replay.trace import ReplayError, Trace, Value
from whygrad.backends.tensorflow.nonfinite.watched import Watched


@dataclass(frozen=True, slots=True)
class Replayed:
    """The forward pass has run when this is made."""

    entry: RequestEntry
    replay: EagerReplay
    targets: list[Value]
    given: list[Any]  # gradients that come in
    is_unscaled: bool  # the targets are the losses before they were scaled

    @property
    def trace(self) -> Trace:
        return self.replay.trace

    def sweep_back(self) -> Sweep:
        """The backward pass, op by op."""
        sources = self.entry.sources
        variables = [source.variable for source in sources if source.variable is not None]
        tensors = [source.tensor for source in sources if source.tensor is not None]
        sweep = Sweep(self.replay, self.entry.tape, variables, tensors)
        sweep.run(self.targets, self.given)
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
    unscaled = [value for number in episode.scaled.values() if (value := replay.value(number)) is not None]
    if unscaled:  # what overflows only because the loss is scaled is what loss scaling is there to absorb
        return Replayed(entry, replay, unscaled, [None] * len(unscaled), is_unscaled=True)
    given = list(ticket.output_gradients or [None] * len(targets))
    return Replayed(entry, replay, targets, given, is_unscaled=False)
