"""What variables are called that were given no name: by the attribute or the Python name that holds them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from whygrad.backends.tensorflow.log.op_table import DEFAULT_NAMES
from whygrad.backends.tensorflow.log.variables import VariableEntry
from whygrad.observe.place import span
from whygrad.source import SourceSpan, shown_file
from whygrad.source.holder import holder, name_on_stack


class Owner(NamedTuple):
    """What holds a variable in an attribute."""

    name: str
    attribute: str
    tracks: bool
    is_foreign: bool  # it tracks variables of its own library, and this is a plain one


def python_names(entries: Iterable[VariableEntry], owners: Mapping[int, Owner]) -> dict[int, str]:
    """Names by variable; what several lines call by one name is told apart by file and line."""
    made: Counter[SourceSpan] = Counter()
    found: dict[int, tuple[str, SourceSpan | None]] = {}
    for entry in entries:
        if entry.name not in DEFAULT_NAMES or entry.keras is not None:
            continue
        where, name = span(entry.created), None
        if entry.id in owners:
            name = f"{owners[entry.id].name}.{owners[entry.id].attribute}"
        elif where is not None:
            name = holder([where, *filter(None, map(span, entry.callers))], made[where])
            made[where] += 1
        elif entry.reference is not None and (variable := entry.reference()) is not None:  # older than the capture
            name = name_on_stack(variable)
        if name is not None:
            found[entry.id] = name, where
    places: dict[str, set[str]] = defaultdict(set)
    for name, where in found.values():
        places[name].add(_line(where))
    return {number: name if len(places[name]) == 1 else name + _line(where) for number, (name, where) in found.items()}


def _line(where: SourceSpan | None) -> str:
    return "" if where is None else f" ({shown_file(where.file)}:{where.line})"
