"""What a program did is seen, and placed at the user's own expression, however the program is written."""

from __future__ import annotations

from typing import Any

import pytest

from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

IN_EVERY_STYLE = {
    "eager": """
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.round(w * 3.0) ** 2)
tape.gradient(loss, w)
""",
    "traced": """
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.round(w * 3.0) ** 2)
    return tape.gradient(loss, w)
step()
""",
    "a traced loss under an eager tape": """
@tf.function
def objective():
    return tf.reduce_sum(tf.round(w * 3.0) ** 2)
with tf.GradientTape() as tape:
    loss = objective()
tape.gradient(loss, w)
""",
    "a loss traced before, and compiled by XLA": """
@tf.function(jit_compile=True)
def objective(scale):
    return tf.reduce_sum(tf.round(w * 3.0) ** 2) * scale
for scale in (1.0, 2.0):
    with tf.GradientTape() as tape:
        loss = objective(tf.constant(scale))
    tape.gradient(loss, w)
""",
    "one traced function inside another": """
@tf.function
def inner(x):
    return tf.round(w * 3.0) ** 2 * x
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(inner(2.0))
    return tape.gradient(loss, w)
step()
""",
    "a traced branch": """
@tf.function
def step(flag):
    with tf.GradientTape() as tape:
        if flag:
            value = tf.round(w * 3.0) ** 2
        else:
            value = tf.zeros(3)
        loss = tf.reduce_sum(value)
    return tape.gradient(loss, w)
step(tf.constant(True))
""",
    "a traced loop, where the gradient comes back as zeros": """
@tf.function
def step():
    with tf.GradientTape() as tape:
        total = 0.0
        for i in tf.range(3):
            total += tf.reduce_sum(tf.round(w * 3.0) ** 2)
    return tape.gradient(total, w)
step()
""",
    "map_fn": """
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.map_fn(lambda each: tf.round(w * 3.0) ** 2, tf.zeros(2), fn_output_signature=tf.float32))
tape.gradient(loss, w)
""",
    "a tensor array": """
with tf.GradientTape() as tape:
    values = tf.TensorArray(tf.float32, size=2)
    for i in range(2):
        values = values.write(i, tf.round(w * 3.0) ** 2)
    loss = tf.reduce_sum(values.stack())
tape.gradient(loss, w)
""",
    "another thread": """
import threading
def work():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.round(w * 3.0))
    tape.gradient(loss, w)
thread = threading.Thread(target=work)
thread.start()
thread.join()
""",
    "a jacobian": """
with tf.GradientTape() as tape:
    values = tf.round(w * 3.0) ** 2
tape.jacobian(values, w)
""",
    "second order": """
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        inner.watch(x := tf.constant(2.0))
        y = tf.reduce_sum(x * x * tf.round(w * 3.0))
    slope = inner.gradient(y, x)
outer.gradient(slope, w)
""",
    "recomputed": """
@tf.recompute_grad
def block(x):
    return x * 2.0
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(block(tf.round(w * 3.0)))
tape.gradient(loss, w)
""",
    "a lambda layer": """
inputs = keras.Input((3,))
layer = keras.layers.Lambda(lambda x: tf.round(w * 3.0) ** 2 * x)
model = keras.Model(inputs, layer(inputs))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(tf.ones((2, 3))))
tape.gradient(loss, w)
""",
}


@pytest.mark.parametrize("style", IN_EVERY_STYLE)
def test_a_cut_is_underlined_in_every_style_of_program(style: str, loud: Any) -> None:
    assert loud(IN_EVERY_STYLE[style]) == [("non-differentiable-op", "tf.round(w * 3.0)")]


def test_a_cut_inside_fit_is_underlined_in_the_users_layer(loud: Any) -> None:
    found = loud("""
class Quantise(keras.layers.Layer):
    def call(self, x):
        return keras.ops.round(x)
code, out = keras.layers.Dense(2, name="code"), keras.layers.Dense(1)
model = keras.Sequential([keras.layers.Input((3,)), code, Quantise(), out])
model.compile("sgd", "mse")
model.fit(np.ones((4, 3), "float32"), np.ones((4, 1), "float32"), verbose=0)
""")

    assert found == [("non-differentiable-op", "keras.ops.round(x)")]


def test_a_statement_over_several_lines_is_underlined_under_autograph(loud: Any) -> None:
    found = loud("""
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(
            tf.square(
                tf.floor(w) - 1.0,
            )
        )
    return tape.gradient(loss, w)
step()
""")

    assert found == [("non-differentiable-op", "tf.floor(w)")]


