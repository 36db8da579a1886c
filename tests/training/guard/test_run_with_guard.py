"""`whygrad run --guard` and `--find-nan`, as far as they are `watch(guard=..., find_nan=...)`."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

HEAD = "import keras\nimport numpy as np\nimport tensorflow as tf\nkeras.utils.set_random_seed(0)\n"

FIT = """
model = keras.Sequential([keras.layers.Input((2,)), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
model.compile("adam", lambda y, p: tf.reduce_mean(p * tf.math.log(y)))
y = np.full((32, 1), 2.0, "float32")
y[9] = 0.0
x = np.random.default_rng(0).normal(size=(32, 2)).astype("float32")
model.fit(x, y, batch_size=8, verbose=0, shuffle=False)
left = model.get_weights()
"""
FUNCTION = """
w = tf.Variable([1.0, 1.0], name="w")
optimizer = keras.optimizers.SGD(0.1)
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.sqrt(w * x))
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    return loss
for x in ([1.0, 2.0], [0.0, 1.0], [1.0, 1.0]):
    step(tf.constant(x))
left = [w.numpy()]
"""
EAGER = FUNCTION.replace("@tf.function\n", "")


def run(program: str, folder: Path, **options: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    script = folder / "train.py"
    script.write_text(HEAD + program)
    with watch(**options) as watched:
        left = runpy.run_path(str(script))
    return left, [(each.rule, each.severity.label) for each in watched.report().diagnostics]


@pytest.mark.parametrize(
    ("program", "rule"),
    [(FIT, "nan-log"), (FUNCTION, "nan-sqrt"), (EAGER, "nan-sqrt")],
    ids=["fit", "function", "eager"],
)
def test_bad_updates_of_a_script_are_held_back_and_explained(
    program: str, rule: str, tf: Any, keras: Any, tmp_path: Path, capsys: Any
) -> None:
    bare, found = run(program, tmp_path)
    assert not all(np.isfinite(weight).all() for weight in bare["left"]), "the program is not bad at all"
    assert found == [(rule, "error")]

    guarded, found = run(program, tmp_path, guard="skip")

    assert all(np.isfinite(weight).all() for weight in guarded["left"])
    assert found == [(rule, "note")]
    assert "had gradients that are not finite; nothing of them was applied" in capsys.readouterr().err


def test_what_a_guard_of_the_script_holds_back_is_explained(tf: Any, keras: Any, tmp_path: Path) -> None:
    program = FIT.replace('compile("adam"', "compile(whygrad.guard(keras.optimizers.Adam())")
    left, found = run("import whygrad\n" + program, tmp_path)

    assert all(np.isfinite(weight).all() for weight in left["left"])
    assert found == [("nan-log", "note")]


BETWEEN = """
import whygrad
w = tf.Variable([1.0, 1.0], name="w")
optimizer = whygrad.guard(keras.optimizers.SGD(0.1))
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * x)
    gradient = tape.gradient(loss, w)
    optimizer.apply_gradients([(gradient / tf.norm(gradient), w)])
    return loss
for x in {batches}:
    step(tf.constant(x))
left = [w.numpy()]
"""


@pytest.mark.parametrize("decorator", ["", "@tf.function\n"], ids=["eager", "function"])
@pytest.mark.parametrize(
    ("batches", "severity"), [("([1.0, 2.0], [0.0, 0.0])", "note"), ("3 * ([0.0, 0.0],)", "error")], ids=["one", "all"]
)
def test_what_goes_bad_before_the_guard_sees_it_is_explained_and_an_error_where_nothing_is_ever_applied(
    decorator: str, batches: str, severity: str, tf: Any, keras: Any, tmp_path: Path
) -> None:
    program = BETWEEN.replace("@tf.function\n", decorator).format(batches=batches)
    left, found = run(program, tmp_path)

    assert np.isfinite(left["left"][0]).all()
    assert ("nan-division", severity) in found


@pytest.mark.parametrize("program", [FIT, FUNCTION], ids=["fit", "function"])
def test_keeping_everything_changes_nothing(program: str, tf: Any, keras: Any, tmp_path: Path) -> None:
    script = tmp_path / "bare.py"
    script.write_text(HEAD + program)
    bare = runpy.run_path(str(script))
    kept, found = run(program, tmp_path, find_nan=True)

    assert len(found) == 1
    for one, other in zip(bare["left"], kept["left"], strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_guard_of_another_model_does_not_stop_the_watching_of_a_compiled_step(tf: Any, keras: Any) -> None:
    w, other = tf.Variable([1.0, 1.0]), tf.Variable([1.0])
    guarded = wg.guard(keras.optimizers.SGD(0.1))
    guarded.apply_gradients([(tf.constant([1.0]), other)])

    @tf.function
    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sqrt(w * x))
        w.assign_sub(tape.gradient(loss, w))

    with watch() as watched:
        step(tf.constant([1.0, 1.0]))
        step(tf.constant([0.0, 1.0]))
    assert [each.rule for each in watched.report().diagnostics] == ["nan-sqrt"]
