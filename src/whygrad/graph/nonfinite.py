"""NaN and Inf, and numbers that lost their scale: what was seen where, what went in. Numbers only, no arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from whygrad.graph.node import Action, OpKind, VariableId
from whygrad.source import SourceSpan

SEVERAL: Final = 3  # steps, the gradients of all of which are bad, that are no accident of a loss scale


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueFacts:
    """What is known of a tensor's values; `low` and `high` are over the finite elements."""

    dtype: str
    shape: tuple[int, ...] = ()
    low: float | None = None  # None: no finite element
    high: float | None = None
    zeros: int = 0
    negatives: int = 0
    nans: int = 0
    infs: int = 0

    @property
    def size(self) -> int:
        count = 1
        for length in self.shape:
            count *= length
        return count


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """When it was seen: the request whose target or gradients were not finite, or the update."""

    request: SourceSpan | None = None
    in_update: bool = False  # the gradients were finite; what was then made of them for an update is not
    step: int = 1  # the first bad request at this place, counted from 1
    seen: int = 1  # bad requests at this place
    of: int = 1  # all requests at this place
    loss_is_bad: bool = False
    symptom: str = "NaN"  # what the loss is, or the gradient where the loss is finite: NaN or Inf
    variables: tuple[VariableId, ...] = ()  # whose gradients were not finite
    skipped: bool = False  # the bad gradients were dropped
    compiled: bool = False

    @property
    def went_on(self) -> bool:
        """Whether training went on without the bad gradients; it did not where every step was bad.

        A loss scale that is too high spoils the first gradients, but makes no NaN of the loss itself.
        """
        nan = self.loss_is_bad and self.symptom == "NaN"
        return self.skipped and not self.seen >= max(self.of, 1 if nan else SEVERAL)


class Stage(StrEnum):
    """The point of its life at which a value that is not finite was seen."""

    BORN = "born"  # an op made it of finite values; the first one of those that reach the loss or a gradient
    ENTERED = "entered"  # it came in with the data, or with a variable that no update had touched
    SPREAD = "spread"  # one bad gradient made others bad, which were finite, through a norm they share
    SUMMED = "summed"  # it was added to the gradients of other micro-batches, and the sum was applied
    UPDATE = "update"  # an update made it of finite gradients and variables
    UNPLACED = "unplaced"  # it was seen at the end, and where it came from could not be found


@dataclass(frozen=True, slots=True, kw_only=True)
class Feeder:
    """An op whose result went into another op, directly or through others. CONSTANT and READ: the value came in."""

    kind: OpKind
    action: Action | None = None
    where: SourceSpan | None = None
    into: int | None = None  # the position of the feeder that took the result; None: the op itself took it
    low: float | None = None  # over the finite elements of the result; None: there are none, or it is not known
    high: float | None = None

    @property
    def magnitude(self) -> float:
        return max(abs(self.low or 0.0), abs(self.high or 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingOp:
    """The op that made a value that is not finite; the forward op, also where its derivative made it."""

    kind: OpKind
    name: str  # the framework's own word for it, for display only
    action: Action | None = None
    backward: bool = False
    inputs: tuple[ValueFacts, ...] = ()
    fed_by: tuple[Feeder, ...] = ()  # the nearest first, then those with the largest results
    is_masked: bool = False  # a select takes the other branch at the elements that are not finite
    finite_when_wider: bool = False  # the same op in float32 gives finite values
    layers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateFacts:
    """The update of an optimizer, and what is known of the optimizer."""

    optimizer: str
    where: SourceSpan | None = None
    made: SourceSpan | None = None  # where the optimizer was made
    epsilon: float | None = None
    dtype: str = ""  # of the variables that are not finite after it


@dataclass(frozen=True, slots=True, kw_only=True)
class Nonfinite:
    """A value that is not finite was seen; which fields are filled depends on the stage."""

    stage: Stage
    where: SourceSpan | None  # UPDATE: the expression that made it, else the update; UNPLACED: where it was seen
    value: ValueFacts | None = None
    op: FailingOp | None = None  # BORN; UPDATE: where the user's own code made it
    update: UpdateFacts | None = None  # UPDATE; UNPLACED: the one that got gradients which were changed before
    variables: tuple[VariableId, ...] = ()  # that hold it, or whose gradients do
    culprits: tuple[VariableId, ...] = ()  # SPREAD: whose gradients were bad before
    inside_optimizer: bool = False  # SPREAD
    used_at: SourceSpan | None = None  # ENTERED: the first expression that takes it; SUMMED: the sum is applied
    masked_by: SourceSpan | None = None  # a select that takes the other branch at these elements
    written_at: SourceSpan | None = None  # ENTERED: the write by user code that made the variable so
    rows: tuple[int, ...] = ()  # examples of the batch with bad elements, the first few; empty: not known
    columns: tuple[int, ...] = ()
    batch: int | None = None  # the number of examples
    replica: int | None = None  # the one of several whose part of the batch this is; None: there is one, or all are bad
    pieces: int = 0  # SUMMED: gradients in the sum
    bad_pieces: int = 0  # SUMMED: gradients that were not finite
    reason: str = ""  # UNPLACED: why it could not be found
    exact: bool = True  # False: found by running the step again with other random numbers, rounding, or older weights
    tries: int = 0  # runs of the step with other random numbers or last digits, the last of which showed it; 0: none
    rounded_otherwise: bool = False  # with the last digits of what its ops gave changed, as compiling them may do
    when: Occurrence = field(default_factory=Occurrence)


class Scaling(StrEnum):
    """How numbers lost their scale."""

    ENLARGED = "enlarged"  # by one op of the backward pass, more than by any other
    CAST = "cast"  # elements became zero in a cast of the backward pass, more than in any other
    DIVIDED = "divided"  # an optimizer divided gradients by a loss scale, and no loss had been multiplied by it


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """Finite numbers changed their scale on the way from the loss to the variables."""

    how: Scaling
    where: SourceSpan | None  # the forward op whose derivative did it, or the update
    factor: float | None = None  # ENLARGED: largest out against largest in; DIVIDED: the loss scale
    largest: float = 0.0  # ENLARGED: element of the gradient that came out
    fed_by: tuple[Feeder, ...] = ()  # ENLARGED: what went into the forward op
    rows: tuple[int, ...] = ()  # ENLARGED: with the largest elements
    lost: int = 0  # CAST: elements that became zero
    of: int = 0  # CAST: elements that were not zero before
    variables: tuple[VariableId, ...] = ()  # CAST: whose gradient is zero in the end
    optimizer: str = ""  # DIVIDED
    when: Occurrence = field(default_factory=Occurrence)
