"""What a check of gradients found."""

from __future__ import annotations

from dataclasses import dataclass

from whygrad.training.gradient_check.differences import Verdict

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Element:
    """One derivative that was compared: of one element of an input, or along a direction through all of it."""

    input: str
    index: tuple[int, ...] | None  # None: along a direction
    analytic: float
    numeric: float
    verdict: Verdict

    @property
    def error(self) -> float:
        """The difference, relative to the larger of the two."""
        largest = max(abs(self.analytic), abs(self.numeric))
        return abs(self.analytic - self.numeric) / largest if largest else 0.0

    def __str__(self) -> str:
        place = "along a direction" if self.index is None else str(list(self.index))
        return f"{self.input} {place}: gradient {self.analytic:.6g}, differences {self.numeric:.6g}"


@dataclass(frozen=True, slots=True)
class GradientCheck:
    """True where the gradient is right. `print` it for what was found."""

    compared: int  # derivatives
    method: str
    wrong: tuple[Element, ...] = ()  # the worst first
    kinks: tuple[Element, ...] = ()  # where the function has no derivative; the gradient is one of the slopes
    undefined: tuple[Element, ...] = ()  # where the function has no values to compare with
    missing: tuple[str, ...] = ()  # inputs that have no gradient at all, though the function depends on them
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.wrong

    def __bool__(self) -> bool:
        return self.ok

    @property
    def worst(self) -> Element | None:
        return self.wrong[0] if self.wrong else None

    def __str__(self) -> str:
        verdict = "right in all" if self.ok else f"wrong in {len(self.wrong)}"
        lines = [f"the gradient is {verdict} of {self.compared} derivatives ({self.method})"]
        lines += [f"  {element}" for element in self.wrong[:SHOWN]]
        lines += [f"  no gradient at all for {name}" for name in self.missing]
        if self.kinks:
            lines.append(f"  at a kink, where any slope between the two sides will do: {self.kinks[0]}")
        if self.undefined:
            lines.append(f"  nothing to compare with: {self.undefined[0]}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])
