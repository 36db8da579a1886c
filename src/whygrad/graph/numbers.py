"""How big a gradient was over the steps of a run, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

from whygrad.source import SourceSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class TermNumbers:
    """What each group of terms of a loss gave to each source: the mean square of the gradient over some steps."""

    steps: int
    squares: tuple[tuple[float, ...], ...]  # a row a group of `Terms.groups`, a column a source


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientNumbers:
    """The gradient of one variable at the steps that a request kept."""

    norms: tuple[float, ...]  # zero only where every element is; NaN where one is not finite
    order: int = 0  # of the variable in the forward pass
    units: int | None = None  # elements that were followed one by one; None: none
    silent: int | None = None  # of these, without a gradient in the last half of the steps that were kept
    weight: float | None = None  # the norm of the variable when it was first looked at; None: not known
    moved: bool | None = None  # whether the variable ever changed its value; None: not known
    blank: bool = False  # every element of the variable is zero, and has been all the time
    activation: str = ""  # that the variable goes into; empty: none, or not known
    activated: SourceSpan | None = None  # the expression that applies it
