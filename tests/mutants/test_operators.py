"""Each operator's change of a text, on snippets; nothing is run."""

from __future__ import annotations

import ast

import pytest

from mutants.code import Code
from mutants.operators import OPERATORS, Change

LOOP = """\
import keras
import tensorflow as tf

net, head = keras.layers.Dense(3), keras.layers.Dense(2)
opt = keras.optimizers.Adam(0.1)
xent = keras.losses.SparseCategoricalCrossentropy()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        tape.watch(x)
        h = net(x, training=True)
        h = head(h)
        loss = tf.sqrt(xent(y, h) + 1e-8)
    grads = tape.gradient(loss, weights)
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    opt.apply_gradients(zip(grads, weights))
    mean.assign(0.9 * mean + loss)
    return norm


for x, y in data:
    step(x, y)
"""

LAYER = """\
class Scale(keras.layers.Layer):
    def build(self, shape):
        self.k = self.add_weight(shape=())

    def call(self, x):
        return x * self.k
"""

SLOTS = """\
import tensorflow as tf


def micro(x, y):
    for slot, g in zip(slots, tape.gradient(loss, weights)):
        slot.assign_add(g / EVERY)


def update():
    opt.apply_gradients(zip(slots, weights))
    for slot in slots:
        slot.assign(tf.zeros_like(slot))
"""

LISTS = """\
for _ in range(3):
    totals = [tf.zeros_like(v) for v in weights]
    for x, y in pieces:
        totals = [t + g * (len(x) / 20.0) for t, g in zip(totals, gradients(x, y))]
    opt.apply_gradients(zip(totals, weights))
"""


def changes(operator: str, text: str) -> list[Change]:
    return list(OPERATORS[operator].changes(Code(text)))


def difference(text: str, change: Change) -> tuple[list[str], list[str]]:
    """The lines that are gone and the lines that are new, without their indents."""
    old, new = text.splitlines(), change.text.splitlines()
    gone = [row.strip() for row in old if row not in new]
    return gone, [row.strip() for row in new if row not in old]


@pytest.mark.parametrize(
    ("operator", "text", "new"),
    [
        ("stop", LOOP, "h = tf.stop_gradient(net(x, training=True))"),
        ("integer", LOOP, "h = tf.cast(tf.cast(head(h), tf.int32), tf.float32)"),
        ("round", LOOP, "h = tf.round(head(h))"),
        ("sign", LOOP, "h = tf.sign(head(h))"),
        ("compare", LOOP, "h = tf.cast((head(h)) > 0.5, tf.float32)"),
        ("argsort", LOOP, "h = tf.cast(tf.argsort(head(h), axis=-1), tf.float32)"),
        ("numpy", LOOP, "h = tf.constant((head(h)).numpy())"),
        ("variable", LOOP, "h = tf.Variable(head(h))"),
        ("poisson", LOOP, "h = tf.random.poisson([], tf.abs(head(h)))"),
        ("sqrt", LOOP, "h = tf.sqrt(tf.nn.relu(head(h)))"),
        ("log", LOOP, "loss = tf.sqrt(tf.math.log(tf.nn.relu(xent(y, h))) + 1e-8)"),
        (
            "numpy_function",
            LOOP,
            "h = tf.ensure_shape(tf.numpy_function(lambda a: a, [h], tf.float32), h.shape)",
        ),
        ("hidden_nan", LOOP, "h = tf.where(h > 0.0, tf.math.log(tf.nn.relu(h)), tf.zeros_like(h))"),
        ("bernoulli", LOOP, "h = tf.cast(tf.random.uniform(tf.shape(h)) < tf.sigmoid(h), tf.float32)"),
        ("epsilon", LOOP, "loss = tf.sqrt((xent(y, h)))"),
        ("unwatch", LOOP, "pass"),
        ("rows", LOOP, "opt.apply_gradients(zip([*grads][::-1], weights))"),
        ("rows", LOOP, "opt.apply_gradients(zip(grads, [*(weights)[1:], *(weights)[:1]]))"),
        ("rebind", LOOP, "mean = 0.9 * mean + loss"),
        ("rebind", SLOTS, "slot = slot + (g / EVERY)"),
        ("training", LOOP, "h = net(x)"),
        ("loss_arguments", LOOP, "loss = tf.sqrt(xent(h, y) + 1e-8)"),
        ("no_reset", SLOTS, "pass"),
        ("no_division", SLOTS, "slot.assign_add(g)"),
        ("no_division", LISTS, "totals = [t + g for t, g in zip(totals, gradients(x, y))]"),
    ],
)
def test_a_line_becomes_another(operator: str, text: str, new: str) -> None:
    found = [change for change in changes(operator, text) if new in difference(text, change)[1]]

    assert found
    if found[0].first:
        assert new in [row.strip() for row in found[0].text.splitlines()[found[0].first - 1 : found[0].last]]


