from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import versions
import whygrad as wg
from whygrad.backends.tensorflow.log import known_updates
from whygrad.backends.tensorflow.log.ledger.ledger import KEPT_STRETCHES, LedgerBook, StepsSeen
from whygrad.graph.ledger import Ledger, WriterKind

pytestmark = pytest.mark.tensorflow


@given(st.lists(st.integers(0, 300), min_size=1, max_size=120))
def test_stretches_lose_no_step(numbers: list[int]) -> None:
    seen = StepsSeen()
    for number in sorted(numbers):
        seen.add(number)
    stretches = seen.frozen()

    assert seen.count == len(numbers)
    assert len(stretches) <= KEPT_STRETCHES
    assert all(any(number in stretch for stretch in stretches) for number in numbers)
    if all(stretch.every for stretch in stretches):
        held = {n for s in stretches for n in range(s.first, s.last + 1, s.every)}
        assert held == set(numbers)


def kinds(ledger: Ledger, pattern: str) -> set[tuple[str, str, int]]:
    return {(str(write.kind), write.method, write.count) for write in ledger.of(pattern)}


def compute(w: Any, tf: ModuleType) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w))
    return tape.gradient(loss, w)


@pytest.mark.parametrize("traced", [False, True])
def test_every_write_of_a_random_program_is_counted(tf: ModuleType, traced: bool) -> None:
    """Against a count of our own; each action is a function, at once or compiled."""
    variables = [tf.Variable([1.0, 2.0, 3.0], name=f"v{i}") for i in range(3)]
    actions = {
        "assign": lambda v: v.assign([0.0, 1.0, 2.0]),
        "assign_add": lambda v: v.assign_add([1.0, 1.0, 1.0]),
        "assign_sub": lambda v: v.assign_sub([1.0, 1.0, 1.0]),
        "scatter_nd_add": lambda v: v.scatter_nd_add([[1]], [2.0]),
        "scatter_update": lambda v: v.scatter_update(tf.IndexedSlices([2.0], [0])),
        "slice assign": lambda v: v[1:2].assign([4.0]),
    }

    def action(name: str, variable: Any) -> Any:
        def act() -> None:
            actions[name](variable)

        return tf.function(act) if traced else act

    calls = {(name, i): action(name, v) for name in actions for i, v in enumerate(variables)}
    choose = random.Random(4)
    expected: Counter[tuple[str, str]] = Counter()
    with wg.watch() as run:
        for _ in range(120):
            name, i = choose.choice(list(calls))
            calls[name, i]()
            expected[f"v{i}", name] += 1
    found = Counter({(run.ledger.name_of(write), write.method): write.count for write in run.ledger})

    assert found == expected
    assert {write.kind for write in run.ledger} == {WriterKind.USER}
    assert all(write.compiled is traced for write in run.ledger)


