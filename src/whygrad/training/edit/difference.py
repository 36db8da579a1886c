"""`diff`: what changed between two moments, by variable."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from whygrad.arguments import check_choice
from whygrad.errors import UnknownNameError, UsageError
from whygrad.report.cells import aligned
from whygrad.training.edit.snapshots import KERAS_FILES, Snapshot, as_saved, read_checkpoint, snapshot


class Change(StrEnum):
    """What became of a variable between two snapshots."""

    SAME = "same"  # every bit
    CHANGED = "changed"
    RESHAPED = "reshaped"  # another shape or type: no norms
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableChange:
    """One variable in both snapshots; norms are L2, in float64, None where there is no number to compare."""

    name: str
    change: Change
    shape: tuple[int, ...]
    before: float | None = None
    after: float | None = None
    distance: float | None = None
    largest: float | None = None  # the largest change of one element
    changed_share: float | None = None  # of the elements
    nonfinite: int = 0  # elements that are NaN or infinite afterwards

    @property
    def relative(self) -> float | None:
        """The distance in units of the norm before."""
        if self.distance is None or self.before is None:
            return None
        return self.distance / self.before if self.before else (0.0 if not self.distance else float("inf"))


@dataclass(frozen=True, slots=True)
class Difference:
    """Changes by variable; prints as a table of those that changed."""

    rows: tuple[VariableChange, ...]

    @property
    def changed(self) -> tuple[VariableChange, ...]:
        return tuple(row for row in self.rows if row.change is not Change.SAME)

    def __getitem__(self, name: str) -> VariableChange:
        for row in self.rows:
            if row.name == name:
                return row
        raise UnknownNameError(name, (row.name for row in self.rows), "variable")

    def __iter__(self) -> Iterator[VariableChange]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return bool(self.changed)

    def sort(self, by: str = "relative") -> Difference:
        """Largest first: by `relative`, `distance`, `largest`, `before`, `after`, or by `name`."""
        check_choice("by", by, ("relative", "distance", "largest", "before", "after", "name"))
        if by == "name":
            return replace(self, rows=tuple(sorted(self.rows, key=lambda row: row.name)))

        def size(row: VariableChange) -> float:
            value = getattr(row, by)
            return float("inf") if value is None or np.isnan(value) else float(value)

        return replace(self, rows=tuple(sorted(self.rows, key=size, reverse=True)))

    def __str__(self) -> str:
        same = len(self.rows) - len(self.changed)
        summary = f"{len(self.changed)} of {len(self.rows)} variables changed"
        if not self.changed:
            return summary if self.rows else "there are no variables to compare"
        headings = ("variable", "shape", "|before|", "|after|", "|change|", "relative", "largest", "elements", "")
        table = aligned(headings, (_cells(row) for row in self.changed), right=headings[2:8])
        return f"{table}\n{summary}, {same} are the same to the bit" if same else f"{table}\n{summary}"

    __repr__ = __str__


def diff(before: Any, after: Any) -> Difference:
    """Compare two snapshots, saved files, or the present values of models, optimizers and variables.

    Names must agree: compare a snapshot with a snapshot or a live model, a file with a file of the same kind. A file
    that Keras saved (`.weights.h5`, `.keras`) may be compared with the live model, too; the names are the file's then.
    """
    old, new = _values(before, after), _values(after, before)
    if old.values and new.values and not set(old.values) & set(new.values):
        raise UsageError(
            f"the two have no variable of the same name (`{next(iter(old))}`, `{next(iter(new))}`)",
            help="compare two snapshots, or two files of the same kind: save the model the same way first",
        )
    names = [*old.values, *(name for name in new.values if name not in old.values)]
    return Difference(tuple(_compare(name, old.values.get(name), new.values.get(name)) for name in names))


def _values(source: Any, other: Any) -> Snapshot:
    """The values of one side, named as those of the other."""
    if isinstance(source, Snapshot):
        return source
    if isinstance(source, (str, os.PathLike)):
        return read_checkpoint(source)
    is_file = isinstance(other, (str, os.PathLike)) and os.fspath(other).endswith(KERAS_FILES)
    if is_file and hasattr(source, "save_weights") and not isinstance(source, type):
        return as_saved(source, other)
    return snapshot(source)


def _compare(name: str, old: Any, new: Any) -> VariableChange:
    facts: dict[str, Any] = {"shape": (old if new is None else new).shape}
    if old is not None:
        facts["before"] = _norm(old)
    if new is not None:
        facts |= {"after": _norm(new), "nonfinite": _bad(new)}
    if old is None or new is None:
        change = Change.ADDED if old is None else Change.REMOVED
    elif old.shape != new.shape or old.dtype != new.dtype:
        change = Change.RESHAPED
    elif old.tobytes() == new.tobytes():
        change, facts = Change.SAME, facts | {"distance": 0.0, "largest": 0.0, "changed_share": 0.0}
    else:
        change, facts = Change.CHANGED, facts | _distance(old, new)
    return VariableChange(name=name, change=change, **facts)


def _distance(old: Any, new: Any) -> dict[str, float | None]:
    moved = float(np.mean(old != new)) if old.size else 0.0
    first, second = _numbers(old), _numbers(new)
    if first is None or second is None:
        return {"changed_share": moved}
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(second - first)
        return {
            "distance": float(np.sqrt(np.sum(np.square(gap)))),
            "largest": float(gap.max()) if gap.size else 0.0,
            "changed_share": moved,
        }


def _numbers(array: Any) -> Any:
    """In double precision; None for what is no number."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    try:
        return array.astype(np.float64) if array.dtype.kind in "biufV" else None  # V: bfloat16 and the float8 kinds
    except (TypeError, ValueError):
        return None


def _norm(array: Any) -> float | None:
    numbers = _numbers(array)
    if numbers is None:
        return None
    with np.errstate(over="ignore"):
        return float(np.sqrt(np.sum(np.square(np.abs(numbers)))))


def _bad(array: Any) -> int:
    numbers = _numbers(array)
    return 0 if numbers is None else int(numbers.size - np.count_nonzero(np.isfinite(numbers)))


def _cells(row: VariableChange) -> tuple[str, ...]:
    shape = "×".join(map(str, row.shape)) or "scalar"
    remark = "" if row.change is Change.CHANGED else str(row.change)
    if row.nonfinite:
        remark = f"{remark} {row.nonfinite} not finite".strip()
    numbers = [(size, ".4g") for size in (row.before, row.after, row.distance)]
    numbers += [(row.relative, ".3g"), (row.largest, ".3g"), (row.changed_share, ".0%")]
    texts = ("" if number is None else format(number, form) for number, form in numbers)
    return (row.name, shape, *texts, remark)
