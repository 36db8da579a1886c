"""Variables that were given no name are called by the Python name that holds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import whygrad

pytestmark = pytest.mark.tensorflow

PROGRAM = """
def build():
    return tf.Variable(1.0), tf.Variable(2.0)
def bias():
    w = tf.Variable(4.0)
    return w
w, v = build()
many = [tf.Variable(3.0) for _ in range(2)]
other = bias()
named = tf.Variable(5.0, name="given")
variables = [w, v, *many, other, named]
with tf.GradientTape() as tape:
    loss = 0.0 * sum(variables)
gradients = tape.gradient(tf.constant(1.0), variables)
for variable in variables:
    variable.assign_add(1.0)
"""
NAMES = ("w (train.py:3)", "v", "many[0]", "many[1]", "w (train.py:5)", "given")


def test_messages_tables_and_the_ledger_have_the_names(tf: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "train.py"
    file.write_text(PROGRAM)
    with whygrad.watch() as run:
        exec(compile(PROGRAM, str(file), "exec"), {"tf": tf, "__name__": "train"})
    [found] = run.report().diagnostics

    assert found.variables == NAMES
    assert run.report().gradients[0].missing == NAMES
    assert sorted(run.ledger.variables.values()) == sorted(NAMES)


def test_a_variable_that_is_older_than_the_watch_is_found_where_it_is_held(tf: Any) -> None:
    weight = tf.Variable([1.0, 2.0])
    with whygrad.watch() as run:
        weight.assign_add([1.0, 1.0])

    assert list(run.ledger.variables.values()) == ["weight"]
    assert "weight" in str(whygrad.summarize([tf.ones(2)], [weight]))
