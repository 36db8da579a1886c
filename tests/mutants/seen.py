"""What the oracle saw of one run, and what counts as harm: nothing here knows TensorFlow or whygrad."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .operators import Harm

NONE, ZERO, NONFINITE, FINE, RAISED = "none", "zero", "nonfinite", "fine", "raised"
WELL = "well"
# A program that ends by one of these was broken by the edit itself, not by the fault it stands for; and an assertion is
# the program's own test of its symptom.
NO_DEATH = (
    WELL,
    "timeout",
    "no answer",
    "AssertionError",
    "AttributeError",  # the wrapped value was no tensor, or the wrapper is none
    "NameError",
    "UnboundLocalError",
    "SyntaxError",
    "IndentationError",
)
RELATIVE, ABSOLUTE = 1e-3, 1e-5  # how far two runs of one program may end apart by rounding alone


@dataclass(frozen=True, slots=True)
class VariableEnd:
    """One variable at the end of a run, in the order they were made."""

    shape: tuple[int, ...]
    trainable: bool
    moved: bool
    values: tuple[float, ...]  # some of them


@dataclass(frozen=True, slots=True)
class Seen:
    """One run: how it ended, how often each requested gradient was what, and the variables."""

    ended: str
    gradients: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    variables: tuple[VariableEnd, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Seen:
        variables = tuple(
            VariableEnd(tuple(each["shape"]), each["trainable"], each["moved"], tuple(each["values"]))
            for each in data.get("variables", ())
        )
        return Seen(data["ended"], data.get("gradients", {}), variables)


def harm_done(healthy: Seen, mutant: Seen, wanted: tuple[Harm, ...], eager: Callable[[], Seen]) -> Harm | None:
    """The first of the wanted harms that the mutant shows; `eager` runs it without any graph."""
    for harm in wanted:
        if harm is Harm.BAKED:
            if _differ(eager(), mutant):
                return harm
        elif TESTS[harm](healthy, mutant):
            return harm
    return None


def _more(healthy: Seen, mutant: Seen, is_so: Callable[[Mapping[str, int]], bool]) -> bool:
    return sum(map(is_so, mutant.gradients.values())) > sum(map(is_so, healthy.gradients.values()))


def _always_zero(counts: Mapping[str, int]) -> bool:
    return bool(counts.get(ZERO)) and not counts.get(FINE) and not counts.get(NONFINITE)


def _unmoved(healthy: Seen, mutant: Seen) -> bool:
    return _comparable(healthy, mutant) and any(
        one.moved and not other.moved for one, other in zip(healthy.variables, mutant.variables, strict=True)
    )


def _differ(healthy: Seen, mutant: Seen) -> bool:
    """Whether trainable variables end elsewhere."""
    return _comparable(healthy, mutant) and any(
        not all(map(_close, one.values, other.values))
        for one, other in zip(healthy.variables, mutant.variables, strict=True)
        if one.trainable
    )


def _comparable(healthy: Seen, mutant: Seen) -> bool:
    """Whether both made the same variables and came to the end, be it to their own assertions."""
    return mutant.ended in (WELL, "AssertionError") and [each.shape for each in healthy.variables] == [
        each.shape for each in mutant.variables
    ]


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE) or (math.isnan(one) and math.isnan(other))


def _remade(healthy: Seen, mutant: Seen) -> bool:
    """Whether a variable was made twice or more often where the healthy program makes none."""

    def trainable(seen: Seen) -> int:
        return sum(each.trainable for each in seen.variables)

    return trainable(mutant) >= trainable(healthy) + 2


TESTS: dict[Harm, Callable[[Seen, Seen], bool]] = {
    Harm.NONE: lambda healthy, mutant: _more(healthy, mutant, lambda counts: bool(counts.get(NONE))),
    Harm.REFUSED: lambda healthy, mutant: _more(healthy, mutant, lambda counts: bool(counts.get(RAISED))),
    Harm.ZERO: lambda healthy, mutant: _more(healthy, mutant, _always_zero),
    Harm.NONFINITE: lambda healthy, mutant: _more(healthy, mutant, lambda counts: bool(counts.get(NONFINITE))),
    Harm.UNMOVED: _unmoved,
    Harm.OTHER_VALUES: _differ,
    Harm.DIED: lambda healthy, mutant: mutant.ended not in NO_DEATH,
    Harm.REMADE: _remade,
}
