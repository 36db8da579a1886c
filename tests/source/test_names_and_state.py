"""What the source says of a name: who is called, what is renamed, what a function changes and tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from whygrad.backends.failure import describe_failure
from whygrad.source import SourceSpan, source_text
from whygrad.source.module import function_around
from whygrad.source.naming import (
    alias_assignment,
    callee,
    copied_between,
    is_looped_over,
    multiplication,
    rebinds_itself,
    second_name,
    statement_that_makes,
)
from whygrad.source.state import (
    attribute_reads,
    changed_outside,
    global_reads,
    is_guard,
    mutations,
    names_in,
    replacements,
)


def at(file: Path, program: str, piece: str) -> SourceSpan:
    file.write_text(program)
    for number, line in enumerate(program.splitlines(), 1):
        if piece in line:
            return SourceSpan(str(file), number, line.index(piece), number, line.index(piece) + len(piece))
    raise LookupError(piece)


@pytest.mark.parametrize(
    ("call", "name"), [("network(x)", "network"), ("self.net(x)", "self.net"), ("f(x)(y)", None), ("x + 1", None)]
)
def test_the_one_that_is_called_has_a_name_where_one_is_written(tmp_path: Path, call: str, name: str | None) -> None:
    assert callee(at(tmp_path / "p.py", f"y = {call}\n", call)) == name


def test_an_alias_is_found_where_it_is_assigned(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text("a = make()\nb = a\nc = copy(a)\n")

    found = alias_assignment(str(file), "b", "a")

    assert found is not None
    assert source_text(found) == "b = a"
    assert alias_assignment(str(file), "c", "a") is None


@pytest.mark.parametrize(
    ("call", "names"),
    [
        ("self.a.set_weights(self.b.get_weights())", ("self.a", "self.b")),
        ("a.set_weights(a.get_weights())", None),
        ("a.set_weights(kept)", None),
        ("copy(a, b.get_weights())", None),
    ],
)
def test_what_is_copied_from_one_to_another_has_two_names(
    tmp_path: Path, call: str, names: tuple[str, str] | None
) -> None:
    assert copied_between(at(tmp_path / "p.py", f"{call}\n", call)) == names


AGENT = """
class Agent:
    def decay(self):
        self.rate = max(0.1, self.rate * 0.9)

    def restart(self):
        self.rate = 1.0

    def step(self, x):
        self.{method}()
        return x * self.rate
"""


@pytest.mark.parametrize(("method", "found"), [("decay", ["self.rate"]), ("restart", []), ("reset", [])])
def test_a_method_that_a_function_calls_changes_what_the_function_uses(
    tmp_path: Path, method: str, found: list[str]
) -> None:
    program = AGENT.format(method=method)

    assert [each.name for each in mutations(at(tmp_path / "p.py", program, "x * self.rate"))] == found


HELPERS = """
total = 0

class Trainer:
    def decay(self):
        return min(0.9, self.seen / 10)

    @property
    def weight(self):
        return 2 * self.decay()

    def step(self, x):
        global total
        self.seen += 1
        total += 1
        self.lost += 1
        return share() * self.weight * x

def share():
    return 1 / total
