"""What a variable is called, which layer holds it, and what that layer does with its result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.graph.series import VariableInfo
from whygrad.training.variables import distinct, name_of, shown_name, top_level


def facts_of(variables: Sequence[Any], missing: Sequence[bool], model: Any = None) -> tuple[VariableInfo, ...]:
    """One entry for each variable; names that occur twice are numbered."""
    activations = {id(v): name for layer, name in _activations(model) for v in _own(layer)}
    names = distinct([shown_name(variable) for variable in variables])
    known = [name_of(variable) for variable in getattr(model, "trainable_variables", ())]
    models = top_level([*names, *known])
    return tuple(
        VariableInfo(
            name=name,
            shape=tuple(int(n or 0) for n in variable.shape),
            dtype=_dtype(variable),
            layer=name.rpartition("/")[0],
            model=models[i],
            activation=activations.get(id(compat.variable_inside(variable)), ""),
            missing=missing[i],
        )
        for i, (name, variable) in enumerate(zip(names, variables, strict=True))
    )


def _dtype(variable: Any) -> str:
    return str(getattr(variable.dtype, "name", variable.dtype))


def _activations(model: Any) -> Iterator[tuple[Any, str]]:
    """(layer, the name of its activation) for the layers of a model that say which they have."""
    for layer in compat.layers_inside(model):
        activation = getattr(layer, "activation", None)
        name = getattr(activation, "__name__", None) or getattr(activation, "name", None)
        if isinstance(name, str):
            yield layer, name


def _own(layer: Any) -> list[Any]:
    return [compat.variable_inside(variable) for variable in getattr(layer, "trainable_variables", ())]
