"""What is kept of calls into Keras that user code made."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class ListRead:
    """User code read a list of variables of a model that was not all built."""

    layer: weakref.ref[Any]
    name: str
    attribute: str
    place: Any
    value: list[Any]
    used: bool = False
    later: tuple[int, ...] | None = None  # the variables of the list since the model was built; None: it was not yet


@dataclass(slots=True)
class FlagChange:
    layer: weakref.ref[Any]
    name: str
    value: bool
    place: Any
    order: int
    step: int = 0  # training steps made so far
    running: tuple[Any, Any] | None = None  # a model that is being trained, and its training step, which has run before
    without_effect: str | None = None  # the model that went on with the training step it had


@dataclass(slots=True)
class StepMade:
    """What a model's training step was made for."""

    trainable: frozenset[int]
    known: frozenset[int]  # all variables that were there
    since: int  # training steps made by then
    settled: bool = False  # a model that builds itself has done so


@dataclass(slots=True)
class LayerCalls:
    """Calls of one layer by user code while a tape was recording."""

    name: str
    place: Any
    flagged: bool = False  # some call said `training=...`
    unflagged: bool = False


@dataclass(slots=True)
class CompileFacts:
    place: Any
    has_loss: bool
    trainable: frozenset[int]


@dataclass(slots=True)
class TrainCall:
    layer: weakref.ref[Any]
    name: str
    method: str
    place: Any
    trainable: tuple[int, ...]
    frozen: tuple[int, ...]
    thawed_since: tuple[int, ...]
    frozen_since: tuple[int, ...]
    stale: int = 0
    added: tuple[int, ...] = ()
    as_compiled: bool = False
    raised: str | None = None
    count: int = 1
    order: int = 0  # the recorder's clock at the last call