"""


def test_what_a_function_changes_may_be_used_by_the_helpers_that_it_runs(tmp_path: Path) -> None:
    span = at(tmp_path / "p.py", HELPERS, "share() * self.weight")

    assert [(each.name, each.read.line) for each in mutations(span)] == [("self.seen", 6), ("total", 20)]
    assert {"self.seen", "total", "self.lost"} <= names_in(span)
    assert (read := attribute_reads(span, "seen")) is not None
    assert read.line == 6
    assert (read := global_reads(span, "total")) is not None
    assert read.line == 20


def test_the_line_that_makes_something_is_found_in_a_file_a_function_or_a_class(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text(
        "w = make()\n"
        "same = w\n"
        "@decorated\n"
        "def build(given):\n"
        "    a, w = make(), [make()]\n"
        "    return (inner := make()), list(w)\n"
        "class Net:\n"
        "    def __init__(self):\n"
        "        self.w = make()\n"
        "        self.copies = list(self.w)\n"
    )

    def line_that_makes(name: str, **where: Any) -> int | None:
        made = statement_that_makes(str(file), name, **where)
        return None if made is None else made.line

    assert line_that_makes("same") is None
    assert line_that_makes("w") == 5  # the last one
    assert line_that_makes("inner", function=3) == 6  # decorators count as its beginning
    assert line_that_makes("w", function=4) == 5
    assert line_that_makes("w", function=9) is None
    assert line_that_makes("self.w", owner="Net") == 9
    assert line_that_makes("self.copies", owner="Net") is None
    assert line_that_makes("self.w", owner="Other") is None
    assert statement_that_makes(str(tmp_path / "gone.py"), "w") is None


@pytest.mark.parametrize(
    ("statement", "looped"),
    [
        ("[v for v in model.weights]", True),
        ("zip(g, model.weights)", True),
        ("apply(*model.weights)", True),
        ("keep = model.weights", False),
        ("apply(model.weights)", False),
    ],
)
def test_a_list_that_is_gone_through_at_once_is_told_from_one_that_is_kept(
    tmp_path: Path, statement: str, looped: bool
) -> None:
    assert is_looped_over(at(tmp_path / "p.py", statement + "\n", "model.weights")) is looped


def test_state_that_a_function_changes_and_tests_is_found(tmp_path: Path) -> None:
    program = "n = 0\ndef step(x):\n    global n\n    n += 1\n    if n > 3:\n        x = x * 2\n    return x\n"

    found = list(mutations(at(tmp_path / "p.py", program, "x * 2")))

    assert [(each.name, each.where.line, each.read.line) for each in found] == [("n", 4, 5)]


@pytest.mark.parametrize("use", ["print(count)", "pass"])
def test_a_counter_that_is_only_printed_or_not_read_is_no_state(tmp_path: Path, use: str) -> None:
    program = f"count = 0\ndef step(x):\n    global count\n    count += 1\n    {use}\n    return x * 2\n"

    assert list(mutations(at(tmp_path / "p.py", program, "x * 2"))) == []


def test_a_local_counter_is_no_state(tmp_path: Path) -> None:
    program = "def step(x):\n    n = 0\n    n += 1\n    return x * n\n"

    assert list(mutations(at(tmp_path / "p.py", program, "x * n"))) == []


def test_the_use_of_an_attribute_is_found_in_the_function(tmp_path: Path) -> None:
    program = "class A:\n    def f(self, x):\n        return x * self.rate\n    def g(self, x):\n        return x + 1\n"

    used = attribute_reads(at(tmp_path / "p.py", program, "x * self.rate"), "rate")

    assert used is not None
    assert used.line == 3
    assert attribute_reads(at(tmp_path / "p.py", program, "x + 1"), "rate") is None


def test_a_failure_is_placed_at_the_innermost_expression_of_the_user(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text("def inner(x):\n    return x.missing\n\ninner(3)\n")
    try:
        exec(compile(file.read_text(), str(file), "exec"), {})
    except AttributeError as error:
        failure = describe_failure(error)

    assert failure is not None
    assert failure.where is not None
    assert (failure.where.line, source_text(failure.where)) == (2, "x.missing")
    assert (failure.attribute, failure.object_type) == ("missing", "builtins.int")


def test_an_orderly_exit_is_no_failure() -> None:
    assert describe_failure(SystemExit(0)) is None
    assert describe_failure(KeyboardInterrupt()) is None


def test_an_exception_that_cannot_be_printed_is_still_described() -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            raise ValueError

    failure = describe_failure(OddError())

    assert failure is not None
    assert failure.message == "OddError"


@pytest.mark.parametrize(
    ("statement", "rebinds"),
    [
        ("w = w - rate * g", True),
        ("self.w = self.w - rate * g", True),
        ("params = [w - rate * g for p, g in zip(params, gs)]", True),
        ("w -= w - rate * g", True),
        ("trial = w - rate * g", False),
        ("print(w - rate * g)", False),
    ],
)
def test_a_name_bound_to_a_value_made_of_itself_is_told(tmp_path: Path, statement: str, rebinds: bool) -> None:
    assert rebinds_itself(at(tmp_path / "p.py", statement + "\n", "w - rate * g")) is rebinds


@pytest.mark.parametrize(
    ("program", "times"),
    [
        ("blocks = [Dense(4)] * 3", 3),
        ("blocks = depth * [Dense(4)]", None),
        ("blocks = [Dense(4), Relu()] * 2", 2),
        ("blocks = dict.fromkeys(names, Dense(4))", None),
        ("blocks = itertools.repeat(Dense(4), 3)", None),
    ],
)
def test_a_multiplied_list_is_found_around_what_it_repeats(tmp_path: Path, program: str, times: int | None) -> None:
    found = multiplication(at(tmp_path / "p.py", f"{program}\n", "Dense(4)"))

    assert found is not None
    assert source_text(found[0]) == program.removeprefix("blocks = ")
    assert found[1] == times


@pytest.mark.parametrize(
    "program",
    [
        "blocks = [Dense(4) for _ in range(3)]",
        "y = Dense(4) * 3",
        "b = [Dense(4)] + c",
        "blocks = dict.fromkeys(Dense(4))",
        "y = repeat(x, Dense(4))",
    ],
)
def test_nothing_is_multiplied_where_each_is_made_anew(tmp_path: Path, program: str) -> None:
    assert multiplication(at(tmp_path / "p.py", f"{program}\n", "Dense(4)")) is None


STEP = "def step(x):\n    return x * beta\n"


@pytest.mark.parametrize(
    "change",
    [
        "for i in range(3):\n    beta = i / 3\n    step(x)\n",
        "for beta in (0.1, 0.2):\n    step(x)\n",
        "while True:\n    beta += 1\n",
        "def anneal():\n    global beta\n    beta *= 2\n",
    ],
)
def test_a_number_that_a_loop_changes_behind_a_function_is_found(tmp_path: Path, change: str) -> None:
    found = changed_outside(at(tmp_path / "p.py", STEP + change, "x * beta"), "beta")

    assert found is not None
    assert source_text(found.read) == "beta"
    assert "beta" in (source_text(found.where) or "")


@pytest.mark.parametrize(
    "program",
    [
        f"beta = 1\n{STEP}",
        f"{STEP}beta = 2\n",
        "def step(x, beta):\n    return x * beta\nfor beta in (1, 2):\n    step(x, beta)\n",
        "def step(x):\n    print(beta)\n    return x * beta_2\nfor beta in (1, 2):\n    step(x)\n",
        "for beta in (1, 2):\n    def step(x):\n        return x * beta\n",
    ],
)
def test_a_number_that_stays_or_is_given_is_not(tmp_path: Path, program: str) -> None:
    assert changed_outside(at(tmp_path / "p.py", program, "x * beta"), "beta") is None


@pytest.mark.parametrize(
    ("body", "meant"),
    [
        ("if not self.seen:\n            print(x.shape)\n            self.seen = True", True),
        ("if not self.seen:\n            self.width = x.shape[-1]\n            self.seen = True", True),
        ("if not self.seen:\n            self.mean.assign(x)\n            self.seen = True", False),
        ("if not self.seen:\n            self.seen = True\n            return x", False),
        ("if not self.seen:\n            rate = 0.1\n            self.seen = True\n        x = rate * x", False),
        ("if not self.seen:\n            self.seen = True\n        else:\n            x = 2 * x", False),
        ("if not self.seen:\n            self.seen = True\n        x = x * self.seen", False),
        ("self.seen = True", False),
    ],
)
def test_a_guard_does_what_is_meant_to_be_done_once(tmp_path: Path, body: str, meant: bool) -> None:
    program = f"class Net:\n    def call(self, x):\n        {body}\n        return x + 1\n"

    assert is_guard(at(tmp_path / "p.py", program, "x + 1"), "self.seen") is meant


OBJECT = """
class Counter:
    def tick(self):
        self.steps += 1
        return self.steps

