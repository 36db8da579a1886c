"""From a bad value of a replay to the facts that explain it."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.backends.tensorflow.log.op_table import kind_of
from whygrad.backends.tensorflow.log.positions import span
from whygrad.backends.tensorflow.nonfinite.finite import array_of, facts_of_values
from whygrad.backends.tensorflow.nonfinite.replay.taking import first_taker
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Trace, Value, births
from whygrad.backends.tensorflow.nonfinite.wider import is_finite_when_wider
from whygrad.graph import OpKind, VariableId
from whygrad.graph.nonfinite import NonfiniteBorn, NonfiniteEntered, ValueFacts
from whygrad.source import SourceSpan

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.log.op_record import OpRecord

ROWS_SHOWN = 8
HUGE = 1e8  # a factor of this size explains an overflow


def describe(capture: Capture, trace: Trace, value: Value) -> NonfiniteBorn | NonfiniteEntered:
    """The event of one birth, still without its occurrence."""
    if value.maker is None or value.maker.type == "Const":
        return _entered(capture, trace, value)
    return _born(capture, trace, value, value.maker)


def _born(capture: Capture, trace: Trace, value: Value, node: Node) -> NonfiniteBorn:
    forward = node.forward or node
    backward = node.forward is not None
    mask = _mask(value)
    select = _masking_select(trace, forward, node, mask)
    fed = None if backward else _feeding(node)
    batch = _batch_size(trace)
    upstream = next((came for came in node.incoming if came is not None), None)
    return NonfiniteBorn(
        kind=kind_of_failure(forward.type),
        name=forward.type,
        where=span(capture.keras.shown_at(node.site.place, node.site.layers)),
        backward=backward,
        inputs=tuple(_facts(each) for each in (forward.inputs or node.inputs) if each is not None and _is_number(each)),
        output=_facts(value),
        upstream=None if upstream is None else _facts(upstream),
        masked_by=None if select is None else span(select.site.place),
        is_masked=select is not None,
        finite_when_wider=is_finite_when_wider(node, value),
        fed_by=None if fed is None else kind_of(fed.type),
        fed_at=None if fed is None else span(fed.site.place),
        layers=node.site.layers,
        rows=_rows(mask) if batch is not None and mask is not None and mask.ndim and len(mask) == batch else (),
        batch=batch,
        exact=trace.is_exact,
    )


def kind_of_failure(op_type: str) -> OpKind:
    """`SqrtGrad` fails where `Sqrt` does."""
    kind = kind_of(op_type)
    return kind_of(op_type.removesuffix("Grad")) if kind is OpKind.OTHER else kind


def _entered(capture: Capture, trace: Trace, value: Value) -> NonfiniteEntered | NonfiniteBorn:
    before = None if value.handle is not None else _suspect(capture, value.number)
    if before is not None:  # its inputs are gone: what it is says enough
        kind = kind_of_failure(before.type)
        return NonfiniteBorn(kind=kind, name=before.type, where=span(before.place), output=_facts(value), exact=False)
    mask = _mask(value)
    rows = _rows(mask) if mask is not None and mask.ndim else ()
    columns = _rows(np.moveaxis(mask, -1, 0)) if mask is not None and mask.ndim > 1 else ()
    taker = first_taker(trace, value)
    used_at = None if taker is None else span(taker.site.place)
    if value.handle is not None:
        entry = capture.variables.entries.get(value.handle)
        return NonfiniteEntered(
            where=span(entry.created) if entry is not None else None,
            facts=_facts(value),
            variable=VariableId(value.handle),
            used_at=used_at,
            written_at=span(entry.last_write) if entry is not None else None,
            rows=rows,
            columns=columns,
        )
    select = None if taker is None else _masking_select(trace, taker, taker, mask)
    return NonfiniteEntered(
        where=_origin(capture, value, used_at),
        facts=_facts(value),
        used_at=used_at,
        masked_by=None if select is None else span(select.site.place),
        rows=rows,
        columns=columns,
    )


def _suspect(capture: Capture, number: int | None) -> OpRecord | None:
    """The nearest op before the tape that may have made a value that is not finite: a division, a root, a logarithm."""
    producers = capture.recorder.producers
    todo, seen = deque(() if number is None else (number,)), set[int]()
    while todo and len(seen) < _LOOKED_AT:
        record = producers.get(todo.popleft())
        if record is None or record.sequence in seen:
            continue
        seen.add(record.sequence)
        if kind_of_failure(record.type) in _RISKY:
            return record
        todo.extend(record.inputs)
    return None


_RISKY = frozenset({OpKind.DIVIDE, OpKind.LOG, OpKind.SQRT, OpKind.POWER, OpKind.EXP, OpKind.INVERSE_TRIG})
_LOOKED_AT = 64  # ops before the tape


def _origin(capture: Capture, value: Value, used_at: SourceSpan | None) -> SourceSpan | None:
    """The op before the tape that made the value; else the expression that takes it."""
    recorder, number = capture.recorder, value.number
    record = None if number is None else recorder.producers.get(number)
    if record is not None:
        return span(record.place)
    leaf = None if number is None or used_at is not None else recorder.leaves.get(number)
    return used_at if leaf is None else span(leaf.place)


def _facts(value: Value) -> ValueFacts:
    return facts_of_values(value.tensor)


def _is_number(value: Value) -> bool:
    dtype = getattr(value.tensor, "dtype", None)
    return dtype is not None and (dtype.is_floating or dtype.is_integer or dtype.is_complex)


def _mask(value: Value) -> Any:
    """Where a value is not finite."""
    array = array_of(getattr(value.tensor, "values", value.tensor))
    return None if array is None else ~np.isfinite(array)


def _rows(mask: Any) -> tuple[int, ...]:
    found = np.unique(np.nonzero(mask)[0])[:ROWS_SHOWN]
    return tuple(int(row) for row in found)


def _batch_size(trace: Trace) -> int | None:
    """The leading length of the largest value that came in from outside."""
    found: list[tuple[int, int]] = []
    for value in trace.values.values():
        if value.maker is None and value.handle is None and _is_number(value) and value.tensor.dtype.is_floating:
            shape = tuple(value.tensor.shape)
            if shape and shape[0] > 1:
                found.append((int(np.prod(shape)), int(shape[0])))
    return max(found)[1] if found else None


def _masking_select(trace: Trace, forward: Node, node: Node, mask: Any) -> Node | None:
    """A select downstream that takes the other branch wherever the value is bad."""
    if mask is None:
        return None
    users = _users(trace)
    reached = {id(value) for value in forward.outputs if value is not None}
    todo: list[Any] = [value for value in forward.outputs if value is not None]
    while todo:
        for user in users.get(id(todo.pop(0)), ()):
            if kind_of(user.type) is OpKind.SELECT and _skips(user, reached, mask, node):
                return user
            for value in user.outputs:
                if value is not None and id(value) not in reached:
                    reached.add(id(value))
                    todo.append(value)
    return None


def _users(trace: Trace) -> dict[int, list[Node]]:
    found: dict[int, list[Node]] = defaultdict(list)
    for node in trace.nodes:
        if node.forward is None:
            for value in node.inputs:
                found[id(value)].append(node)
    return found


def _skips(select: Node, reached: set[int], mask: Any, node: Node) -> bool:
    condition, first, second = select.inputs[:3]
    if condition is None or (id(first) in reached) == (id(second) in reached):
        return False
    chosen = array_of(condition.tensor)
    taken = chosen if id(first) in reached else ~chosen
    if taken.shape == mask.shape or taken.size == 1:
        return not bool(np.logical_and(taken, mask).any())
    came = [array_of(getattr(value.tensor, "values", value.tensor)) for value in node.incoming if value is not None]
    same = [array for array in came if array is not None and array.shape == mask.shape]
    if same:
        return all(not array[mask].any() for array in same)
    return not bool(taken.all())


def _feeding(node: Node) -> Node | None:
    """The op that made the huge input of an overflow."""
    seen: set[int] = set()
    todo = list(_huge_inputs(node))
    while todo and len(seen) < 64:
        maker = todo.pop(0)
        if id(maker) in seen:
            continue
        seen.add(id(maker))
        if kind_of(maker.type) in (OpKind.EXP, OpKind.DIVIDE, OpKind.POWER, OpKind.SQRT):
            return maker
        todo.extend(_huge_inputs(maker))
    return None


def _huge_inputs(node: Node) -> Iterable[Node]:
    for value in node.inputs:
        if value is not None and value.maker is not None and _largest(value.tensor) > HUGE:
            yield value.maker


def _largest(tensor: Any) -> float:
    array = array_of(tensor)
    if array is None or not array.size or (array.dtype.kind not in "fV" and array.dtype.kind != "c"):
        return 0.0
    with np.errstate(all="ignore"):
        return float(np.nanmax(np.abs(array.astype(np.float64, copy=False))))


def is_at_zero(value: Value) -> bool:
    """Born in a division, a root, a logarithm, and not by overflow: no smaller scale of the loss would help."""
    node = value.maker
    if node is None or kind_of_failure((node.forward or node).type) not in _RISKY:
        return False
    return not is_finite_when_wider(node, value) and all(_largest(each.tensor) < HUGE for each in _numbers(node))


def _numbers(node: Node) -> Iterable[Value]:
    return (each for each in (*node.inputs, *node.incoming) if each is not None and _is_number(each))


def nan_only(value: Value) -> bool:
    """Whether a value has a NaN, not just infinities."""
    array = array_of(getattr(value.tensor, "values", value.tensor))
    return array is not None and array.dtype.kind in "fcV" and bool(np.isnan(array).any())


def is_pure_infinity(capture: Capture, value: Value) -> bool:
    """Data, a constant or a variable that is not trained may hold an infinity on purpose: a mask, a bound."""
    if nan_only(value) or (value.maker is not None and value.maker.type != "Const"):
        return False
    entry = None if value.handle is None else capture.variables.entries.get(value.handle)
    return value.handle is None or (entry is not None and not entry.trainable)


def first_birth(capture: Capture, ends: list[Value]) -> Value | None:
    """The birth to report: the earliest in time.

    An infinity that was put there on purpose is not to blame; what made a NaN of it is.
    """
    found = _earliest(births(ends))
    if found is not None and is_pure_infinity(capture, found):
        return _earliest(births(ends, nan_only)) or found
    return found


def _earliest(found: Iterable[Value]) -> Value | None:
    return min(found, key=_moment, default=None)


def _moment(value: Value) -> int:
    return -1 if value.maker is None else value.maker.order
