from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, codes, one
from whygrad.graph import Recording
from whygrad.graph.event import NameKind, TracedFunction, TracedName

PROGRAM = """
class Trainer:
    def step(self, x):
        loss = x * beta + np.random.normal() * self.rate
        self.count += 1
        if self.count == 2:
            self.network.assign(loss)
        return loss if toss() else time.time() - started

def around():
    for weight in schedule:
        inner(x)
    def inner(x):
        return x * weight
"""


def recording(script: Script, *names: TracedName, at: str = "x * beta", again: bool = True) -> Recording:
    g = GraphBuilder()
    g.event(TracedFunction(where=script[at], ran_again=again, names=names))
    return g.finish()


def number(name: str, **facts: Any) -> TracedName:
    return TracedName(name=name, kind=NameKind.NUMBER, **facts)


def function(name: str, *full: str) -> TracedName:
    return TracedName(name=name, kind=NameKind.FUNCTION, functions=full)


def test_fires_when_a_counter_is_counted_up_while_tracing(tmp_path: Path) -> None:
    script = Script(tmp_path, PROGRAM)
    found = one(recording(script, number("self.count")))

    assert found.code == "WG603"
    assert found.primary is not None
    assert found.primary.span == script["self.count += 1"]
    assert [label.span.line for label in found.related] == [script["if self.count"].line]


def test_fires_when_a_number_was_another_at_a_later_run(tmp_path: Path) -> None:
    script = Script(tmp_path, PROGRAM)
    found = one(recording(script, number("beta", changed=True)))

    assert found.primary is not None
    assert (found.primary.span, found.related) == (script["beta"], ())


def test_fires_where_an_attribute_was_set_later(tmp_path: Path) -> None:
    script = Script(tmp_path, PROGRAM)
    found = one(recording(script, number("self.rate", changed=True, changed_at=script["inner(x)"])))

    assert found.primary is not None
    assert found.primary.span == script["inner(x)"]
    assert [label.span for label in found.related] == [script["self.rate"]]


def test_fires_when_a_loop_around_changes_a_closed_over_number(tmp_path: Path) -> None:
    script = Script(tmp_path, PROGRAM)
    found = one(recording(script, number("weight", changed=True, closed_over=True), at="x * weight"))

    assert found.primary is not None
    assert found.primary.span == script["weight"]


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("np.random.normal", "numpy.random.mtrand.RandomState.normal"),
        ("np.random.normal", "numpy.random._generator.Generator.normal"),
        ("toss", "random.Random.random"),
    ],
)
def test_fires_when_random_numbers_are_drawn_while_tracing(tmp_path: Path, name: str, full: str) -> None:
    found = one(recording(Script(tmp_path, PROGRAM), function(name, full)))

    assert found.message.startswith(f"`{name}()` draws random numbers while the function is traced")


def test_fires_when_the_network_of_a_traced_step_was_replaced(tmp_path: Path) -> None:
    replaced = TracedName(name="self.network", kind=NameKind.NETWORK, changed=True)

    assert "goes on with the old one" in one(recording(Script(tmp_path, PROGRAM), replaced)).message


def test_fires_once_for_a_function_that_was_traced_twice(tmp_path: Path) -> None:
    script, g = Script(tmp_path, PROGRAM), GraphBuilder()
    for place in ("x * beta", "self.network.assign(loss)"):
        g.event(TracedFunction(where=script[place], names=(number("self.count"),)))

    assert codes(g.finish()) == ["WG603"]


@pytest.mark.parametrize(
    "name",
    [
        number("beta"),
        number("gamma", changed=True),
        number("self.momentum", changed=True),
        function("np.random.normal", "numpy.log"),
        function("toss", "random.Random.seed"),
        function("time.time", "time.time"),  # it decides nothing
    ],
)
def test_silent_when_nothing_was_baked_in(tmp_path: Path, name: TracedName) -> None:
    assert codes(recording(Script(tmp_path, PROGRAM), name)) == []


def test_silent_when_what_was_traced_ran_once(tmp_path: Path) -> None:
    draw = function("np.random.normal", "numpy.random.mtrand.RandomState.normal")

    assert codes(recording(Script(tmp_path, PROGRAM), draw, again=False)) == []


def test_silent_when_a_counted_attribute_is_no_number(tmp_path: Path) -> None:
    assert codes(recording(Script(tmp_path, PROGRAM), function("self.count", "numpy.add"))) == []


@pytest.mark.parametrize("again", [True, False])
def test_fires_when_a_result_is_left_in_an_attribute_for_the_next_step(tmp_path: Path, again: bool) -> None:
    script = Script(tmp_path, "def step(x):\n    h = cell(x, net.h)\n    net.h = h\n    return h\n")
    left = TracedName(name="net.h", kind=NameKind.TENSOR)
    found = recording(script, left, at="cell(x, net.h)", again=again)

    if not again:
        assert codes(found) == []
        return
    assert one(found).primary is not None
    assert one(found).message.startswith("`net.h` is an attribute in a traced function")


GATED = """
class Gate:
    def tick(self):
        self.steps += 1

    def is_open(self):
        return self.steps > 3

class Trainer:
    def step(self, x):
        self.gate.tick()
        return x * 2 if self.gate.is_open() else x
"""


def gated(script: Script, *names: TracedName, classes: tuple[str, ...] = ("Gate",)) -> Recording:
    g = GraphBuilder()
    held = TracedName(name="self.gate", kind=NameKind.OBJECT, classes=classes)
    g.event(TracedFunction(where=script["x * 2"], ran_again=True, names=(held, *names)))
    g.event(TracedFunction(where=script["self.steps > 3"], ran_again=True, names=(number("self.steps", changed=True),)))
    return g.finish()


@pytest.mark.parametrize("changed", [False, True])
def test_fires_once_when_another_object_counts_what_the_step_depends_on(tmp_path: Path, changed: bool) -> None:
    script = Script(tmp_path, GATED)
    found = one(gated(script, number("self.gate.steps", changed=changed)))

    assert found.message.startswith("`self.gate.steps` is a Python number in a traced function")
    assert found.primary is not None
    assert found.primary.span == script["self.steps += 1"]
    assert [label.span.line for label in found.related] == [script["self.steps > 3"].line]


def test_fires_for_the_object_alone_where_it_was_replaced(tmp_path: Path) -> None:
    script, g = Script(tmp_path, GATED), GraphBuilder()
    held = TracedName(name="self.gate", kind=NameKind.OBJECT, classes=("Gate",))
    names = (held, number("self.gate.steps", changed=True), replace(held, classes=(), changed=True))
    g.event(TracedFunction(where=script["x * 2"], ran_again=True, names=names))
    found = one(g.finish())

    assert found.message.startswith("`self.gate` is a Python object with numbers in a traced function")
    assert found.primary is not None
    assert found.primary.span.line == script["x * 2"].line


def test_silent_when_the_number_of_another_object_is_no_number_of_its_own(tmp_path: Path) -> None:
    script, g = Script(tmp_path, GATED), GraphBuilder()
    held = TracedName(name="self.gate", kind=NameKind.OBJECT, classes=("Gate",))
    for names in ((held,), (held, function("self.gate.steps", "numpy.add")), (number("self.gate.steps"),)):
        g.event(TracedFunction(where=script["x * 2"], ran_again=True, names=names))

    assert codes(g.finish()) == []
