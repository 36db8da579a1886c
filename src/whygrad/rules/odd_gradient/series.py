"""What the numbers of many steps say: zero, dead, saturated, vanishing, exploding, never updated.

Pure functions from the series of one optimizer to findings. They say "likely" unless the numbers leave no doubt.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from whygrad.diagnostics import Severity, Steps
from whygrad.graph.series import RECTIFIED, SATURATING, TrackSeries, VariableSeries
from whygrad.rules.rule import Finding
from whygrad.rules.thresholds import DEFAULT, Thresholds
from whygrad.rules.wording import listing

if TYPE_CHECKING:
    from whygrad.graph.series import Numbers


Check = Callable[[TrackSeries, Thresholds], Iterator[Finding]]


def find_zero(track: TrackSeries, thresholds: Thresholds = DEFAULT) -> Iterator[Finding]:
    """Variables whose gradient is exactly zero at every step."""
    found = [
        series
        for series in track.variables
        if (norm := _known(series, "norm")).size >= thresholds.least_steps and not norm.any()
    ]
    if found:
        count = len(_known(found[0], "norm"))
        yield Finding(
            message=f"the gradient of {_names(found)} is exactly zero at every step",
            variables=tuple(series.name for series in found),
            help="look for what makes it zero: a dead layer before it, a saturated clip, an output that is not used",
            steps=Steps(count, count),
            severity=Severity.NOTE,
        )


def find_dead_units(track: TrackSeries, thresholds: Thresholds = DEFAULT) -> Iterator[Finding]:
    """Rectified layers most of whose units have had no gradient for the last half of the run, though one arrived."""
    if any(map(_is_poisoned, track.variables)):  # units whose input is NaN are silent, and not dead
        return
    for position, series in enumerate(track.variables):
        if series.info.activation not in RECTIFIED or series.units is None or series.dead_units is None:
            continue
        count = len(_known(series, "norm"))
        share = series.dead_units / max(1, series.units)
        if count < thresholds.least_steps or share < thresholds.dead_share or series.dead_units < thresholds.dead_least:
            continue
        if _nothing_arrives(track.variables[position + 1 :]):
            continue
        whole = share >= thresholds.dead_layer
        state = "are likely dead" if whole else "are silent, and may be dead"
        yield Finding(
            message=f"{series.dead_units} of the {series.units} units of `{series.info.layer}` {state}",
            variables=(series.name,),
            notes=(f"their gradient was exactly zero at each of the last {count - count // 2} of {count} steps",),
            help="lower the learning rate, use He initialisation, or an activation that leaks (`leaky_relu`, `gelu`)",
            steps=Steps(count - count // 2, count),
            severity=Severity.WARNING if whole else Severity.NOTE,
            certain=False,
        )


def _is_poisoned(series: VariableSeries) -> bool:
    """Its gradient was NaN or Inf, and so is the variable since: what it feeds passes nothing back either."""
    import numpy as np

    bad = np.flatnonzero(series.channels.get("nonfinite", np.zeros(0)) > 0)
    return bad.size > 0 and not np.isfinite(series.channels.get("weight_norm", np.zeros(0))[bad[0] + 1 :]).any()


def _nothing_arrives(after: tuple[VariableSeries, ...]) -> bool:
    """The next bias that is not of a dead layer itself has had no gradient of late: it ends behind that one."""
    for series in after:
        if len(series.info.shape) == 1 and (norm := _known(series, "norm")).size:
            silent = not _late(norm).any()
            if not silent or series.info.activation not in RECTIFIED:
                return silent
    return False


def find_saturated_units(track: TrackSeries, thresholds: Thresholds = DEFAULT) -> Iterator[Finding]:
    """Layers with a saturating activation behind which hardly any gradient arrives."""
    biases = [series for series in track.variables if len(series.info.shape) == 1]
    for series, after in itertools.pairwise(biases):
        if series.info.activation not in SATURATING:
            continue
        mine, theirs = _late(_per_element(series)), _late(_per_element(after))
        if min(mine.size, theirs.size) < thresholds.least_steps // 2:
            continue
        ratio = _median(mine) / _median(theirs) if _median(theirs) > 0 else math.nan
        if 0 < ratio < thresholds.saturated_ratio:
            count = len(_known(series, "norm"))
            yield Finding(
                message=f"the `{series.info.activation}` of `{series.info.layer}` is likely saturated",
                variables=(series.name,),
                notes=(
                    f"its bias gets {ratio:.1g} of the gradient that `{after.info.layer}` after it gets, per element",
                ),
                help="scale its input down (normalise, smaller initial weights), or use an activation without plateaus",
                steps=Steps(len(mine), count),
                severity=Severity.WARNING,
                certain=False,
            )


def find_vanishing(track: TrackSeries, thresholds: Thresholds = DEFAULT) -> Iterator[Finding]:
    """Gradients that shrink from layer to layer until the first ones get next to nothing."""
    kernels = [series for series in track.variables if len(series.info.shape) >= 2 and _late(_per_element(series)).size]
    sizes = [_median(_late(_per_element(series))) for series in kernels]
    if len(kernels) < thresholds.vanishing_layers or not all(size > 0 for size in sizes):
        return
    count = len(_known(kernels[0], "norm"))
    ratio = sizes[0] / sizes[-1]
    if count < thresholds.least_steps or ratio >= thresholds.vanishing_ratio or not _is_trend(sizes):
        return
    reached = [series for series, size in zip(kernels, sizes, strict=True) if size < sizes[-1] * 1e-3]
    yield Finding(
        message=f"the gradient likely vanishes on the way to {_names(reached)}",
        variables=tuple(series.name for series in reached),
        notes=(f"per element, `{kernels[0].info.layer}` gets {ratio:.1g} of what `{kernels[-1].info.layer}` gets",),
        help="add shortcuts between layers, normalise, or use activations and initial weights that keep the scale",
        steps=Steps(count, count),
        severity=Severity.WARNING,
        certain=False,
    )


def find_exploding(track: TrackSeries, thresholds: Thresholds = DEFAULT) -> Iterator[Finding]:
    """Gradients that grow by orders of magnitude in the course of the run."""
    total = total_norm(track)
    finite = _finite(total)
    if finite.size < thresholds.least_steps:
        return
    stretch = max(5, finite.size // 10)
    begin, end = _median(finite[:stretch]), _median(finite[-stretch:])
    broken = finite.size < len(_without_missing(total))
    limit = thresholds.exploding_growth_before_nan if broken else thresholds.exploding_growth
    if not (begin > 0 and end / begin >= limit):
        return
    worst = max(track.variables, key=lambda series: _last_finite(series))
    what = ", and ends in NaN or Inf" if broken else ""
    of = f" of `{track.name}`" if track.name else ""
    yield Finding(
        message=f"the gradients{of} explode: their norm grows {end / begin:.2g}-fold{what}",
        variables=(worst.name,),
        notes=(
            f"from {begin:.3g} in the first {stretch} steps to {end:.3g} in the last; most of it in `{worst.name}`",
        ),
        help="lower the learning rate or clip the gradients (`global_clipnorm=1.0`)",
        steps=Steps(int(finite.size), len(total)),
        severity=Severity.WARNING,
    )


def find_never_updated(track: TrackSeries, thresholds: Thresholds = DEFAULT) -> Iterator[Finding]:
    """Variables that get a gradient and stay what they are."""
    reasons: dict[str, list[VariableSeries]] = {}
    for series in track.variables:
        norm = _known(series, "norm")
        if norm.size >= thresholds.least_steps and (norm > 0).mean() > 0.9:
            reason = _why_still(series, track)
            if reason is not None:
                reasons.setdefault(reason, []).append(series)
    for reason, found in reasons.items():
        count = len(_known(found[0], "norm"))
        yield Finding(
            message=f"{_names(found)} never moves although it has a gradient: {reason}"
            if len(found) == 1
            else f"{_names(found)} never move although they have gradients: {reason}",
            variables=tuple(series.name for series in found),
            help=_HELP[reason],
            steps=Steps(count, count),
            severity=Severity.WARNING,
            certain=reason != _WRITTEN_BACK,
        )


_ZERO_RATE: Final = "the learning rate is zero"
_ZERO_UPDATE: Final = "its updates are zero"
_TOO_SMALL: Final = "its updates are too small to change a number"
_WRITTEN_BACK: Final = "something likely gives it its old value back after each step"
_HELP: Final = {
    _ZERO_RATE: "give the optimizer a learning rate; a schedule may have run out",
    _ZERO_UPDATE: "look for what keeps the optimizer from changing it: a mask, a constraint, a skipped update",
    _TOO_SMALL: "raise the learning rate or the scale of the loss, or keep the variable in a wider dtype",
    _WRITTEN_BACK: "look for an `assign` or `set_weights` in the loop: an EMA, a reset, a target network's copy",
}


def _why_still(series: VariableSeries, track: TrackSeries) -> str | None:
    updates, weights = _known(series, "update_norm"), _known(series, "weight_norm")
    if updates.size < 3 or weights.size < 3 or not (weights == weights[0]).all():
        return None
    rates = _finite(track.scalars["learning_rate"]) if "learning_rate" in track.scalars else None
    if not updates.any():
        return _ZERO_RATE if rates is not None and rates.size and not rates.any() else _ZERO_UPDATE
    width = {"float64": 1e-16, "float16": 1e-3, "bfloat16": 8e-3}.get(series.info.dtype, 1.2e-7)
    if updates.max() < width * weights[0] / max(1.0, math.sqrt(series.info.size)):
        return _TOO_SMALL
    return _WRITTEN_BACK


CHECKS: Final[dict[str, Check]] = {
    "zero-gradient-op": find_zero,
    "dead-units": find_dead_units,
    "saturated-units": find_saturated_units,
    "vanishing-gradient": find_vanishing,
    "exploding-gradient": find_exploding,
    "never-updated": find_never_updated,
}


def findings(track: TrackSeries, thresholds: Thresholds = DEFAULT) -> Iterator[tuple[str, Finding]]:
    """(rule, finding) for everything that the series of an optimizer show."""
    for rule, check in CHECKS.items():
        for finding in check(track, thresholds):
            yield rule, finding


def total_norm(track: TrackSeries) -> Numbers:
    """The norm of all gradients of an optimizer together, at each step."""
    import numpy as np

    present = [series.channels["norm"] for series in track.variables if not series.info.missing]
    if not present:
        return np.zeros(0)
    total: Numbers = np.sqrt(np.sum(np.square(np.asarray(present, np.float64)), 0))
    return total


def _names(found: Sequence[VariableSeries]) -> str:
    return listing(tuple(series.name for series in found))


def _known(series: VariableSeries, channel: str) -> Numbers:
    """A channel at the steps at which it was taken and the gradient was there."""
    import numpy as np

    return _finite(series.channels.get(channel, np.zeros(0)))


def _finite(values: Numbers) -> Numbers:
    import numpy as np

    return values[np.isfinite(values)]


def _without_missing(total: Numbers) -> Numbers:
    """Steps at which gradients were there, if only as NaN; a NaN before the first number is a step that had none."""
    import numpy as np

    known = np.flatnonzero(np.isfinite(total))
    return total[known[0] :] if known.size else total[:0]


def _per_element(series: VariableSeries) -> Numbers:
    values: Numbers = _known(series, "norm") / math.sqrt(max(1, series.info.size))
    return values


def _late(values: Numbers) -> Numbers:
    """The second half: the first steps of a training are often odd."""
    return values[len(values) // 2 :]


def _median(values: Numbers) -> float:
    import numpy as np

    return float(np.median(values)) if values.size else math.nan


def _last_finite(series: VariableSeries) -> float:
    known = _known(series, "norm")
    return float(known[-1]) if known.size else -1.0


def _is_trend(sizes: Sequence[float]) -> bool:
    """Whether numbers grow from first to last, but for a few exceptions."""
    rises = sum(later > earlier for earlier, later in itertools.pairwise(sizes))
    return rises >= 0.7 * (len(sizes) - 1)
