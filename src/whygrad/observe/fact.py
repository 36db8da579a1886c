"""What is written down of one op, of one tensor, of one traced function, in words that every framework shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from whygrad.graph.node import Action, OpKind
from whygrad.observe.place import Place
from whygrad.source.position import Position

Extent = tuple[int, int]  # from where to where along the first axis


class TensorFacts(NamedTuple):
    id: int
    dtype: Any  # the framework's own
    shape: tuple[int | None, ...] | None


class OpFact:
    """One op that ran or was traced."""

    __slots__ = (
        *("action", "blocked", "callers", "custom", "function", "inputs", "kind", "layers", "outputs"),
        *("place", "sequence", "extents", "tapes", "variable"),
    )

    def __init__(
        self,
        sequence: int,
        kind: OpKind,
        action: Action | None,
        inputs: tuple[int, ...],
        outputs: tuple[TensorFacts, ...],
    ) -> None:
        self.sequence = sequence
        self.kind = kind
        self.action = action
        self.inputs = inputs
        self.outputs = outputs
        self.place: Place = None
        self.callers: tuple[Position, ...] = ()  # user frames around the place, innermost first
        self.tapes: tuple[int, ...] = ()
        self.layers: tuple[str, ...] = ()  # the layers whose calls it ran in, outermost first
        self.custom: str | None = None  # the custom-gradient function it ran in
        self.blocked: frozenset[int] | None = None  # a custom gradient or a request: inputs that get None
        self.function: int | None = None  # the traced function it belongs to; None: it ran at once
        self.variable: int | None = None  # whose handle its first input is, resolved through captures
        self.extents: tuple[Extent | None, ...] = ()  # JOIN: where its inputs go to; SPLIT: where its outputs lay


Maker = Callable[[int], OpFact | None]  # the op that made a tensor, where it is known


class Function(Protocol):
    """A traced function, as far as a fold may ask."""

    @property
    def key(self) -> int: ...
    @property
    def inputs(self) -> Sequence[int]: ...
    @property
    def outputs(self) -> Sequence[int]: ...

    def outside(self, tensor: int) -> int | None:
        """The tensor around the function that it captured as this one."""

    def call(self, tensor: int) -> Call | None:
        """The call, branch or loop inside the function that gave a tensor."""

    def maker(self, tensor: int) -> OpFact | None: ...


class Call(NamedTuple):
    """Functions that one op runs: of a branch any of several."""

    functions: tuple[Function, ...]
    arguments: tuple[int, ...]
    output: int = 0  # which of the outputs was asked for
    straight: bool = True  # no branch and no loop
