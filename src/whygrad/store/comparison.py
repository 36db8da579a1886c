"""Two runs side by side: which variables part, and at which step they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from whygrad.graph.series import VariableInfo
from whygrad.store.reader import Run
from whygrad.store.rows import Array

Variables = list[tuple[str, VariableInfo]]
Side = tuple[Array, Mapping[str, Array]]  # steps, and numbers by the name of their channel

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
        entries.append(
            _divergence(info.name, (one.steps, one.channels), (two.steps, two.channels), COMPARED, tolerance)
        )
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
                yield _divergence(label, (a.steps, a.scalars), (b.steps, b.scalars), (name,), tolerance)


def _divergence(name: str, left: Side, right: Side, channels: tuple[str, ...], tolerance: float) -> Divergence:
    steps, mine, theirs = np.intersect1d(left[0], right[0], return_indices=True)
    one, two = ({c: side[c][places] for c in channels} for side, places in ((left[1], mine), (right[1], theirs)))
    apart = []
    for order, channel in enumerate(channels):
        known = channel in ("norm", *_SCALARS)  # taken at every step
        apart += [(place, order) for place in np.flatnonzero(_differ(one[channel], two[channel], tolerance, known))[:1]]
    above, below = one[channels[0]][-1:], two[channels[0]][-1:]
    ratio = float(above[0] / below[0]) if len(below) and below[0] else np.nan
    agreement = Divergence(name=name, step=None, last_ratio=ratio, steps=len(steps))
    if not apart:
        return agreement
    place, order = min(apart)
    values = float(one[channels[order]][place]), float(two[channels[order]][place])
    return replace(agreement, step=int(steps[place]), channel=channels[order], left=values[0], right=values[1])


def _differ(left: Array, right: Array, tolerance: float, known: bool) -> Array:
    """Where two series part; a NaN in one of them does only where the number is `known` to have been taken."""
    mine, theirs = np.isfinite(left), np.isfinite(right)
    with np.errstate(invalid="ignore"):
        apart: Array = np.abs(left - right) > tolerance * np.maximum(np.abs(left), np.abs(right))
    apart &= mine & theirs
    if known:
        apart |= mine != theirs
    return apart
