"""Which variables there are: identity, name, where each was made, who holds it."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.graph import VariableId
from whygrad.source import SourceSpan
from whygrad.source.position import Position


@dataclass(slots=True)
class VariableEntry:
    """One variable, for as long as the capture lives; the variable itself is held weakly."""

    id: int  # the `_id` of its handle
    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    trainable: bool
    created: Position | SourceSpan | None
    reference: weakref.ref[Any] | None
    born: Position | SourceSpan | None = None  # what the user's code was doing when it was made
    callers: tuple[Position, ...] = ()  # of the code that made it, where it was given no name
    made_at: int = 0  # the recorder's clock
    made_in_trace: bool = False
    made_in_step: int = 0
    in_constructor: bool = False
    from_data: bool = False
    writes: int = 0
    last_write: Position | SourceSpan | None = None
    written_at: int = 0  # the book's count of writes at the last one outside of compiled functions
    noted: bool = False  # its making was seen; other objects around the same handle are not new variables
    keras: weakref.ref[Any] | None = None  # the Keras variable around it


_MOST_MET: Final = 20_000


def handle_id(variable: Any) -> int | None:
    """None for what is no variable, and for one with copies on several devices, outside of a replica."""
    try:
        number: int | None = compat.id_of(getattr(variable, "handle", None))
    except ValueError:
        return None
    return number


class VariableBook:
    """Variables by the id of their resource handle."""

    def __init__(self) -> None:
        self.entries: dict[int, VariableEntry] = {}
        self.copies: dict[int, int] = {}  # the handle of a copy on another device -> that of the first
        self.writes = 0  # outside of compiled functions, by anybody
        self._met: dict[int, VariableEntry] = {}  # by the id of the variable that was asked for

    def add(self, variable: Any, created: Position | SourceSpan | None, now: int = 0) -> VariableEntry | None:
        """Note a variable; None where it has no handle yet."""
        number = self._number(variable)
        if number is None:
            return None
        entry = self.entries.get(number)
        if entry is None:
            entry = self.entries[number] = VariableEntry(
                id=number,
                name=_clean_name(variable),
                dtype=variable.dtype.name,
                shape=_shape(variable),
                trainable=bool(getattr(variable, "trainable", False)),
                created=created,
                reference=weakref.ref(variable),
                made_at=now,
            )
        return entry

    def wrote(self, entry: VariableEntry) -> None:
        """Code outside of compiled functions wrote to a variable."""
        self.writes += 1
        entry.written_at = self.writes

    def _number(self, variable: Any) -> int | None:
        """The id of the handle; of the first copy where a strategy keeps one on each device."""
        copies = getattr(variable, "_values", None)
        if not isinstance(copies, (tuple, list)) or not copies:
            number = handle_id(variable)
            return number if number is None else self.copies.get(number, number)
        first, *others = map(handle_id, copies)
        if first is not None:
            self.copies.update((number, first) for number in others if number is not None)
        return first

    def first_copy(self, entry: VariableEntry) -> VariableEntry:
        """Of a variable that a strategy keeps on each device, the entry that stands for all of them."""
        variable = None if entry.reference is None else entry.reference()
        around = compat.container_of(variable)
        number = self.copies.get(entry.id) if around is None else self._number(around)
        return self.entries.get(entry.id if number is None else number, entry)

    def meet_handle(self, number: int, frame: FrameType | None) -> VariableEntry | None:
        """The variable of a handle; one that nobody announced is older than the capture: look for it up the stack."""
        for _ in range(12):
            if frame is None or number in self.entries:
                break
            for value in frame.f_locals.values():
                if handle_id(value) == number and hasattr(value, "assign"):
                    self.add(value, None)
                    return self.entries.get(number)
            frame = frame.f_back
        return self.entries.get(number)

    def link_keras(self, keras_variable: Any, created: Position | SourceSpan | None) -> None:
        """Tie a Keras variable to the TensorFlow variable it wraps."""
        value = compat.held_by(keras_variable)
        if value is None or not hasattr(type(value), "handle"):
            return
        entry = self.add(value, created)
        if entry is not None:
            entry.keras = weakref.ref(keras_variable)

    def ids(self, variables: Iterable[Any]) -> tuple[VariableId, ...]:
        """The numbers of variables, without those that have none yet."""
        found = map(self.of, variables)
        return tuple(VariableId(entry.id) for entry in found if entry is not None)

    def of(self, variable: Any) -> VariableEntry | None:
        """The entry of a tf.Variable or Keras variable."""
        met, held = self._met.get(id(variable)), compat.held_by(variable)  # ids come back, and values are replaced
        if met is not None and met.keras and met.reference and met.keras() is variable and met.reference() is held:
            return met
        asked, variable = variable, compat.below_casts(variable)
        if compat.awaits_value(variable):
            return None
        inner = compat.held_by(variable)
        if inner is not None and hasattr(type(inner), "handle"):
            self.link_keras(variable, None)
            variable = inner
        found = self.add(variable, None) if hasattr(type(variable), "handle") else None
        if found is not None:
            if len(self._met) >= _MOST_MET:
                self._met.clear()
            self._met[id(asked)] = found
        return found


def _clean_name(variable: Any) -> str:
    name = str(getattr(variable, "name", "variable"))
    return name.split(":")[0]


def _shape(variable: Any) -> tuple[int | None, ...] | None:
    shape = variable.shape
    return None if shape.rank is None else tuple(shape.as_list())
