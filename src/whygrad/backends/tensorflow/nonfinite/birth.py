"""From a bad value of a replay to the event that describes where it came from."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.op_record import Departure, OpRecord
from whygrad.backends.tensorflow.log.op_table import ACTIONS, kind_of
from whygrad.backends.tensorflow.log.python_bodies import BadOp
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.measure.finite import facts_of_values, is_number
from whygrad.backends.tensorflow.nonfinite.feeders import feeders_of
from whygrad.backends.tensorflow.nonfinite.half import is_finite_when_wider
from whygrad.backends.tensorflow.nonfinite.onward import first_taker, masking_select
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Trace, Value, births
from whygrad.backends.tensorflow.nonfinite.watched import Watched
from whygrad.graph import Action, OpKind, VariableId
from whygrad.graph.nonfinite import FailingOp, Nonfinite, Stage
from whygrad.observe.place import span
from whygrad.source import SourceSpan
from whygrad.source.slicing import feeding_lines

ROWS_SHOWN: Final = 8
LOOKED_AT: Final = 64  # ops before the tape
TAKERS: Final = 16  # ops that a bad value goes through before one that all replicas have
OVERFLOWING: Final = 1e8  # a magnitude that a smaller loss scale may help against
RISKY: Final = frozenset({OpKind.DIVIDE, OpKind.LOG, OpKind.SQRT, OpKind.POWER, OpKind.EXP, OpKind.INVERSE_TRIG})


def describe(watched: Watched, trace: Trace, value: Value) -> Nonfinite:
    """The event of one bad value, still without its occurrence."""
    if value.maker is None or value.maker.type == "Const":
        return _entered(watched, trace, value)
    return _born(watched, trace, value, value.maker)


def _born(watched: Watched, trace: Trace, value: Value, node: Node) -> Nonfinite:
    forward = node.forward or node
    inside = _inside_python(watched, node)
    if inside is not None:
        return replace(_born_inside(inside), value=facts_of_values(value.tensor), exact=trace.is_exact)
    inputs = [each.tensor for each in (forward.inputs or node.inputs) if each is not None]
    mask = value.mask
    select = masking_select(trace, forward, node, value)
    batch = _batch_size(trace)
    op = failing_op(
        forward.type,
        inputs,
        backward=node.forward is not None,
        fed_by=feeders_of(watched.shown_at, forward if forward.inputs else node),
        is_masked=select is not None,
        finite_when_wider=is_finite_when_wider(node, value),
        layers=node.site.layers,
    )
    return Nonfinite(
        stage=Stage.BORN,
        where=span(watched.shown_at(node.site.place, node.site.layers)),
        value=facts_of_values(value.tensor),
        op=op,
        masked_by=None if select is None else span(select.site.place),
        rows=_rows(mask) if batch is not None and mask is not None and mask.ndim and len(mask) == batch else (),
        batch=batch,
        replica=_replica(trace, node),
        exact=trace.is_exact,
        tries=trace.tries,
        rounded_otherwise=trace.is_rounded_otherwise,
    )


def _inside_python(watched: Watched, node: Node) -> BadOp | None:
    """The op that made the value inside of a Python function that runs as an op."""
    if kind_of(node.type) is not OpKind.FOREIGN:
        return None
    bodies, token = watched.recorder.python_bodies, compat.python_token(node.attrs)
    if bodies is None:
        return None
    return bodies.bad.get(token) or (bodies.bad_gradient.get(token) if node.forward is not None else None)


def _born_inside(inside: BadOp) -> Nonfinite:
    op = failing_op(inside.op.type, inside.op.inputs, backward=inside.backward)
    return Nonfinite(stage=Stage.BORN, where=span(inside.op.place), op=op)


def _replica(trace: Trace, node: Node) -> int | None:
    """The replica on which alone an op gives bad values, of several that run it."""
    alike = [
        each
        for each in trace.nodes
        if each.type == node.type and each.site.place == node.site.place and bool(each.forward) == bool(node.forward)
    ]
    if len({each.site.replica for each in alike}) == 1:
        return None
    bad = {each.site.replica for each in alike if any(value is not None and value.bad for value in each.outputs)}
    return node.site.replica if bad == {node.site.replica} else None


def _replica_taking(trace: Trace, value: Value) -> int | None:
    """The replica that alone goes on with a bad value which came in."""
    reached, takers = {id(value)}, 0
    for node in trace.nodes:
        if takers < TAKERS and any(id(each) in reached for each in node.inputs):
            takers += 1
            reached.update(id(each) for each in node.outputs if each is not None and each.bad)
            found = _replica(trace, node)
            if found is not None:
                return found
    return None


def failing_op(op_type: str, inputs: Iterable[Any] = (), **facts: Any) -> FailingOp:
    """An op with the numbers that went in; `SqrtGrad` fails where `Sqrt` does."""
    numbers = tuple(facts_of_values(tensor) for tensor in inputs if is_number(tensor))
    action = ACTIONS.get(op_type) or ACTIONS.get(op_type.removesuffix("Grad"))
    return FailingOp(kind=_kind_of_failure(op_type), name=op_type, action=action, inputs=numbers, **facts)


def _kind_of_failure(op_type: str) -> OpKind:
    kind = kind_of(op_type)
    return kind_of(op_type.removesuffix("Grad")) if kind is OpKind.OTHER else kind


def _entered(watched: Watched, trace: Trace, value: Value) -> Nonfinite:
    facts = facts_of_values(value.tensor)
    before = None if value.handle is not None else _suspect(watched, value.number)
    if before is not None:  # its inputs are gone: what it is says enough
        return Nonfinite(
            stage=Stage.BORN, where=span(before.place), value=facts, op=failing_op(before.type), exact=False
        )
    mask = value.mask
    taker = first_taker(trace, value)
    used_at = None if taker is None else span(taker.site.place)
    entry = None if value.handle is None else watched.variables.entries.get(value.handle)
    is_data = value.handle is None
    select = None if taker is None or not is_data else masking_select(trace, taker, taker, value)
    made = None if entry is None else span(entry.created)
    return Nonfinite(
        stage=Stage.ENTERED,
        where=_origin(watched, value, used_at) if is_data else made,
        value=facts,
        variables=() if value.handle is None else (VariableId(value.handle),),
        used_at=used_at,
        masked_by=None if select is None else span(select.site.place),
        written_at=None if entry is None else span(entry.last_write),
        rows=_rows(mask) if mask is not None and mask.ndim else (),
        columns=_rows(np.moveaxis(mask, -1, 0)) if mask is not None and mask.ndim > 1 else (),
        replica=_replica_taking(trace, value),
    )


def _suspect(watched: Watched, number: int | None) -> OpRecord | None:
    """The nearest op before the tape that may have made a value that is not finite: a division, a root, a logarithm.

    Of a value that Python gave, that of the first bad one which went into it.
    """
    recorder = watched.recorder
    leaf = None if number is None else recorder.leaves.get(number)
    where = None if leaf is None else span(leaf.place)
    if leaf is not None and where is not None and any(left.bad for left in recorder.departures):
        feeding = feeding_lines(where)
        before = (left for left in recorder.departures if left.bad and left.sequence <= leaf.sequence)
        number = next((left.tensor for left in before if _line_of(left) in feeding), None)
    makers = (recorder.producers.get(each) for each in (() if number is None else _behind(recorder, number)))
    return next((each for each in makers if each is not None and _kind_of_failure(each.type) in RISKY), None)


def _line_of(left: Departure) -> tuple[str, int] | None:
    where = span(left.place)
    return None if where is None else (where.file, where.line)


def _origin(watched: Watched, value: Value, used_at: SourceSpan | None) -> SourceSpan | None:
    """The op before the tape that made the value; else the expression that takes it."""
    recorder, number = watched.recorder, value.number
    record = None if number is None else recorder.producers.get(number)
    if record is not None:
        return span(record.place)
    leaf = None if number is None or used_at is not None else recorder.leaves.get(number)
    return used_at if leaf is None else span(leaf.place)


def _rows(mask: Any) -> tuple[int, ...]:
    found = np.unique(np.nonzero(mask)[0])[:ROWS_SHOWN]
    return tuple(int(row) for row in found)


def _batch_size(trace: Trace) -> int | None:
    """The leading length of the largest value that came in from outside."""
    found: list[tuple[int, int]] = []
    for value in trace.values.values():
        if value.maker is None and value.handle is None and is_number(value.tensor) and value.tensor.dtype.is_floating:
            shape = tuple(value.tensor.shape)
            if shape and shape[0] > 1:
                found.append((int(np.prod(shape)), int(shape[0])))
    return max(found)[1] if found else None


def is_at_zero(value: Value) -> bool:
    """Born in a division, a root, a logarithm, and not by overflow: no smaller scale of the loss would help."""
    node = value.maker
    if node is None or _kind_of_failure((node.forward or node).type) not in RISKY:
        return False
    taken = [each.tensor for each in (*node.inputs, *node.incoming) if each is not None and is_number(each.tensor)]
    facts = map(facts_of_values, taken)
    small = all(max(abs(each.low or 0.0), abs(each.high or 0.0)) < OVERFLOWING for each in facts)
    return small and not is_finite_when_wider(node, value)


def _is_pure_infinity(variables: VariableBook, value: Value) -> bool:
    """Data, a constant or a variable that is not trained may hold an infinity on purpose: a mask, a bound."""
    if value.has_nan or (value.maker is not None and value.maker.type != "Const"):
        return False
    entry = None if value.handle is None else variables.entries.get(value.handle)
    return value.handle is None or (entry is not None and not entry.trainable)


def first_birth(variables: VariableBook, ends: list[Value]) -> Value | None:
    """The earliest bad value that the ends are bad because of.

    An infinity that was put there on purpose is not the cause; what made a NaN of it is.
    """
    found = next(iter(births(ends)), None)
    if found is None or not _is_pure_infinity(variables, found):
        return found
    undefined = next(iter(births(ends, lambda each: each.has_nan)), None)
    return found if undefined is None or _is_averaged_before(undefined) else undefined


def before_it_left(watched: Watched, trace: Trace, entered: Value, start: int) -> Value | None:
    """The bad value that this pass made of finite ones, and that left the framework before a bad one came in: what
    came in may be what became of it. `start`: when the pass began, by the recorder's clock.
    """
    recorder = watched.recorder
    leaf = None if entered.number is None else recorder.leaves.get(entered.number)
    if leaf is None or entered.handle is not None:
        return None
    results = (value for node in trace.nodes for value in node.outputs if value is not None)
    bad = {value.number: value for value in results if value.number is not None and value.bad}
    for number in _left(recorder, start, leaf.sequence):
        made = next((bad[each] for each in _behind(recorder, number) if each in bad), None)
        born = None if made is None else next(iter(births([made])))
        if born is not None and born.maker is not None:
            return born
    return None


def _left(recorder: Recorder, start: int, end: int) -> Iterator[int]:
    """What left the framework within a time, the last first; NumPy may take, without asking, what no op takes."""
    yield from (left.tensor for left in reversed(recorder.departures) if start < left.sequence <= end)
    taken: set[int] = set()
    for record in itertools.takewhile(lambda record: record.sequence > start, reversed(recorder.records)):
        if record.sequence <= end:
            yield from (facts.id for facts in record.outputs if facts.id not in taken)
        taken.update(record.inputs)


def _behind(recorder: Recorder, number: int) -> Iterator[int]:
    """A tensor and what it was computed from, the nearest first."""
    todo, seen = deque((number,)), {number}
    while todo and len(seen) < LOOKED_AT:
        number = todo.popleft()
        yield number
        record = recorder.producers.get(number)
        fresh = () if record is None else [each for each in record.inputs if each not in seen]
        todo.extend(fresh)
        seen.update(fresh)


def _is_averaged_before(value: Value) -> bool:
    """Whether an infinity behind a value went through a product of matrices, a convolution or a mean: no mask does."""
    todo, seen = [value], {id(value)}
    while todo:
        node = todo.pop().maker
        if node is None:
            continue
        forward = node.forward or node
        bad = [each for each in forward.inputs if each is not None and each.bad]
        if bad and (kind_of(forward.type) is OpKind.CONTRACT or ACTIONS.get(forward.type) is Action.MEAN):
            return True
        if forward is node:
            todo += [each for each in bad if id(each) not in seen]
            seen.update(map(id, bad))
    return False
