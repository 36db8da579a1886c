"""What Python gives to a traced function, told from the run itself."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

from whygrad.rules.baked_state import baked_states
from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

STEP = """
import random
import numpy as np
import tensorflow as tf

beta = 0.5
w = tf.Variable([1.0, 2.0])

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w * x) ** 2){term}
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss

for turn in range({turns}):
    {before}
    step(tf.constant([1.0, 2.0]))
"""


def baked(name: str, term: str = "", before: str = "pass", turns: int = 3) -> list[str]:
    text = STEP.format(term=term, before=before, turns=turns)
    file = f"<ipython-input-{name}-baked>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    with watch() as run:
        exec(compile(text, file, "exec"), {"__name__": "__main__"})
        recording = run.recording()
    return [state.name for state in baked_states(recording)]


def test_a_draw_in_a_function_that_runs_again_is_baked_in(tf: Any) -> None:
    assert baked("1", term=" * random.random()") == ["random.random()"]
    assert baked("2", term=" + np.random.normal()") == ["np.random.normal()"]
    assert baked("8", term=" - np.log(-np.log(np.random.uniform()))") == ["np.random.uniform()"]


def test_a_draw_in_a_function_that_runs_once_is_a_draw(tf: Any) -> None:
    assert baked("3", term=" * random.random()", turns=1) == []


def test_a_global_that_changes_between_runs_is_baked_in(tf: Any) -> None:
    assert baked("4", term=" * beta", before="beta = 1.0 / (turn + 1)") == ["beta"]


def test_a_global_that_stays_is_not(tf: Any) -> None:
    assert baked("5", term=" * beta") == []
    assert baked("6", before="beta = 1.0 / (turn + 1)") == []


CALLER = """
import random
import tensorflow as tf

w = tf.Variable([1.0, 2.0])

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w * x) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss

class Trainer:
    count = 0

    def turn(self):
        self.count += 1
        if self.count % 2:
            return step(tf.constant([1.0, 2.0]) * random.random())
        return step(tf.constant([1.0, 2.0]))

trainer = Trainer()
for _ in range(4):
    trainer.turn()
"""


def test_what_calls_a_traced_function_is_not_traced_itself(tf: Any) -> None:
    file = "<ipython-input-7-baked>"
    linecache.cache[file] = (len(CALLER), None, CALLER.splitlines(True), file)
    with watch() as run:
        exec(compile(CALLER, file, "exec"), {"__name__": "__main__"})
        recording = run.recording()

    assert list(baked_states(recording)) == []


OWNERS = """
import tensorflow as tf

class Counter:
    def __init__(self):
        self.steps = 0
        self.counted = tf.Variable(0, trainable=False)

    def tick(self):
        self.steps += 1
        self.counted.assign_add(1)

class Gate(Counter):
    def __init__(self, wait):
        super().__init__()
        self.wait = wait

    @property
    def is_open(self):
        return self.steps > self.wait

    def weight(self):
        return tf.cast(self.counted > self.wait, tf.float32)

def run():
    w = tf.Variable([1.0, 2.0])

    class Trainer(tf.Module):
        def __init__(self, gate):
            super().__init__()
            self.gate = gate

        @tf.function
        def step(self, x):
            {inside}
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((w * x) ** 2)
            gradient = tape.gradient(loss, w)
            {use}
            return loss

    gate = Gate(2)
    self = trainer = Trainer(gate)

    @tf.function
    def step(x):
        {inside}
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w * x) ** 2)
        gradient = tape.gradient(loss, w)
        {use}
        return loss

    for _ in range(4):
        {step}(tf.constant([1.0, 2.0]))
        {outside}

run()
"""


def owned(name: str, number: int, use: str, inside: str = "pass", outside: str = "pass") -> list[str]:
    """`name` is what the step calls its gate: one that its object holds, or one of the function around it."""
    gate, step = ("self.gate", "trainer.step") if name == "self.gate" else ("gate", "step")
    parts = {"use": use, "inside": inside, "outside": outside}
    texts = {key: part.replace("GATE", gate) for key, part in parts.items()}
    text = OWNERS.format(step=step, **texts)
    file = f"<ipython-input-{number}-owned-{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    with watch() as run:
        exec(compile(text, file, "exec"), {"__name__": "__main__"})
        recording = run.recording()
    return [state.name for state in baked_states(recording)]


@pytest.mark.parametrize("name", ["self.gate", "gate"])
def test_what_another_object_counts_is_baked_in_where_the_step_depends_on_it(tf: Any, name: str) -> None:
    use = "w.assign_sub(0.1 * gradient * (1.0 if GATE.is_open else 0.0))"

    assert owned(name, 1, use, inside="GATE.tick()") == [f"{name}.steps"]
    assert owned(name, 2, use, outside="tf.add(1.0, 1.0); gate.tick()") == [f"{name}.steps"]


@pytest.mark.parametrize("name", ["self.gate", "gate"])
def test_what_another_object_counts_is_not_where_the_step_does_not(tf: Any, name: str) -> None:
    assert owned(name, 3, "w.assign_sub(0.1 * gradient * GATE.weight())", inside="GATE.tick()") == []
    assert owned(name, 4, "print(GATE.is_open)", inside="GATE.tick()", outside="gate.tick()") == []
    assert (
        owned(name, 5, "w.assign_sub(0.1 * gradient * GATE.wait)", inside="GATE.tick()", outside="gate.is_open") == []
    )
    assert owned(name, 6, "w.assign_sub(0.1 * gradient * (1.0 if GATE.is_open else 0.0))") == []
