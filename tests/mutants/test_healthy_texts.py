"""Healthy programs that are made of healthy programs: variants, and the penalty."""

from __future__ import annotations

import ast

from mutants.code import Code
from mutants.operators import Change
from mutants.penalty import with_penalty
from mutants.variants import VARIANTS

PROGRAM = """\
import tensorflow as tf

w = tf.Variable(1.0)


def step(x):
    with tf.GradientTape() as tape:
        loss = (w * x) ** 2
    return tape.gradient(loss, [w])


@tf.function
def fast(x):
    return x


step(2.0)
"""


def variant(name: str, text: str = PROGRAM) -> str:
    made: str | None = VARIANTS[name](Code(text))
    assert made is not None
    ast.parse(made)
    return made


def test_assertions_are_taken_out_and_no_line_moves() -> None:
    text = "if x:\n    assert f(\n        1\n    ), 'no'\nstep()\nassert y\n"

    assert Code(text).without_assertions() == "if x:\n    pass\n\n\nstep()\npass\n"


def test_a_step_is_traced() -> None:
    assert "@tf.function\ndef step(x):" in variant("traced")


def test_a_traced_function_is_not_traced_any_more() -> None:
    assert "@tf.function" not in variant("untraced")
    assert variant("untraced").count("\n") == PROGRAM.count("\n") - 1


def test_a_program_is_called_from_elsewhere() -> None:
    text = variant("called")

    assert text.startswith("import tensorflow as tf\n\ndef main():\n    w = tf.Variable(1.0)\n")
    assert text.endswith("    step(2.0)\n\n\nmain()\n")


def test_a_program_that_speaks_of_its_globals_stays_where_it_is() -> None:
    assert VARIANTS["called"](Code(PROGRAM + "globals()\n")) is None


def test_a_penalty_is_the_last_line_of_the_tape_and_moves_what_comes_after_it() -> None:
    inside, later = with_penalty(Change(PROGRAM, 8, 8)), with_penalty(Change(PROGRAM, 17, 17))

    assert inside is not None
    assert later is not None
    assert inside.text.splitlines()[8].startswith("        loss = loss + 1e-4 * tf.add_n(")
    assert inside.text.splitlines()[8].endswith("for v in tf.nest.flatten([w])])")
    assert (inside.first, later.first) == (8, 18)
    assert later.text.splitlines()[17] == "step(2.0)"


def test_there_is_no_penalty_on_what_is_watched_and_none_without_a_loss_by_name() -> None:
    assert with_penalty(Change(PROGRAM.replace("        loss", "        tape.watch(x)\n        loss"))) is None
    assert with_penalty(Change(PROGRAM.replace("gradient(loss,", "gradient(w * x,"))) is None


def test_layers_of_a_model_that_keras_trains_are_regularised() -> None:
    text = "net = Sequential([Dense(3), Dense(\n    2,\n)])\nnet.fit(x, y)\n"
    made = with_penalty(Change(text))

    assert made is not None
    assert 'Dense(3, kernel_regularizer="l2", bias_regularizer="l2")' in made.text
    ast.parse(made.text)
