"""What counts as harm."""

from __future__ import annotations

import json

import pytest

from mutants.operators import Harm
from mutants.seen import Seen, VariableEnd, harm_done


def variable(*values: float, moved: bool = True, trainable: bool = True) -> VariableEnd:
    return VariableEnd((len(values),), trainable, moved, values)


HEALTHY = Seen("well", {"7:2:0": {"fine": 3}, "7:2:1": {"zero": 1, "fine": 2}}, (variable(1.0, 2.0), variable(3.0)))


@pytest.mark.parametrize(
    ("mutant", "harm", "is_done"),
    [
        (Seen("well", {"7:2:0": {"none": 3}}), Harm.NONE, True),
        (Seen("well", {"7:2:0": {"zero": 3}}), Harm.NONE, False),
        (Seen("well", {"7:2:0": {"zero": 3}}), Harm.ZERO, True),
        (Seen("well", {"7:2:0": {"zero": 2, "fine": 1}}), Harm.ZERO, False),
        (Seen("well", {"7:2:0": {"fine": 2, "nonfinite": 1}}), Harm.NONFINITE, True),
        (Seen("LookupError", {"7": {"raised": 1}}), Harm.REFUSED, True),
        (Seen("TypeError"), Harm.REFUSED, False),
        (Seen("TypeError"), Harm.DIED, True),
        (Seen("AttributeError"), Harm.DIED, False),
        (Seen("AssertionError"), Harm.DIED, False),
        (Seen("NameError"), Harm.DIED, False),
        (Seen("well", {}, (variable(1.0, 2.0), variable(3.0, moved=False))), Harm.UNMOVED, True),
        (Seen("well", {}, (variable(1.0, 2.0), variable(3.5))), Harm.UNMOVED, False),
        (Seen("well", {}, (variable(1.0, 2.0), variable(3.5))), Harm.OTHER_VALUES, True),
        (Seen("well", {}, (variable(1.0, 2.0), variable(3.0 + 1e-6))), Harm.OTHER_VALUES, False),
        (Seen("well", {}, (variable(1.0, 2.0), variable(9.0, trainable=False))), Harm.OTHER_VALUES, True),
        (Seen("well", {}, (variable(9.0, 9.0),)), Harm.OTHER_VALUES, False),
        (Seen("TypeError", {}, (variable(1.0, 2.0), variable(3.5, moved=False))), Harm.OTHER_VALUES, False),
        (Seen("TypeError", {}, (variable(1.0, 2.0), variable(3.5, moved=False))), Harm.UNMOVED, False),
        (Seen("well", {}, (variable(1.0),) * 4), Harm.REMADE, True),
        (Seen("well", {}, (variable(1.0),) * 3), Harm.REMADE, False),
    ],
)
def test_a_harm_is_seen_where_it_is_done(mutant: Seen, harm: Harm, is_done: bool) -> None:
    assert harm_done(HEALTHY, mutant, (harm,), lambda: mutant) == (harm if is_done else None)


def test_a_harm_that_the_healthy_program_has_too_is_none() -> None:
    assert harm_done(Seen("well", {"1": {"none": 2}}), Seen("well", {"3": {"none": 2}}), (Harm.NONE,), Seen) is None


def test_a_number_is_baked_in_where_the_eager_run_ends_elsewhere() -> None:
    mutant = Seen("well", {}, (variable(1.0), variable(2.0)))

    assert harm_done(HEALTHY, mutant, (Harm.BAKED,), lambda: mutant) is None
    assert (
        harm_done(HEALTHY, mutant, (Harm.BAKED,), lambda: Seen("well", {}, (variable(1.0), variable(4.0))))
        is Harm.BAKED
    )


def test_what_was_seen_survives_the_way_through_a_pipe() -> None:
    assert Seen.from_json(json.loads(json.dumps(HEALTHY.to_json()))) == HEALTHY
