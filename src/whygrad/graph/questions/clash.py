"""Gradients and variables that met in the expression that raised: whose they were."""

from __future__ import annotations

import itertools

from whygrad.graph.failure import Failure, FailureKind, Operand
from whygrad.graph.node import Action, VariableId
from whygrad.graph.recording import Recording

_JOINING = (Action.ADD, Action.SUBTRACT, Action.INCREMENT, Action.ASSIGN)


def mixed_gradients(failure: Failure) -> tuple[Operand, Operand] | None:
    """Two values, or two lists, that were to be added up and hold gradients of different variables."""
    gradients = [each for each in _met(failure) if gradients_in(each)]
    for first, second in itertools.combinations(gradients, 2):
        if gradients_in(first) != gradients_in(second) and (first.is_list or _are_apart(first, second)):
            return first, second
    return None


def crossed(failure: Failure) -> tuple[Operand, Operand] | None:
    """Variables, and the gradients of others that were to move them."""
    met = list(_met(failure))
    for variables, gradients in itertools.permutations(met, 2):
        plain = all(held.variable is not None and not held.gradient_of for held in variables.held)
        moved, owners = variables_in(variables), gradients_in(gradients)
        if plain and owners and moved != owners and (variables.is_list or not moved & owners):
            return variables, gradients
    return None


def gradients_in(operand: Operand) -> frozenset[VariableId]:
    """The variables whose gradients an operand holds."""
    return frozenset(number for held in operand.held for number in held.gradient_of)


def variables_in(operand: Operand) -> frozenset[VariableId]:
    return frozenset(held.variable for held in operand.held if held.variable is not None)


def _met(failure: Failure) -> tuple[Operand, ...]:
    """What met: two values whose shapes differ, or lists whose lengths do."""
    lists = failure.kind is FailureKind.LENGTHS_DIFFER
    if not lists and (failure.kind is not FailureKind.SHAPES_DIFFER or failure.action not in _JOINING):
        return ()
    return tuple(each for each in failure.operands if each.is_list is lists)


def _are_apart(first: Operand, second: Operand) -> bool:
    return not gradients_in(first) & gradients_in(second)


def are_recreated(recording: Recording, before: frozenset[VariableId], now: frozenset[VariableId]) -> bool:
    """Whether the lines that made some variables have made others since: those are the new ones."""
    old, new = ({recording.variables[number].created for number in each} for each in (before, now))
    return not before & now and old == new and None not in old
