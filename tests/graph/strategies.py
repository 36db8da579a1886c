"""Small random programs, and recordings of every shape, for property tests."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from graph_builder import GraphBuilder
from whygrad.graph import Flow, OpKind, Recording, Tensor, Variable
from whygrad.source import SourceSpan

KINDS = (
    OpKind.SMOOTH,
    OpKind.SMOOTH,
    OpKind.SMOOTH,
    OpKind.CAST,
    OpKind.CUSTOM,
    OpKind.FOREIGN,
    OpKind.INDEX,
    OpKind.SAMPLE,
    OpKind.SHAPE,
    OpKind.SIGN,
    OpKind.STOP,
)


@st.composite
def programs(draw: st.DrawFn, *, writes: bool = True) -> Recording:
    """A few ops on what is there, some outside the tape; writes, loops, shared lines. The last value is the loss."""
    g = GraphBuilder()
    variables = [g.variable(name) for name in "abc"[: draw(st.integers(1, 3))]]
    values: list[Tensor | Variable] = [*variables, g.constant()]
    made: list[Tensor] = []
    looped: list[Tensor] = []  # what a loop may lead back to: never past a custom gradient
    for line in range(1, draw(st.integers(1, 9)) + 1):
        where = draw(st.sampled_from([None, SourceSpan("train.py", line), SourceSpan("train.py", 1)]))
        inputs = draw(st.lists(st.sampled_from(values), min_size=1, max_size=2))
        what = draw(st.sampled_from(["plain", "plain", "plain", "outside", "write", "flows", "loop", "multi"]))
        if what == "write" and writes:
            g.write(draw(st.sampled_from(variables)), inputs[0], where=where)
            continue
        if what == "multi":
            made += g.multi(draw(st.sampled_from(KINDS)), inputs, ("float32", "int64"), where=where)
            values += made[-2:]
            continue
        flows = [draw(st.sampled_from(Flow)) for _ in inputs] if what == "flows" else None
        into = draw(st.sampled_from(looped)) if what == "loop" and looped else None
        with g.outside() if what == "outside" else contextlib.nullcontext():
            kind = OpKind.SMOOTH if flows or into is not None else draw(st.sampled_from(KINDS))
            made.append(g.op(kind, inputs, flows=flows, where=where, into=into))
            looped += [] if kind is OpKind.CUSTOM else made[-1:]
        values.append(made[-1])
    return g.finish(loss=g.op(OpKind.SMOOTH, values[-1:]))


@functools.cache  # to build one takes longer than to draw from it
def anything(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type, all fields of a dataclass drawn: a class that is added to the graph is drawn too."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        hints = get_type_hints(hint)
        return st.builds(hint, **{field.name: anything(hints[field.name]) for field in dataclasses.fields(hint)})
    kind, items = get_origin(hint), get_args(hint)
    if kind is tuple and items[-1] is Ellipsis:
        return st.lists(anything(items[0]), max_size=2).map(tuple)
    if kind is tuple:
        return st.tuples(*map(anything, items))
    if kind is frozenset:
        return st.frozensets(anything(items[0]), max_size=2)
    if kind is Mapping:
        return st.dictionaries(anything(items[0]), anything(items[1]), max_size=2)
    if items:
        return st.one_of(*map(anything, items))
    return st.floats(allow_nan=False) if hint is float else st.from_type(hint)


RECORDINGS = anything(Recording)
