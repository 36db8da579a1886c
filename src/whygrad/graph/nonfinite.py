"""NaN and Inf: where the first one was made, what went in, and what became of it. Numbers only, no arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from whygrad.graph.node import OpKind, VariableId
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

    @property
    def is_finite(self) -> bool:
        return not self.nans and not self.infs


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """When it was seen: the request whose target or gradients were not finite."""

    request: SourceSpan | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class NonfiniteBorn:
    """The first op whose output was not finite although its inputs were, of those that reach the end."""

    kind: OpKind
    name: str  # the framework's own word for the op
    where: SourceSpan | None  # of the forward op, also where its gradient was the first that was not finite
    backward: bool = False
    inputs: tuple[ValueFacts, ...] = ()  # of the forward op
    output: ValueFacts | None = None  # the values that are not finite
    upstream: ValueFacts | None = None  # the gradient that came in, where `backward`
    masked_by: SourceSpan | None = None  # a select that takes the other branch at these elements
    is_masked: bool = False
    finite_when_wider: bool = False  # the same op in float32 gives finite values
    fed_by: OpKind | None = None  # the kind of op that made the huge input of an overflow
    fed_at: SourceSpan | None = None
    layers: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()  # examples of the batch that are to blame; empty: not known
    batch: int | None = None
    exact: bool = True  # False: found by running the step again with other random numbers, or older weights
    when: Occurrence = field(default_factory=Occurrence)


@dataclass(frozen=True, slots=True, kw_only=True)
class NonfiniteEntered:
    """A value was not finite when it came in: with the data, or with a variable nobody had updated."""

    where: SourceSpan | None
    facts: ValueFacts
    variable: VariableId | None = None  # None: it is data
    used_at: SourceSpan | None = None
    masked_by: SourceSpan | None = None  # a select that takes the other branch at these elements
    written_at: SourceSpan | None = None  # the write by user code that made the variable so
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    when: Occurrence = field(default_factory=Occurrence)


@dataclass(frozen=True, slots=True, kw_only=True)
class NonfiniteSpread:
    """Gradients that were finite became NaN because another one was not, through their common norm."""

    where: SourceSpan | None
    victims: tuple[VariableId, ...]
    culprits: tuple[VariableId, ...]
    inside_optimizer: bool = False
    when: Occurrence = field(default_factory=Occurrence)


@dataclass(frozen=True, slots=True, kw_only=True)
class NonfiniteSummed:
    """Gradients of several micro-batches were added up and applied; some of them were finite, and the sum was not."""

    where: SourceSpan | None  # they were added up
    applied: SourceSpan | None
    variables: tuple[VariableId, ...]
    pieces: int
    bad: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NonfiniteUpdate:
    """A variable was finite and so was its gradient, and after the update it is not."""

    optimizer: str
    where: SourceSpan | None  # the update
    made: SourceSpan | None = None  # where the optimizer was made
    variables: tuple[VariableId, ...] = ()
    epsilon: float | None = None
    epsilon_vanishes: bool = False  # it is zero in the variable's dtype
    dtype: str = ""
    step: int = 1
    born: NonfiniteBorn | None = None  # the op of the user's own optimizer or schedule that made the first bad value


@dataclass(frozen=True, slots=True, kw_only=True)
class NonfiniteUnplaced:
    """Something was not finite, and its origin could not be found."""

    where: SourceSpan | None  # the request, or the call of the compiled function
    reason: str
    function: str | None = None  # the compiled function, where it is one
    variables: tuple[VariableId, ...] = ()  # those that are not finite at the end
    when: Occurrence = field(default_factory=Occurrence)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientAmplified:
    """A finite gradient that one normalisation near zero blew up."""

    name: str
    where: SourceSpan | None
    factor: float
    largest: float  # of the gradient that came out
    norm: float  # the smallest norm that was divided by
    rows: tuple[int, ...] = ()
    when: Occurrence = field(default_factory=Occurrence)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossUnscaled:
    """An optimizer that divides the gradients by a loss scale was given gradients of a loss nobody scaled."""

    optimizer: str
    where: SourceSpan | None  # the update
    request: SourceSpan | None
    made: SourceSpan | None = None
    scale: float | None = None
    seen: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientUnderflow:
    """Whole variables have a gradient of zero, because a cast to float16 on the way back has no numbers that small."""

    where: SourceSpan | None  # of the forward op whose gradient is cast
    request: SourceSpan | None
    lost: int  # elements that become zero there
    of: int  # elements that were not
    variables: tuple[VariableId, ...] = ()
