"""The variables of a window, keyed by identity, and what is wrong with a micro-batch that has others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.errors import AccumulationError, VariableDriftError
from whygrad.training.accumulation.variable_origin import origin
from whygrad.training.variables import fits, gradient_list, name_of, shape_of, variable_list

_DRIFT_HELP = (
    "add the same variables for every micro-batch of a window (None as gradient counts as zero), "
    "or reset() before changing them"
)


@dataclass(frozen=True, slots=True)
class VariableSet:
    """Variables in the order of the first micro-batch."""

    variables: tuple[Any, ...]
    shapes: tuple[tuple[int, ...], ...] = field(repr=False)
    index: dict[int, int] = field(repr=False)  # id of the TensorFlow variable -> position

    @classmethod
    def of(cls, variables: Iterable[Any]) -> VariableSet:
        kept = tuple(variables)
        return cls(
            variables=kept,
            shapes=tuple(shape_of(variable) for variable in kept),
            index={id(compat.native(variable)): i for i, variable in enumerate(kept)},
        )

    def same_as(self, variables: Iterable[Any]) -> bool:
        """Whether these are the same variables, in any order."""
        return {id(compat.native(variable)) for variable in variables} == set(self.index)

    def positions(self, variables: Sequence[Any]) -> list[int]:
        """Where each given variable stands in the window."""
        return [self.index[id(compat.native(variable))] for variable in variables]


def described(variable: Any) -> str:
    """Its name, and where it was created if that can be found."""
    where = origin(variable)
    return f"`{name_of(variable)}`" if where is None else f"`{name_of(variable)}` ({where})"


def check_pairs(given_gradients: Any, given_variables: Any) -> tuple[list[Any], list[Any]]:
    """Both as lists; raise unless there is one gradient, fitting or None, for each of some distinct variables."""
    gradients = gradient_list(given_gradients, AccumulationError)
    variables = variable_list(given_variables, AccumulationError)
    if len(gradients) != len(variables):
        raise AccumulationError(
            f"got {len(gradients)} gradients for {len(variables)} variables",
            help="pass the list of variables that the gradients were taken with respect to",
        )
    if not variables:
        raise AccumulationError("got no variables", help="build the model first, by calling it on a batch")
    seen: set[int] = set()
    for gradient, variable in zip(gradients, variables, strict=True):
        _check_pair(gradient, variable, seen)
    if all(gradient is None for gradient in gradients):
        names = ", ".join(f"`{name_of(variable)}`" for variable in variables[:3])
        raise AccumulationError(
            f"every gradient is None ({names}{', ...' if len(variables) > 3 else ''})",
            help="the loss does not depend on these variables; `wg.explain(step)` says where they were cut off",
        )
    return gradients, variables


def _check_pair(gradient: Any, variable: Any, seen: set[int]) -> None:
    key = id(compat.native(variable))
    if key in seen:
        raise AccumulationError(
            f"{described(variable)} is in the list of variables twice",
            help="pass each variable once; tape.gradient already sums its uses",
        )
    seen.add(key)
    if not fits(gradient, variable):
        raise AccumulationError(
            f"the gradient of {described(variable)} has shape {tuple(gradient.shape)}, "
            f"the variable {shape_of(variable)}",
            help="gradients and variables must come in the same order",
        )


def check_known(optimizer: Any, variables: Iterable[Any]) -> None:
    """Raise if the optimizer was built on other variables."""
    unknown = compat.unknown_to(optimizer, variables)
    if unknown:
        raise AccumulationError(
            f"the optimizer was built on other variables: it does not know {described(unknown[0])}",
            help="use a new optimizer for a new set of variables, or build it with all of them",
        )


def check_drift(window: VariableSet, variables: Sequence[Any]) -> None:
    """Raise, naming the variable, unless these are the variables of the window."""
    arrived = VariableSet.of(variables)
    new = [v for v in variables if id(compat.native(v)) not in window.index]
    gone = [v for v in window.variables if id(compat.native(v)) not in arrived.index]
    for variable, shape in zip(window.variables, window.shapes, strict=True):
        if shape_of(variable) != shape:
            raise VariableDriftError(
                f"{described(variable)} changed its shape from {shape} to {shape_of(variable)} inside a window",
                help=_DRIFT_HELP,
            )
    old = {name_of(variable): variable for variable in gone}
    for variable in new:
        if name_of(variable) in old:
            raise VariableDriftError(_recreated(variable, old[name_of(variable)]), help=_DRIFT_HELP)
    if new:
        raise VariableDriftError(
            f"{described(new[0])} is new: it was not in the first micro-batch of this window", help=_DRIFT_HELP
        )
    if gone:
        raise VariableDriftError(
            f"{described(gone[0])} is gone: it was in the first micro-batch of this window", help=_DRIFT_HELP
        )


def _recreated(new: Any, old: Any) -> str:
    shapes = "" if shape_of(new) == shape_of(old) else f", with shape {shape_of(new)} instead of {shape_of(old)}"
    return f"{described(new)} was recreated inside a window{shapes}: the micro-batches before had another"