def test_nothing_is_put_around_a_gradient_or_after_it() -> None:
    text = LOOP.replace("    return norm\n", "    scale = half(norm)\n    return scale\n")

    assert {change.first for change in changes("stop", text)} == {13, 14, 15}


def test_the_forward_pass_moves_out_of_the_tape_one_statement_after_the_other() -> None:
    text = LOOP.replace("        tape.watch(x)\n", "")
    one, two = changes("hoist", text)

    assert one.text.splitlines()[one.first - 1 : one.last + 1] == [
        "    h = net(x, training=True)",
        "    with tf.GradientTape() as tape:",
    ]
    assert two.text.splitlines()[two.first - 1 : two.last] == ["    h = net(x, training=True)", "    h = head(h)"]


def test_a_watch_moves_behind_the_forward_pass() -> None:
    (change,) = changes("late_watch", LOOP)

    rows = change.text.splitlines()
    assert rows.index("        tape.watch(x)") == rows.index("    grads = tape.gradient(loss, weights)") - 1


def test_a_clip_moves_behind_the_update() -> None:
    (change,) = changes("late_clip", LOOP)

    rows = change.text.splitlines()
    clip = "    grads, norm = tf.clip_by_global_norm(grads, 1.0)"
    assert rows.index(clip) == rows.index("    opt.apply_gradients(zip(grads, weights))") + 1 == change.first - 1


def test_a_clip_around_the_request_moves_and_leaves_the_request() -> None:
    text = """\
import tensorflow as tf
def step():
    grads = [tf.clip_by_norm(g, 1.0) for g in tape.gradient(loss, weights)]
    opt.apply_gradients(zip(grads, weights))
"""
    (change,) = changes("late_clip", text)

    assert change.text.splitlines()[2:] == [
        "    grads = tape.gradient(loss, weights)",
        "    opt.apply_gradients(zip(grads, weights))",
        "    grads = [tf.clip_by_norm(g, 1.0) for g in grads]",
    ]
    assert change.first == change.last == 5


def test_a_result_is_dropped() -> None:
    first, second = changes("dropped_result", LOOP)

    assert difference(LOOP, first) == (["h = net(x, training=True)"], ["net(x, training=True)", "h = x"])
    assert difference(LOOP, second) == (["h = head(h)"], ["head(h)"])
    assert (first.first, first.last) == (13, 14)


def test_a_variable_is_made_in_call() -> None:
    (change,) = changes("variable_in_call", LAYER)

    assert change.text.splitlines()[change.first - 1 : change.last] == [
        '        gain = tf.Variable(1.0, name="gain")',
        "        return gain * (x * self.k)",
    ]


def test_an_optimizer_is_made_in_the_step() -> None:
    (change,) = changes("optimizer_in_step", LOOP)

    assert change.text.splitlines()[change.first - 1 : change.last] == [
        "    opt = keras.optimizers.Adam(0.1)",
        "    opt.apply_gradients(zip(grads, weights))",
    ]


def test_an_accumulator_is_made_before_the_loop() -> None:
    (change,) = changes("no_reset", LISTS)

    assert change.text.startswith("totals = [tf.zeros_like(v) for v in weights]\nfor _ in range(3):\n    for x, y")


def test_a_traced_loss_depends_on_a_number_that_the_step_counts() -> None:
    (change,) = changes("python_number", LOOP)

    rows = change.text.splitlines()
    assert rows[change.first - 1 : change.first + 1] == ["    global seen", "    seen += 1"]
    assert rows[change.last - 1] == "        loss = loss / seen"
    assert "seen = 1" in rows


def test_a_traced_loss_depends_on_a_number_that_the_loop_counts() -> None:
    (change,) = changes("python_number_outside", LOOP)

    assert change.text.splitlines()[change.first - 1] == "        loss = loss / seen"
    assert change.text.endswith("for x, y in data:\n    seen += 1\n    step(x, y)\n")


def test_a_program_without_tensorflow_imports_it_where_the_change_needs_it() -> None:
    text = "import keras\n\n\ndef loss(y, p):\n    each = keras.ops.square(y - p)\n    return each\n"

    assert all(change.text.startswith("import tensorflow as tf; import keras\n") for change in changes("round", text))


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_change_can_be_parsed_and_is_one(operator: str) -> None:
    for text in (LOOP, LAYER, SLOTS, LISTS):
        for change in changes(operator, text):
            ast.parse(change.text)
            assert change.text != text
            assert 0 <= change.first <= change.last <= len(change.text.splitlines())
