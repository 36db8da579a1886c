"""Gradients handed to other variables than they were taken of, through whatever a training loop does to them."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import whygrad as wg
from backends.tensorflow.gradient_chains import ANYWHERE, LINKS, Gradients

pytestmark = pytest.mark.tensorflow


class Network:
    """Variables of one shape, so that nothing but their origin tells their gradients apart."""

    def __init__(self, tf: ModuleType, count: int) -> None:
        self.tf = tf
        start = np.random.default_rng(0).normal(size=(count, 2, 2)).astype("float32")
        self.variables = [tf.Variable(start[i], name=f"w{i}") for i in range(count)]

    def gradients(self) -> Gradients:
        tf = self.tf
        with tf.GradientTape() as tape:
            x = tf.ones((3, 2))
            for w in self.variables:
                x = tf.tanh(x @ w)
            loss = tf.reduce_mean(tf.square(x - 1.0))
        found: Gradients = tape.gradient(loss, self.variables)
        return found


def apply(tf: ModuleType, how: str, optimizer: Any, gradients: Gradients, variables: list[Any]) -> None:
    if how == "optimizer":
        optimizer.apply_gradients(list(zip(gradients, variables, strict=True)))
    else:
        for g, v in zip(gradients, variables, strict=True):
            v.assign_sub(0.01 * g)


def train(tf: ModuleType, keras: ModuleType, links: list[str], order: list[int], how: str, style: str) -> Any:
    """Train three steps with the gradients in another order; returns the watched run."""
    network = Network(tf, len(order))
    optimizer = keras.optimizers.SGD(0.01)
    optimizer.build(network.variables)

    def gradients() -> Gradients:
        found = network.gradients()
        for link in links:
            found = LINKS[link](tf, found)
        return found

    def step() -> None:
        found = gradients()
        apply(tf, how, optimizer, [found[i] for i in order], network.variables)

    with wg.watch() as run:
        if style in ("returned", "two functions"):
            compute = tf.function(gradients)
            update = tf.function(apply) if style == "two functions" else apply
            for _ in range(3):
                found = compute()
                update(tf, how, optimizer, [found[i] for i in order], network.variables)
        else:
            run_step = tf.function(step) if style == "function" else step
            for _ in range(3):
                run_step()
    return run


def pairings(run: Any) -> dict[str, set[str]]:
    """Which variable was given the gradients of which."""
    recording = run.recording()
    names = {number: variable.name for number, variable in recording.variables.items()}
    found: dict[str, set[str]] = {}
    for update in recording.updates:
        for pair in update.pairs:
            if pair.gradient_of is not None:
                found.setdefault(names[pair.variable], set()).update(names[n] for n in pair.gradient_of)
    return found


def misrouted(run: Any) -> bool:
    return any(d.rule == "misrouted-gradient" for d in run.report().diagnostics)


@pytest.mark.parametrize("style", ["eager", "function", "returned", "two functions"])
@pytest.mark.parametrize("link", list(LINKS))
def test_each_link_keeps_gradients_apart(tf: ModuleType, keras: ModuleType, link: str, style: str) -> None:
    if link == "slots" and style != "eager":
        pytest.skip("variables made in a function")
    swapped = train(tf, keras, [link], [1, 0, 2], "optimizer", style)
    straight = train(tf, keras, [link], [0, 1, 2], "optimizer", style)

    assert pairings(swapped) == {"w0": {"w1"}, "w1": {"w0"}, "w2": {"w2"}}
    assert misrouted(swapped)
    assert pairings(straight) == {"w0": {"w0"}, "w1": {"w1"}, "w2": {"w2"}}
    assert not misrouted(straight)


def test_gradients_handed_to_a_compiled_update_are_known_when_it_runs(tf: ModuleType, keras: ModuleType) -> None:
    network = Network(tf, 2)
    optimizer = keras.optimizers.SGD(0.01)
    optimizer.build(network.variables)

    @tf.function
    def update(gradients: Gradients) -> None:
        clipped, _ = tf.clip_by_global_norm(gradients, 1.0)
        optimizer.apply_gradients(zip(clipped, reversed(network.variables), strict=True))

    with wg.watch() as run:
        for _ in range(3):
            update(network.gradients())

    assert pairings(run) == {"w0": {"w1"}, "w1": {"w0"}}
    assert misrouted(run)


def test_gradients_that_a_function_captures_keep_their_origin(tf: ModuleType, keras: ModuleType) -> None:
    network = Network(tf, 2)
    optimizer = keras.optimizers.SGD(0.01)
    optimizer.build(network.variables)
    with wg.watch() as run:
        gradients = network.gradients()

        @tf.function
        def update() -> None:
            optimizer.apply_gradients([(g * 0.5, v) for g, v in zip(gradients, network.variables[::-1], strict=True)])

        update()

    assert pairings(run) == {"w0": {"w1"}, "w1": {"w0"}}


def test_a_gradient_summed_in_a_compiled_loop_keeps_its_origin(tf: ModuleType, keras: ModuleType) -> None:
    network = Network(tf, 2)
    optimizer = keras.optimizers.SGD(0.01)
    optimizer.build(network.variables)

    @tf.function
    def step(order: tuple[int, int]) -> None:
        total = [tf.zeros((2, 2)), tf.zeros((2, 2))]
        for _ in tf.range(3):
            found = network.gradients()
            total = [total[0] + found[0], total[1] + found[1]]
        optimizer.apply_gradients([(total[i] / 3.0, v) for i, v in zip(order, network.variables, strict=True)])

    with wg.watch() as run:
        step((1, 0))
    with wg.watch() as straight:
        step((0, 1))

    assert pairings(run) == {"w0": {"w1"}, "w1": {"w0"}}
    assert pairings(straight) == {"w0": {"w0"}, "w1": {"w1"}}


def test_random_chains_and_permutations(tf: ModuleType, keras: ModuleType) -> None:
    @settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(
        st.lists(st.sampled_from(ANYWHERE), max_size=6),
        st.integers(2, 5),
        st.sampled_from(["optimizer", "assign_sub"]),
        st.sampled_from(["eager", "eager", "function", "returned", "two functions"]),
        st.randoms(use_true_random=False),
    )
    def check(links: list[str], count: int, how: str, style: str, choose: random.Random) -> None:
        order = list(range(count))
        if choose.random() < 0.7:
            choose.shuffle(order)
        run = train(tf, keras, links, order, how, style)
        assert pairings(run) == {f"w{place}": {f"w{source}"} for place, source in enumerate(order)}
        assert misrouted(run) is (order != sorted(order))

    check()


TWO = """
import numpy as np
import tensorflow as tf
import keras

