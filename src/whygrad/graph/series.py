"""What was measured over the steps of a run, as rules and reports read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[Any]]

RECTIFIED = frozenset({"relu", "relu6", "ReLU"})  # activations that pass nothing on, and nothing back, below zero
SATURATING = frozenset({"sigmoid", "tanh", "hard_sigmoid", "hard_tanh", "softsign"})

# What is kept of each variable at each step. A gradient that was missing has NaN in `nonfinite`; a number that was not
# taken at a step is NaN.
CHANNELS = (
    "sum",
    "norm",
    "minimum",
    "maximum",
    "zeros",  # how many elements are exactly zero
    "nonfinite",
    "weight_norm",  # before the update
    "update_norm",  # of what the update added to the variable
    "applied_norm",  # of the gradient after clipping
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableInfo:
    """A variable whose gradient is followed."""

    name: str
    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    layer: str = ""  # the path of the layer that holds it
    model: str = ""  # the top-level part of the model it belongs to
    activation: str = ""  # of that layer, by name; empty: not known
    missing: bool = False  # its gradient is None

    @property
    def size(self) -> int:
        total = 1
        for length in self.shape:
            total *= length
        return total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VariableSeries:
    """One variable over the steps of a run: arrays of one length, by channel."""

    info: VariableInfo
    track: str  # the optimizer that updates it
    steps: Numbers
    channels: Mapping[str, Numbers] = field(default_factory=dict)
    dead_units: int | None = None  # units whose gradient was zero in every step so far; None: not counted
    units: int | None = None

    @property
    def name(self) -> str:
        return self.info.name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrackSeries:
    """What one optimizer did over the steps of a run."""

    name: str
    steps: Numbers
    scalars: Mapping[str, Numbers] = field(default_factory=dict)  # loss, learning_rate, duration, ...
    variables: tuple[VariableSeries, ...] = ()  # in the order of the forward pass
