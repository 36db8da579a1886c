"""From a row of numbers, as the step computed it, to rows of the store, with what their variables are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.graph.series import CHANNELS, VariableInfo
from whygrad.store import Rows, Track
from whygrad.store.rows import Array, joined
from whygrad.training.monitor.step_row import SCALARS
from whygrad.training.variables import distinct, name_of, shown_name, top_level

HOST_SCALARS: Final = ("time", "duration", "batch")  # known outside the graph only


@dataclass(frozen=True, slots=True)
class Section:
    """One application in a row: an optimizer and the variables it was given."""

    optimizer: str
    variables: tuple[VariableInfo, ...]

    @property
    def present(self) -> tuple[VariableInfo, ...]:
        return tuple(info for info in self.variables if not info.missing)

    @property
    def width(self) -> int:
        return len(SCALARS) + len(CHANNELS) * len(self.present)


@dataclass(frozen=True, slots=True)
class RowLayout:
    """What the numbers of a row are: those that the step returned by name, its applications, the replicas' shares."""

    metrics: tuple[str, ...]
    sections: tuple[Section, ...]
    dtype: str
    replicas: tuple[int, ...] = ()  # the numbers of those of this process, where there are several
    apart: tuple[Section, ...] = ()  # what was given, for each of them alone

    @property
    def width(self) -> int:
        return len(self.metrics) + sum(section.width for section in self._all) + 2 * len(self.replicas)

    @property
    def _all(self) -> tuple[Section, ...]:
        return (*self.sections, *self.apart)

    def tracks(self) -> dict[str, Track]:
        """One track for each optimizer."""
        variables: dict[str, dict[str, VariableInfo]] = {}
        for section in self._all:
            known = variables.setdefault(section.optimizer, {})
            for info in section.variables:
                if info.name not in known or known[info.name].missing:
                    known[info.name] = info
        scalars = (*SCALARS, *HOST_SCALARS, *(f"metrics/{name}" for name in self.metrics))
        return {
            name: Track(name=name, variables=tuple(known.values()), scalars=scalars, dtype=self.dtype)
            for name, known in variables.items()
        }

    def unpack(self, numbers: Array, data: Array, host: Array, start: int = 0) -> dict[str, Rows]:
        """The rows of each track; `host` is [k, 3], what `HOST_SCALARS` are at these steps.

        An optimizer that is applied several times in a step has so many steps of its own.
        """
        tracks = self.tracks()
        often = {name: sum(section.optimizer == name for section in self._all) for name in tracks}
        parts: dict[str, list[Rows]] = {name: [] for name in tracks}
        metrics = data[:, : len(self.metrics)].astype(np.float64)
        offset = len(self.metrics)
        for section in self._all:
            block = data[:, offset : offset + section.width]
            offset += section.width
            turn = len(parts[section.optimizer])
            steps = start + numbers * often[section.optimizer] + turn
            scalars = np.concatenate([block[:, : len(SCALARS)].astype(np.float64), host, metrics], 1)
            values = self._values(tracks[section.optimizer], section, block[:, len(SCALARS) :])
            parts[section.optimizer].append(Rows(steps, scalars, values))
        found = {name: joined(tracks[name], each) for name, each in parts.items()}
        return {name: rows.pick(np.argsort(rows.steps, kind="stable")) for name, rows in found.items()}

    def shares(self, data: Array) -> tuple[Array, Array]:
        """[k, n] each: the loss of each replica, and how many elements of its gradients are not finite."""
        count = len(self.replicas)
        return data[:, self.width - 2 * count : self.width - count], data[:, self.width - count :]

    def _values(self, track: Track, section: Section, block: Array) -> Array:
        names = {info.name: i for i, info in enumerate(track.variables)}
        values = np.full((len(block), len(names), len(CHANNELS)), np.nan, self.dtype)
        places = [names[info.name] for info in section.present]
        values[:, places] = block.reshape(len(block), len(CHANNELS), len(places)).transpose(0, 2, 1)
        return values


def facts_of(variables: Sequence[Any], missing: Sequence[bool], model: Any = None) -> tuple[VariableInfo, ...]:
    """One entry for each variable; names that occur twice are numbered."""
    activations = {
        id(compat.native(v)): name
        for layer, name in _activations(model)
        for v in getattr(layer, "trainable_variables", ())
    }
    names = distinct([shown_name(variable) for variable in variables])
    known = [name_of(variable) for variable in getattr(model, "trainable_variables", ())]
    models = top_level([*names, *known])
    return tuple(
        VariableInfo(
            name=name,
            shape=tuple(int(n or 0) for n in variable.shape),
            dtype=str(getattr(variable.dtype, "name", variable.dtype)),
            layer=name.rpartition("/")[0],
            model=models[i],
            activation=activations.get(id(compat.native(variable)), ""),
            missing=missing[i],
        )
        for i, (name, variable) in enumerate(zip(names, variables, strict=True))
    )


def _activations(model: Any) -> Iterator[tuple[Any, str]]:
    """(layer, the name of its activation) for the layers of a model that say which they have."""
    for layer in compat.layers_inside(model):
        activation = getattr(layer, "activation", None)
        name = getattr(activation, "__name__", None) or getattr(activation, "name", None)
        if isinstance(name, str):
            yield layer, name
