"""The recent past of one compiled training step: its calls, and the variables as they were before the first of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.nonfinite.replay.graphs import GraphFacts


@dataclass(slots=True)
class TracedRequest:
    """A gradient that was asked for while a function was traced; the numbers are ids of its tensors."""

    place: Any
    targets: tuple[int, ...]
    gradients: tuple[tuple[int | None, int], ...]  # (variable, gradient)


@dataclass(slots=True)
class Call:
    """One call of a compiled function."""

    arguments: tuple[Any, ...]
    batches: list[tuple[Any, ...]] | None = None  # what it took from data sets, where that is known
    python_gave: dict[str, list[Any]] = field(default_factory=dict)  # by ops that run Python
    changed: dict[int, Any] = field(default_factory=dict)  # variables that other code wrote since the call before
    drawn: int | None = None  # earlier calls, in which the ops that draw had drawn as well; None: not known


@dataclass(slots=True)
class StepHistory:
    """The recent past of one compiled function that trains."""

    function: Any  # TensorFlow's own, kept so that it can be called again
    graph: Any
    facts: GraphFacts
    counts_draws: bool = False  # every call since the function was traced was seen
    calls: int = 0
    seeding: Any = False  # what stood for the seed of the last call
    seeded_at: int = 0  # the first call with it
    unsaid: int = 0  # calls that those who look at full ones were not told of
    died: bool = False  # in the last call
    bad_calls: int = 0
    first_bad: int = 0
    last_bad: int = 0
    inquiries: int = 0
    variable_bytes: int = 0  # of all that it reads
    snapshot_at: int = 0  # the number of the call that the snapshot was taken before
    snapshot: dict[int, Any] | None = None  # handle -> value, before the first of the recent calls
    recent: list[Call] = field(default_factory=list)
    last: Call | None = None  # also where the recent calls are not whole
    recent_bytes: int = 0
    is_whole: bool = True  # the recent calls are all since the snapshot
    next_at: float = 0.0
    too_large: bool = False
    moved: bool = False  # a variable that is trained has changed since the first call
    searched: bool = False  # for gradients that are lost in float16
    bad_results: frozenset[int] = frozenset()  # of the last bad call, by position
    held_back: bool = False  # a guard took a bad update away
    harmless: set[tuple[str, int]] = field(default_factory=set)  # results that are bad and reach no update
    bad_from_start: frozenset[int] = frozenset()  # variables that were not finite before the first call
    data_at: tuple[int, ...] = ()  # positions of the arguments that are not variables
    data_bytes: int | None = None  # of all these, where every call has as many
    variables_at: tuple[tuple[int, int], ...] = ()  # positions and dtypes of those that are, and that it uses
    small_variables: dict[int, tuple[int, int]] = field(default_factory=dict)  # handle -> position and dtype
    changed: dict[int, Any] = field(default_factory=dict)  # since the snapshot, by other code: the latest values
    writes_seen: int = 0  # by other code, before the last call

    @property
    def written_variables(self) -> set[int]:
        """The variables that a call may write, in whichever branch."""
        arguments = () if self.last is None else self.last.arguments
        return {compat.tensor_id(arguments[i]) for i in self.facts.writes if i < len(arguments)}

    def values_now(self) -> dict[int, Any]:
        """What the variables of which copies are kept hold now."""
        if self.snapshot is None or self.last is None:
            return {}
        handles = [each for each in self.last.arguments if compat.tensor_id(each) in self.snapshot]
        return {compat.tensor_id(each): compat.read_handle(each) for each in handles}
