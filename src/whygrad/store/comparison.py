"""Two runs side by side: which variables part, and at which step they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from whygrad.graph.series import VariableInfo
from whygrad.store.reader import Run
from whygrad.store.rows import Array

Variables = list[tuple[str, VariableInfo]]

COMPARED = ("norm", "weight_norm", "update_norm")
_SCALARS = ("loss", "learning_rate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Something that both runs recorded."""

    name: str
    step: int | None  # the first at which they differ; None: they agree
    channel: str = ""
    left: float = np.nan  # at that step
    right: float = np.nan
    last_ratio: float = np.nan  # left / right, of the gradient norm or the loss, at the last common step
    steps: int = 0  # that both have


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    entries: tuple[Divergence, ...]  # first to part first, those that agree last
    only_left: tuple[str, ...]
    only_right: tuple[str, ...]

    @property
    def parted(self) -> tuple[Divergence, ...]:
        return tuple(entry for entry in self.entries if entry.step is not None)


def compare(left: Run, right: Run, tolerance: float = 0.01) -> Comparison:
    """How two runs differ by more than a share of the larger number, or in being finite."""
    mine, theirs = left.variables(), right.variables()
    pairs = _pairs(mine, theirs)
    entries = [*_scalars(left, right, tolerance)]
    for (track, info), (other_track, other) in pairs:
        one, two = left.series(info.name, track), right.series(other.name, other_track)
        entries.append(_divergence(info.name, one.steps, two.steps, one.channels, two.channels, COMPARED, tolerance))
    entries.sort(key=lambda entry: (entry.step is None, entry.step or 0))
    paired = [{info.name for _, info in side} for side in zip(*pairs, strict=True)] if pairs else [set(), set()]
    return Comparison(
        entries=tuple(entries),
        only_left=tuple(info.name for _, info in mine if info.name not in paired[0]),
        only_right=tuple(info.name for _, info in theirs if info.name not in paired[1]),
    )


def _pairs(mine: Variables, theirs: Variables) -> list[tuple[tuple[str, VariableInfo], tuple[str, VariableInfo]]]:
    """Variables that are the same: by name; where no name fits but all shapes do, by their order.

    Keras numbers the layers of a process, so the second model of a script has other names than the first.
    """
    known = {info.name: (track, info) for track, info in theirs}
    named = [((track, info), known[info.name]) for track, info in mine if info.name in known]
    if named or [info.shape for _, info in mine] != [info.shape for _, info in theirs]:
        return named
    return list(zip(mine, theirs, strict=True))


def _scalars(left: Run, right: Run, tolerance: float) -> Iterator[Divergence]:
    for one, two in zip(left.tracks(), right.tracks(), strict=False):
        a, b = left.scalars(one.name), right.scalars(two.name)
        for name in _SCALARS:
            if name in a.scalars and name in b.scalars:
                label = name if len(left.tracks()) == 1 else f"{name} of {one.name}"
                yield _divergence(label, a.steps, b.steps, a.scalars, b.scalars, (name,), tolerance)


def _divergence(
    name: str,
    left_steps: Array,
    right_steps: Array,
    left: Mapping[str, Array],
    right: Mapping[str, Array],
    channels: tuple[str, ...],
    tolerance: float,
) -> Divergence:
    steps, mine, theirs = np.intersect1d(left_steps, right_steps, return_indices=True)
    first: tuple[int, str] | None = None
    for channel in channels:
        known = channel in ("norm", *_SCALARS)  # taken at every step
        places = np.flatnonzero(_differ(left[channel][mine], right[channel][theirs], tolerance, known))
        if len(places) and (first is None or places[0] < first[0]):
            first = (int(places[0]), channel)
    ratio = np.nan
    if len(steps):
        above, below = left[channels[0]][mine][-1], right[channels[0]][theirs][-1]
        ratio = float(above / below) if below else np.nan
    if first is None:
        return Divergence(name=name, step=None, last_ratio=ratio, steps=len(steps))
    place, channel = first
    return Divergence(
        name=name,
        step=int(steps[place]),
        channel=channel,
        left=float(left[channel][mine][place]),
        right=float(right[channel][theirs][place]),
        last_ratio=ratio,
        steps=len(steps),
    )


def _differ(left: Array, right: Array, tolerance: float, known: bool) -> Array:
    """Where two series part; a NaN in one of them does only where the number is `known` to have been taken."""
    mine, theirs = np.isfinite(left), np.isfinite(right)
    with np.errstate(invalid="ignore"):
        apart: Array = np.abs(left - right) > tolerance * np.maximum(np.abs(left), np.abs(right))
    apart &= mine & theirs
    if known:
        apart |= mine != theirs
    return apart