class Gate(Counter):
    def __init__(self, wait):
        self.wait = wait
        self.steps = 0

    def tick(self):
        self.note()
        return super().tick()

    def note(self):
        self.seen.append(self.steps)

    @property
    def is_open(self):
        return self.steps > self.wait

    @property
    def is_first(self):
        return self.steps == 1

    def __call__(self, x):
        return x * self.steps

class Trainer:
    def step(self, x, gate=None):
        {body}
        return x + 1

    def update(self):
        self.w.assign(2.0)
"""
OBJECTS = {"self.gate": ("Gate", "Counter"), "gate": ("Gate", "Counter")}


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("self.gate.tick(); x = 2 * x if self.gate.is_open else x", 21),
        ("self.gate.tick()\n        if self.gate.is_open:\n            self.w.assign(x)", 21),
        ("self.gate.tick()\n        if self.gate.is_first:\n            self.w.assign(x)", 25),
        ("self.gate.tick()\n        if self.gate.is_first:\n            self.update()", 25),
        ("self.gate.tick()\n        if self.gate.is_first:\n            self.other.copy()", 25),
        ("self.gate.tick(); x = self.gate(x)", 28),
        ("self.gate.tick(); rate = self.gate.steps / 2; x = x * rate", 32),
        ("x = x * self.gate.tick()", 5),
        ("self.gate.steps += 1; x = self.gate(x)", 28),
    ],
)
def test_a_number_that_an_object_counts_is_used_by_what_a_function_runs_of_it(
    tmp_path: Path, body: str, line: int
) -> None:
    span = at(tmp_path / "p.py", OBJECT.format(body=body), "x + 1")
    [found] = mutations(span, OBJECTS)

    assert (found.name, found.read.line) == ("self.gate.steps", line)
    assert "self.gate.steps" in names_in(span, OBJECTS)
    assert list(mutations(span)) == []


@pytest.mark.parametrize(
    "body",
    [
        "self.gate.tick()",
        "n = self.gate.tick(); print(n)",
        "self.gate.tick(); print(self.gate.is_open)",
        "self.gate.tick(); is_open = self.gate.is_open",
        "self.gate.tick()\n        if self.gate.is_open:\n            log.info('open')",
        "self.gate.tick()\n        if self.gate.is_open:\n            raise ValueError(self.gate.steps)",
        "self.gate.tick()\n        if self.gate.is_first:\n            self.width = x.shape[-1]",
        "self.gate.tick()\n        if self.gate.is_first:\n            self.net.build(x.shape)",
        "x = x * self.gate.wait if self.gate.is_open else x",
        "gate.tick(); x = gate(x)",  # it is given
    ],
)
def test_a_number_that_an_object_counts_for_nothing_is_no_state(tmp_path: Path, body: str) -> None:
    assert list(mutations(at(tmp_path / "p.py", OBJECT.format(body=body), "x + 1"), OBJECTS)) == []


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("def step(x):\n    y = net.h + x\n    net.h = y\n", "net.h"),
        ("def step(x):\n    net.h = x\n    return net.h\n", None),
        ("def step(x):\n    print(net.h)\n    net.h = x\n", None),
    ],
    ids=["read before", "read after", "printed"],
)
def test_a_function_that_leaves_a_value_for_its_next_call_is_known(
    tmp_path: Path, program: str, name: str | None
) -> None:
    found = list(replacements(at(tmp_path / "p.py", program, "net.h")))

    assert [each.name for each in found] == ([] if name is None else [name])


@pytest.mark.parametrize(("reset", "line"), [("buffer = zeros", 4), ("buffer = list(zeros)", None)])
def test_a_list_that_is_changed_in_place_may_have_a_second_name(tmp_path: Path, reset: str, line: int | None) -> None:
    program = f"for i, g in enumerate(grads):\n    buffer[i] += g\napply(buffer)\n{reset}\n"
    found = second_name(at(tmp_path / "p.py", program, "buffer[i] += g"))

    assert (None if found is None else found.line) == line


def test_an_expression_is_within_the_function_around_it(tmp_path: Path) -> None:
    program = "class M:\n    def test_step(self, data):\n        self.optimizer.apply(data)\n"
    span = at(tmp_path / "p.py", program, "self.optimizer.apply(data)")

    assert function_around(span) == "test_step"
    assert function_around(span) != "train_step"
