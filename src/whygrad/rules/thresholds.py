"""Every size from which on a rule about numbers speaks: its unit, and why it lies where it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """From where on numbers over steps are reported. Healthy training stays well on the quiet side of each."""

    least_steps: int = 10  # fewer steps say nothing
    dead_share: float = 0.5  # of the units of a rectified layer, silent for the last half of the run: worth a note
    dead_layer: float = 0.95  # of them: likely a fault. A small batch leaves half silent, and more as it is learned
    dead_least: int = 4  # units
    saturated_ratio: float = 1e-3  # gradient of a saturating layer's bias against that of the next layer
    vanishing_ratio: float = 1e-5  # gradient (per element) of the first layer against the last
    vanishing_layers: int = 4  # fewer have no depth to vanish through
    exploding_growth: float = 1e3  # norm of all gradients, end against beginning
    exploding_growth_before_nan: float = 1e2


DEFAULT: Final = Thresholds()

# A gradient norm for the root of the number of elements. No step size in use makes an update of that size harmless.
HUGE_GRADIENT: Final = 1e9

# A gradient norm. The epsilon of 1e-12 that a normalisation adds under its root is a factor of 1e6 at most.
HUGE_BEHIND_NORMALISATION: Final = 1e7

# A factor, by which one op of the backward pass enlarges the gradient. Ordinary ops and weights stay far below.
AMPLIFIED: Final = 1e4

# A magnitude. A result of this size explains an overflow after it; ordinary activations and losses do not reach it.
HUGE_RESULT: Final = 1e8

# The largest finite number of float16.
LARGEST_HALF: Final = 65504.0

# A magnitude. Products of two such inputs, summed over a large layer, come near the end of float32 at 3.4e38.
HUGE_INPUT: Final = 1e15

# A share of the elements that a cast to a narrow dtype turns into zero. Fewer leave a gradient to train with.
LOST_IN_CAST: Final = 0.9

# A magnitude. The largest number that a dtype rounds to zero: half of its smallest one. Wider dtypes reach far lower.
ROUNDED_TO_ZERO: Final = {"float16": 2.0**-25}

# Steps without a gradient, after one first step that had it: more than a branch that is taken now and then leaves out.
STEPS_LOST_FOR_GOOD: Final = 20