@pytest.mark.parametrize(
    ("leaving", "underlined"),
    [
        ("total = np.sum((w * 2.0).numpy())", "(w * 2.0).numpy()"),
        ("scaled = w * 2.0\n    total = np.sum(scaled)", "np.sum(scaled)"),
        ("scaled = w * 2.0\n    total = float(tf.reduce_sum(scaled))", "float(tf.reduce_sum(scaled))"),
        ("scaled = w * 2.0\n    copy = np.asarray(scaled)\n    total = copy[0] + 1.0", "np.asarray(scaled)"),
    ],
)
def test_the_way_out_of_tensorflow_is_underlined(leaving: str, underlined: str, loud: Any) -> None:
    found = loud(f"""
with tf.GradientTape() as tape:
    {leaving}
    loss = tf.square(tf.constant(total, tf.float32) - 1.0)
tape.gradient(loss, w)
""")

    assert found == [("numpy-escape", underlined)]


def test_numbers_that_are_only_logged_are_no_way_out(loud: Any) -> None:
    found = loud("""
other = tf.Variable(1.0, name="other")
with tf.GradientTape() as tape:
    print(float(tf.reduce_sum(w)), w.numpy())
    loss = tf.square(other * 3.0)
tape.gradient(loss, [other])
""")

    assert found == []


def test_a_variable_that_is_multiplied_unread_is_still_known(loud: Any) -> None:
    """`x * v` reads `v` in C++; no read op shows."""
    found = loud("""
scale = tf.Variable(2.0, name="scale")
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.stop_gradient(scale) * w)
tape.gradient(loss, [scale, w])
""")

    assert found == [("stop-gradient", "tf.stop_gradient(scale)")]


def test_mixed_precision_in_fit_is_quiet(loud: Any) -> None:
    found = loud("""
keras.mixed_precision.set_global_policy("mixed_float16")
try:
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(1, dtype="float32")])
    model.compile("adam", "mse")
    model.fit(np.ones((4, 3), "float32"), np.ones((4, 1), "float32"), verbose=0)
finally:
    keras.mixed_precision.set_global_policy("float32")
""")

    assert found == []


def test_layers_without_an_init_of_their_own_can_still_be_made(loud: Any) -> None:
    """Keras reads the signature of `Layer.__init__`."""
    found = loud("""
class Plain(keras.layers.Layer):
    def call(self, x):
        return x * 2.0
layer = Plain(name="plain")
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(layer(w * 1.0))
assert tape.gradient(loss, w) is not None
assert layer.get_config()["name"] == "plain"
""")

    assert found == []


def test_a_tf_keras_model_is_explained_as_well(tf_keras: Any, loud: Any) -> None:
    found = loud(
        """
inputs = keras.Input((3,))
outputs = keras.layers.Lambda(lambda x: tf.cast(tf.argmax(x, -1), tf.float32)[:, None])(keras.layers.Dense(2)(inputs))
model = keras.Model(inputs, outputs)
model.compile("sgd", "mse")
model.fit(np.ones((4, 3), "float32"), np.ones((4, 1), "float32"), verbose=0)
""",
        "import numpy as np\nimport tensorflow as tf\nimport tf_keras as keras\n",
    )

    assert found == [("non-differentiable-op", "tf.argmax(x, -1)")]


def test_threads_that_train_at_the_same_time_are_kept_apart(loud: Any) -> None:
    """Each has its own tapes; half of them cut their gradient, the others must stay unblamed."""
    found = loud("""
import threading
weights = [tf.Variable(tf.ones((3, 3)), name=f"w{i}") for i in range(4)]
start = threading.Barrier(4)
def work(weight, act):
    start.wait()
    for _ in range(30):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(act(weight) @ weight if act is tf.tanh else act(weight))
        tape.gradient(loss, weight)
threads = [threading.Thread(target=work, args=(v, tf.round if i % 2 else tf.tanh)) for i, v in enumerate(weights)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
""")

    assert found == [("non-differentiable-op", "act(weight)")]


@pytest.mark.parametrize("compiled", [False, True])
def test_whether_a_gradient_came_back_sparse_is_recorded(tf: Any, compiled: bool) -> None:
    table, weight = tf.Variable(tf.ones((4, 2))), tf.Variable(2.0)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = weight * tf.reduce_sum(tf.gather(table, [0, 1]))
        tape.gradient(loss, [table, weight])

    with watch() as run:
        (tf.function(step) if compiled else step)()

    assert [source.sparse for source in run.recording().requests[0].sources] == [True, False]


def test_a_stop_outside_of_a_tape_is_no_long_walk(loud: Any) -> None:
    """Each value goes into the next three times: all ways through them would be too many to go."""
    found = loud("""
alpha = tf.ones(())
for _ in range(60):
    alpha = alpha + alpha * 0.3 - alpha * 0.5
tf.stop_gradient(alpha)
""")

    assert found == []