def test_steps_are_those_of_the_loop(tf: ModuleType, keras: ModuleType) -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = keras.optimizers.SGD(0.1)
    with wg.watch() as run:
        w.assign([3.0, 4.0])
        for step in range(1, 13):
            optimizer.apply_gradients([(compute(w, tf), w)])
            if step % 4 == 0:
                w.assign(tf.clip_by_value(w, -1.0, 1.0))

    mine, clipped = (write for write in run.ledger.of("w") if write.kind is WriterKind.USER)
    assert [write.kind for write in run.ledger.of("w").at(12)] == ["optimizer", "user"]
    assert [step for step in range(14) if mine.at(step)] == [0]
    assert [step for step in range(14) if clipped.at(step)] == [4, 8, 12]
    [update] = run.ledger.of("w").by("optimizer")
    assert [step for step in range(14) if update.at(step)] == list(range(1, 13))
    assert run.ledger.steps == 12


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_fit_shows_optimizer_constraint_statistics_and_edits(
    request: pytest.FixtureRequest, library: str, tmp_path: Path
) -> None:
    import numpy as np

    if library == "tf_keras" and versions.is_oldest_tensorflow():
        reason = "TensorFlow converts its optimizers: what a constraint writes is told as theirs"
        request.applymarker(pytest.mark.xfail(reason=reason))
    module = request.getfixturevalue(library)
    layers = module.layers
    x, y = np.ones((8, 3), "float32"), np.ones((8, 1), "float32")
    with wg.watch() as run:
        model = module.Sequential(
            [
                layers.Input((3,)),
                layers.Dense(2, name="encoder", kernel_constraint="non_neg"),
                layers.BatchNormalization(name="norm"),
                layers.Dense(1, name="decoder"),
            ]
        )
        model.compile("sgd", "mse")
        model.set_weights(model.get_weights())
        model.fit(x, y, batch_size=2, verbose=0, callbacks=[wg.edit.ClipWeights(model, 5.0, layers="decoder")])
        model.save_weights(tmp_path / "m.weights.h5")
        model.load_weights(tmp_path / "m.weights.h5")
    ledger = run.ledger

    assert {(kind, count) for kind, _, count in kinds(ledger, "encoder/kernel")} == {
        ("user", 1),
        ("optimizer", 4),
        ("constraint", 4),
        ("restore", 1),
    }
    assert ("layer", 4) in {(kind, count) for kind, _, count in kinds(ledger, "norm/moving_mean")}
    assert ("edit", 4) in {(kind, count) for kind, _, count in kinds(ledger, "decoder/kernel")}
    [clip] = ledger.of("decoder/kernel").by("edit")
    assert clip.writer == "ClipWeights"
    assert [step for step in range(6) if clip.at(step)] == [1, 2, 3, 4]
    assert clip.where is not None
    assert clip.where.file == __file__


def test_a_checkpoint_and_a_callback_that_restore_are_named(tf: ModuleType, keras: ModuleType, tmp_path: Path) -> None:
    import numpy as np

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, name="d")])
    stop = keras.callbacks.EarlyStopping(monitor="loss", restore_best_weights=True, patience=0)
    with wg.watch() as run:
        checkpoint = tf.train.Checkpoint(model=model)
        checkpoint.restore(checkpoint.write(str(tmp_path / "c")))
        model.compile("sgd", "mse")
        model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=2, verbose=0, callbacks=[stop])

    assert ("restore", "restore") in {(write.kind, write.writer) for write in run.ledger.of("d/kernel")}
    assert ("callback", "EarlyStopping") in {(write.kind, write.writer) for write in run.ledger.of("d/kernel")}


def test_a_write_in_a_branch_is_at_most_so_often(tf: ModuleType) -> None:
    w = tf.Variable(0.0, name="w")

    @tf.function
    def step(on: Any) -> None:
        if on:
            w.assign_add(1.0)

    with wg.watch() as run:
        for on in (True, False, True):
            step(tf.constant(on))

    [write] = run.ledger.of("w")
    assert (write.count, write.conditional, write.compiled) == (3, True, True)


def test_the_layer_that_keeps_a_state_of_its_own_is_named(tf: ModuleType, keras: ModuleType) -> None:
    class Count(keras.layers.Layer):
        def build(self, shape: Any) -> None:
            self.seen = self.add_weight(name="seen", shape=(), initializer="zeros", trainable=False)

        def call(self, x: Any) -> Any:
            self.seen.assign(self.seen + 1.0)
            return x

    layer = Count(name="count")
    with wg.watch() as run:
        layer(tf.ones((1, 1)))
        layer(tf.ones((1, 1)))

    [write] = run.ledger.of("seen")
    assert (write.kind, write.writer, write.count) == (WriterKind.LAYER, "count", 2)


def test_memory_stays_bounded_however_often_one_writes(tf: ModuleType) -> None:
    w = tf.Variable(0.0, name="w")
    with wg.watch() as run:
        for step in range(400):
            compute(w, tf)
            if step % 7 in (0, 3):
                w.assign(float(step))

    assert len(run.ledger) == 1
    assert len(run.ledger.writes[0].steps) <= KEPT_STRETCHES


