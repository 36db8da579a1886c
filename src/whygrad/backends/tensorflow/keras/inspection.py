"""What a layer or model says of itself when it is asked."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.source.position import CodeOwner, owner_of


def path_of(layer: Any) -> str:
    return str(getattr(layer, "path", None) or getattr(layer, "name", type(layer).__name__))


def listed(layer: Any, attribute: str) -> list[Any]:
    """A list of a layer's variables, as far as it can be read."""
    return _read(layer, attribute) or []


def _read(layer: Any, attribute: str) -> list[Any] | None:
    """A list of a layer's variables; None: a model of tf_keras that is not built tells none, not even those it has."""
    try:
        return list(getattr(layer, attribute, None) or ())
    except ValueError:
        return None


def all_layers(layer: Any) -> list[Any]:
    """The layer itself and those inside of it."""
    try:
        return compat.layers_inside(layer) or [layer]
    except Exception:  # one of its attributes raises
        return [layer]


def is_built(layer: Any) -> bool:
    return all(getattr(each, "built", True) for each in all_layers(layer))


def held_back(model: Any) -> list[Any]:
    """Weights that would train but for a flag; statistics and counters are not meant."""
    read = _read(model, "trainable_variables")
    if read is None or not is_built(model):
        return []
    own = set(map(id, read))
    made_to_train = (variable for layer in all_layers(model) for variable in compat.trainables_of(layer))
    return [variable for variable in made_to_train if id(variable) not in own]


def is_mode_dependent(layer: Any) -> bool:
    """Whether its output depends on the training flag: it has running statistics, or drops a share of its input."""
    if hasattr(layer, "moving_mean"):
        return bool(getattr(layer, "trainable", True))
    rate = getattr(layer, "rate", None)
    if not isinstance(rate, (int, float)) or rate <= 0 or len(all_layers(layer)) > 1:
        return False
    return "training" in inspect.signature(layer.call).parameters


def has_statistics(layer: Any) -> bool:
    """Whether a normalisation has statistics of its own, not those it was made with."""
    mean, variance = getattr(layer, "moving_mean", None), getattr(layer, "moving_variance", None)
    if mean is None or variance is None:
        return False
    return bool(mean.numpy().any() or (variance.numpy() != 1.0).any())


def runs_user_code(layer: Any) -> bool:
    """Whether a layer is of the user's own class, or was given a function of theirs."""
    codes = (getattr(each, "__code__", None) for each in (getattr(type(layer), "call", None), *vars(layer).values()))
    return any(owner_of(code) is CodeOwner.USER for code in codes if code is not None)


def regularisers(layer: Any) -> Iterator[str]:
    """The penalties that a layer was made with, by name."""
    if getattr(layer, "activity_regularizer", None) is not None:
        yield f"{layer.name}.activity_regularizer"
    for variable in listed(layer, "trainable_variables"):
        if getattr(variable, "regularizer", None) is not None:
            yield str(getattr(variable, "path", variable.name))


def variables_inside(value: Any, depth: int = 6, seen: set[int] | None = None) -> Iterator[tuple[Any, Any]]:
    """Trainable variables in an object's attributes, however deep, each with the layer that holds it."""
    seen = set() if seen is None else seen
    if depth == 0 or id(value) in seen:
        return
    seen.add(id(value))
    if hasattr(value, "assign") and hasattr(value, "trainable"):
        if value.trainable:
            yield value, None
    elif hasattr(value, "trainable_variables") and hasattr(value, "built"):
        yield from ((variable, value) for variable in listed(value, "trainable_variables"))
    else:
        for part in _parts(value):
            yield from variables_inside(part, depth - 1, seen)


_OF_FRAMEWORKS = ("builtins", "numpy", "tensorflow", "keras", "tf_keras")
_FUNCTIONS = ("function", "method", "module", "partial")  # what hangs on these belongs to no model


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    own = type(value).__module__.split(".")[0] not in _OF_FRAMEWORKS and not isinstance(value, type)
    plain = own and hasattr(value, "__dict__") and type(value).__name__ not in _FUNCTIONS
    return list(vars(value).values()) if plain else []
