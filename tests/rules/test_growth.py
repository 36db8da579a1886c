"""How the work of the rules grows with a graph: counted in calls, so that a slow machine changes nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from graph_builder import GraphBuilder
from whygrad.graph import OpKind, Recording
from whygrad.rules import all_rules, diagnose


def deep(layers: int, end: OpKind, *, penalty: bool = False) -> Recording:
    """Layers one after another, each with a variable and a penalty on it if asked, and one op before the loss."""
    g = GraphBuilder()
    value = g.constant(shape=(4, 4))
    penalties = []
    for number in range(layers):
        kernel = g.read(g.variable(f"kernel_{number}", shape=(4, 4)))
        value = g.op(OpKind.CONTRACT, (value, kernel), shape=(4, 4))
        for _ in range(8):
            value = g.op(OpKind.ELEMENTWISE, (value, value), shape=(4, 4))
        penalties.append(g.op(OpKind.REDUCE, (kernel,)))
    loss = g.op(OpKind.REDUCE, (g.op(end, (value,), shape=(4, 4)),))
    return g.finish(loss=g.op(OpKind.ELEMENTWISE, (loss, *penalties)) if penalty else loss)


def calls_of(work: Callable[[], Any]) -> int:
    """Python calls that are made on the way."""
    count = 0

    def on_call(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(on_call)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("penalty", [False, True], ids=["one term", "penalties"])
@pytest.mark.parametrize("end", [OpKind.ROUND, OpKind.STOP, OpKind.ELEMENTWISE], ids=lambda kind: kind.value)
def test_a_graph_four_times_as_deep_takes_hardly_more_than_four_times_the_work(end: OpKind, penalty: bool) -> None:
    def work(layers: int) -> int:
        recording = deep(layers, end, penalty=penalty)
        return calls_of(lambda: diagnose(recording, all_rules()))

    work(5)  # what is loaded once

    assert work(80) < 5.5 * work(20)