def test_a_run_that_is_recorded_and_watched_keeps_its_ledger(keras: ModuleType, tmp_path: Path) -> None:
    import numpy as np

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, name="d")])
    model.compile("sgd", "mse")
    monitor = wg.Monitor(folder=tmp_path)
    with wg.watch():
        model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=2, verbose=0, callbacks=[monitor])

    ledger = monitor.run.ledger()
    [write] = ledger.of("d/kernel").by("optimizer")
    assert write.count == 4


def test_functions_compiled_before_watching_are_read_from_their_graphs(tf: ModuleType, keras: ModuleType) -> None:
    import numpy as np

    layers = [keras.layers.Input((2,)), keras.layers.BatchNormalization(name="n"), keras.layers.Dense(1, name="d")]
    model = keras.Sequential(layers)
    model.compile("sgd", "mse")
    x, y = np.ones((8, 2)), np.ones((8, 1))
    model.fit(x, y, batch_size=2, verbose=0)
    tally = tf.Variable(0.0, name="tally")

    @tf.function
    def count() -> None:
        tally.assign_add(1.0)

    count()
    with wg.watch() as run:
        model.fit(x, y, batch_size=2, verbose=0)
        count()

    assert {(write.kind, write.count) for write in run.ledger.of("d/kernel")} == {("optimizer", 4)}
    assert {(write.kind, write.count) for write in run.ledger.of("n/moving_mean")} == {("layer", 4)}
    assert {(write.kind, write.count) for write in run.ledger.of("tally")} == {("user", 1)}
    assert run.ledger.steps == 4


def trained(keras: ModuleType, tf: ModuleType, optimizer: Any, steps: int) -> set[tuple[Any, ...]]:
    """The rows of an eager loop that projects one variable by hand every third step."""
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2, name="hidden"), keras.layers.Dense(1)])
    variables = model.trainable_variables
    x = tf.random.normal((8, 3), seed=1)
    with wg.watch() as run:
        for step in range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(x) - 1.0))
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            if step % 3 == 0:
                variables[0].assign(tf.clip_by_value(variables[0], -0.5, 0.5))
        ledger = run.ledger
    return {
        (write.variable, write.kind, write.writer, write.method, write.count, write.where, write.steps)
        for write in ledger.writes
    }


@pytest.mark.parametrize("ema", [False, True])
def test_updates_that_are_not_listened_to_are_in_the_ledger_as_if_they_were(
    keras: ModuleType, tf: ModuleType, monkeypatch: pytest.MonkeyPatch, ema: bool
) -> None:
    def rows(heard: int) -> list[tuple[Any, ...]]:
        monkeypatch.setattr(known_updates, "_HEARD", heard)
        options = {"use_ema": True, "ema_overwrite_frequency": 7} if ema else {}
        found = trained(keras, tf, keras.optimizers.Adam(0.01, name="adam", **options), 45)
        return sorted((row[1:] for row in found), key=repr)

    assert rows(16) == rows(1)


def test_only_updates_that_are_always_alike_go_unheard(
    keras: ModuleType, tf: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(keras.optimizers.SGD):  # type: ignore[misc]
        def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
            super().update_step(gradient, variable, learning_rate / 2)

    unheard: list[int] = []
    again = LedgerBook.wrote_again
    monkeypatch.setattr(LedgerBook, "wrote_again", lambda self, writes: unheard.append(1) or again(self, writes))
    for optimizer, quiet in (
        (keras.optimizers.Adam(0.01), True),
        (keras.optimizers.Adam(0.01, gradient_accumulation_steps=4), False),
        (Slow(0.01), False),
    ):
        unheard.clear()
        trained(keras, tf, optimizer, 32)
        assert bool(unheard) == quiet
