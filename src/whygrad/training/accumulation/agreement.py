"""What `verify_accumulation` found, as data that prints as a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_TOLERANCE = {"float64": 1e-9, "float32": 1e-4}


def tolerance_of(dtypes: Iterable[Any]) -> float:
    """How far apart, relative to their size, two sums in these types may be by rounding alone."""
    return max((_TOLERANCE.get(dtype.name, 1e-2) for dtype in dtypes), default=1e-4)


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableAgreement:
    """One variable's accumulated gradient against the big batch's."""

    name: str
    error: float  # size of the difference over the size of the gradient
    agrees: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Coupling:
    """A layer or loss through which one example changes what another one gets."""

    name: str
    kind: str  # "examples", "random" or "loss"
    reason: str
    difference: float | None  # how far its output moves when the batch is split


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulationCheck:
    """Whether these micro-batches add up to the big batch, variable by variable, and why not."""

    sizes: tuple[int, ...]
    loss: float
    accumulated_loss: float
    variables: tuple[VariableAgreement, ...]
    couplings: tuple[Coupling, ...]
    tolerance: float

    @property
    def agrees(self) -> bool:
        return all(variable.agrees for variable in self.variables)

    def __bool__(self) -> bool:
        return self.agrees

    def __str__(self) -> str:
        parts = " + ".join(str(size) for size in self.sizes)
        wrong = [variable for variable in self.variables if not variable.agrees]
        verdict = "agree" if self.agrees else f"differ for {len(wrong)} of {len(self.variables)} variables"
        lines = [
            f"{parts} examples against {sum(self.sizes)} at once: the gradients {verdict}",
            f"  loss {self.loss:.6g}, accumulated {self.accumulated_loss:.6g}",
        ]
        width = max((len(variable.name) for variable in self.variables), default=0)
        for variable in self.variables:
            mark = "ok" if variable.agrees else "differs"
            lines.append(f"  {variable.name:<{width}}  {variable.error:8.1e}  {mark}")
        lines += [f"  because of `{coupling.name}`: {coupling.reason}" for coupling in self.couplings]
        return "\n".join(lines)
