"""`snapshot`: the values of variables at one moment, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.training.edit.owned_variables import variables_of
from whygrad.training.variables import name_of


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Values by the name of the variable, in the order they were made; `snapshot["dense/kernel"]` is an array."""

    values: Mapping[str, Any]
    label: str = ""

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        size = sum(value.nbytes for value in self.values.values())
        return f"<Snapshot of {len(self)} variables, {size:,} bytes>"


def snapshot(*owners: Any, label: str = "") -> Snapshot:
    """Copy the variables of models, optimizers, modules, or variables themselves."""
    values: dict[str, Any] = {}
    for variable in variables_of(*owners):
        array = np.array(compat.native(variable).numpy())
        array.flags.writeable = False
        values[unused(name_of(variable), values)] = array
    return Snapshot(MappingProxyType(values), label)


def unused(name: str, taken: Mapping[str, Any]) -> str:
    """The name, numbered where another variable has it already."""
    count, free = 1, name
    while free in taken:
        count += 1
        free = f"{name} ({count})"
    return free
