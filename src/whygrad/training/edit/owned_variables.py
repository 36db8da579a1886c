"""The variables of whatever a user hands over: models, layers, optimizers, modules, variables, lists of these."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from whygrad.arguments import given, words_in
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.keras.inspection import listed
from whygrad.errors import UsageError
from whygrad.training.variables import is_variable, name_of

Pattern = str | Iterable[str] | Callable[[Any], bool]


def variables_of(*owners: Any) -> list[Any]:
    """All variables, each once, in the order they were made; an uncompiled or unbuilt part gives what it has now."""
    found: dict[int, Any] = {}
    for owner in owners:
        for variable in _of(owner):
            found.setdefault(id(compat.native(variable)), variable)
    return list(found.values())


def trained(owner: Any, pattern: Pattern | None) -> list[Any]:
    """What an optimizer would train of it, as far as it fits the pattern; refused where there is nothing yet."""
    variables = trainable_of(owner)
    if not variables:
        raise UsageError("there are no variables yet", help="build the model first, by calling it on a batch")
    return selected(variables, pattern)


def trainable_of(owner: Any) -> list[Any]:
    """What an optimizer would train; of a plain list, all."""
    if hasattr(type(owner), "trainable_variables"):
        return listed(owner, "trainable_variables")
    if isinstance(owner, (list, tuple)):
        return [variable for item in owner for variable in trainable_of(item)]
    return variables_of(owner)


def _of(owner: Any) -> Iterator[Any]:
    if is_variable(owner):
        yield owner
    elif isinstance(owner, (Mapping, list, tuple, set)):
        for item in owner.values() if isinstance(owner, Mapping) else owner:
            yield from _of(item)
    elif hasattr(type(owner), "variables") and not isinstance(owner, type):
        is_optimizer = hasattr(owner, "apply_gradients")
        yield from compat.state_of_optimizer(owner) if is_optimizer else listed(owner, "variables")
        yield from getattr(owner, "metrics_variables", ())
        if hasattr(owner, "train_step"):
            own = getattr(owner, "optimizer", None)
            yield from () if own is None else _of(own)
        elif is_optimizer:
            yield from _hidden(owner, 3)
    else:
        raise UsageError(
            f"expected a model, optimizer, variable or a list of these, got {given(owner)}",
            help="pass the objects whose variables are meant",
        )


def _hidden(optimizer: Any, depth: int) -> Iterator[Any]:
    """What an optimizer keeps besides its list: learning rate and loss scale of tf_keras, a half-full window."""
    for value in list(vars(optimizer).values()):
        if is_variable(value):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if is_variable(item))
        elif depth and type(value).__module__.split(".")[0] in ("keras", "tf_keras", "whygrad") and _has_state(value):
            yield from _hidden(value, depth - 1)


def _has_state(value: Any) -> bool:
    return hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value)


def selected(variables: Iterable[Any], pattern: Pattern | None) -> list[Any]:
    """The variables whose path, or a part of it between slashes, fits the pattern; None takes all."""
    chosen = list(variables)
    if pattern is None:
        return chosen
    kept = [variable for variable in chosen if fits(variable, pattern)]
    if not kept:
        names = ", ".join(f"`{name_of(variable)}`" for variable in chosen[:5])
        raise UsageError(
            f"no variable matches {pattern!r}", help=f"paths look like {names}" if chosen else "build the model first"
        )
    return kept


def fits(thing: Any, pattern: Pattern) -> bool:
    """Whether a variable or layer is meant by a pattern: `encoder`, `encoder/*`, `*kernel`, a list, a function."""
    if callable(pattern) and not isinstance(pattern, type):
        return bool(pattern(thing))
    advice = "`layers` takes a pattern of names, `'encoder/*'`, a list of them, or a function that says yes or no"
    patterns = words_in("layers", pattern, help=advice)
    parts = name_of(thing).split("/")
    stretches = {"/".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)}
    return any(fnmatch.fnmatchcase(stretch, each) for each in patterns for stretch in stretches)


def first_values(optimizer: Any, variable: Any) -> list[Any]:
    """What each slot of a variable holds before its first update: a number, or an array where it is not one."""
    if hasattr(compat.innermost(optimizer), "get_slot_names"):  # tf_keras legacy: cannot be asked, and is zero
        return [0.0] * len(compat.slots_of(optimizer, variable))
    with tf.init_scope():
        twin = compat.twin_of(optimizer, [variable])
        values = [compat.native(slot).numpy() for slot in compat.slots_of(twin, variable)]
    return [value.flat[0] if value.size and np.all(value == value.flat[0]) else value for value in values]
