"""The form of a kept step: what its JSON must look like before anything is made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from whygrad.errors import UsageError

MAX_NODES: Final = 100_000
MAX_PLACES: Final = 100_000_000  # a number of a value, a tensor or a line; larger ones stand in no step
MAX_ITEMS: Final = 10_000  # inputs, outputs or layers of one op, lines of an expression, letters of a name

Form = Callable[[Any], bool]


def check_form(facts: Mapping[str, Any]) -> None:
    """Raise a UsageError where the facts of a step are not what the keeper writes."""
    _check("the step", facts, _STEP)
    for number, node in enumerate(facts["nodes"]):
        _check(f"op {number} of the step", node, _NODE)
        if not _is_forward(node.get("forward"), number):
            raise UsageError(f"op {number} of the step is damaged: its `forward` is malformed")


def _check(what: str, data: Mapping[str, Any], forms: Mapping[str, Form]) -> None:
    for name, form in forms.items():
        if name not in data or not form(data[name]):
            raise UsageError(f"{what} is damaged: its `{name}` is missing or malformed")


def _is_text(data: Any) -> bool:
    return type(data) is str and len(data) <= MAX_ITEMS


def _is_flag(data: Any) -> bool:
    return type(data) is bool


def _is_number(data: Any) -> bool:
    return type(data) is int and 0 <= data <= MAX_PLACES


def _or_none(form: Form) -> Form:
    return lambda data: data is None or form(data)


def _list_of(form: Form, most: int = MAX_ITEMS) -> Form:
    return lambda data: type(data) is list and len(data) <= most and all(map(form, data))


def _table_of(form: Form) -> Form:
    """JSON has text keys only: numbers are written as such."""
    return lambda data: (
        type(data) is dict
        and len(data) <= MAX_NODES * 10
        and all(key.isascii() and key.isdigit() and len(key) <= 19 and form(value) for key, value in data.items())
    )


def _record_of(**forms: Form) -> Form:
    return lambda data: type(data) is dict and all(name in data and form(data[name]) for name, form in forms.items())


def _is_id(data: Any) -> bool:
    """The number of a variable or tensor in the run that was watched."""
    return type(data) is int and 0 <= data < 2**63


def _is_span(data: Any) -> bool:
    if type(data) is not list or len(data) != 5 or not _is_text(data[0]):
        return False
    _, line, _, last, _ = data
    return _is_number(line) and all(map(_or_none(_is_number), data[2:])) and 0 <= (last or line) - line <= MAX_ITEMS


_is_place = _or_none(_is_span)
_are_values = _list_of(_or_none(_is_number))

_STEP: Final[Mapping[str, Form]] = {
    "nodes": _list_of(lambda data: type(data) is dict, MAX_NODES),
    "handles": _table_of(_is_id),
    "numbers": _table_of(_is_id),
    "ends": _list_of(_is_number, MAX_NODES),
    "outside": _list_of(_is_number, MAX_NODES * 10),
    "dtypes": _table_of(_is_text),
    "variables": _table_of(
        _record_of(
            name=_is_text,
            dtype=_is_text,
            shape=_or_none(_list_of(_or_none(_is_id))),
            trainable=_is_flag,
            created=_is_place,
            last_write=_is_place,
        )
    ),
    "when": _record_of(
        request=_is_place,
        step=_is_number,
        loss_is_bad=_is_flag,
        symptom=_is_text,
        variables=_list_of(_is_id),
        compiled=_is_flag,
    ),
}

_DESCRIBED: Final[Mapping[str, Form]] = {
    "type": _is_text,
    "inputs": _are_values,
    "outputs": _are_values,
    "place": _is_place,
    "layers": _list_of(_is_text),
}

_NODE: Final[Mapping[str, Form]] = {
    **_DESCRIBED,
    "rerun": lambda data: data in (None, "op", "sum", "gradient"),
    "attrs": lambda data: type(data) is list and len(data) <= MAX_ITEMS,
    "incoming": _are_values,
}


def _is_forward(data: Any, position: int) -> bool:
    """An earlier op, or the description of one that is not among them."""
    if data is None:
        return True
    if type(data) is int:
        return 0 <= data < position
    return type(data) is dict and data.keys() == _DESCRIBED.keys() and all(f(data[n]) for n, f in _DESCRIBED.items())
