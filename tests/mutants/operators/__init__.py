"""Every way to break a program, by name. A module a family; a new operator is a function and a line in its table."""

from __future__ import annotations

from . import accumulation, model, tape, trace, update, wrap
from .operator import Change, Harm, Operator

OPERATORS: dict[str, Operator] = {
    operator.name: operator
    for family in (wrap, tape, update, accumulation, model, trace)
    for operator in family.OPERATORS
}

__all__ = ["OPERATORS", "Change", "Harm", "Operator"]
