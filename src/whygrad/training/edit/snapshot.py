"""`snapshot`: the values of variables at one moment, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.training.edit.owned_variables import variables_of
from whygrad.training.variables import distinct, name_of


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
    variables = variables_of(*owners)
    for name, variable in zip(distinct(map(name_of, variables)), variables, strict=True):
        values[name] = np.array(compat.native(variable).numpy())
        values[name].flags.writeable = False
    return Snapshot(MappingProxyType(values), label)