def network():
    return keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])

one, two = network(), network()
optimizers = [keras.optimizers.SGD(0.1), keras.optimizers.SGD(0.1)]
for each, optimizer in zip([one, two], optimizers):
    optimizer.build(each.trainable_variables)
x, y = tf.ones((4, 3)), tf.zeros((4, 1))
def step():
    with tf.GradientTape(persistent=True) as tape:
        PASS
    gradients = tape.gradient(first, one.trainable_variables)
    for each, optimizer in zip([one, two], optimizers):
        OWN
        optimizer.apply_gradients(zip(gradients, each.trainable_variables))
run = STEP
for _ in range(3):
    run()
"""
BOTH = "first, second = tf.reduce_mean((one(x) - y) ** 2), tf.reduce_mean((two(x) - y) ** 2)"
FILLED = "[a.assign(b + 0.1) for a, b in zip(one.variables, two.variables)]; first = tf.reduce_mean((one(x) - y) ** 2)"
OWN = "gradients = tape.gradient(first if each is one else second, each.trainable_variables)"


@pytest.mark.parametrize("how", ["step", "tf.function(step)"])
@pytest.mark.parametrize(
    ("forward", "own", "rules"),
    [(BOTH, "pass", {"misrouted-gradient"}), (BOTH, OWN, set()), (FILLED, "pass", set())],
    ids=["one gradient for both", "each its own", "a copy filled under the tape"],
)
def test_a_network_that_ran_beside_is_moved_by_its_own_gradients_only(
    loud: Any, how: str, forward: str, own: str, rules: set[str]
) -> None:
    program = TWO.replace("PASS", forward).replace("OWN", own).replace("STEP", how)

    assert {rule for rule, _ in loud(program, head="")} == rules
