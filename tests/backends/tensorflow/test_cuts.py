"""Cuts that need a fact of their own: each program is cut at one expression, and that one is named and no other."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.tensorflow

ASSIGNED, ESCAPED = "assign-breaks-gradient", "numpy-escape"
NETWORK = """
left, right = keras.Input((3,), name="left"), keras.Input((3,), name="right")
net = keras.Model(INPUTS, keras.layers.Dense(1)(keras.layers.Concatenate()([left, right])))
with tf.GradientTape() as tape:
    scaled = tf.reshape(w * 2.0, (1, 3))
    loss = tf.reduce_mean(net.predict(GIVEN, verbose=0))
tape.gradient(loss, w)
"""
THROUGH_STATE = {
    "the target is a variable that was made of the loss": (
        ASSIGNED,
        "tf.Variable(tf.reduce_sum(w * w))",
        """
with tf.GradientTape() as tape:
    loss = tf.Variable(tf.reduce_sum(w * w))
tape.gradient(loss, w)
""",
    ),
    "a traced step makes it, when it first runs": (
        ASSIGNED,
        "tf.Variable(tf.reduce_sum(w * w))",
        """
kept = []
@tf.function
def step():
    with tf.GradientTape() as tape:
        if not kept:
            kept.append(tf.Variable(tf.reduce_sum(w * w)))
        loss = kept[0] * 2.0
    return tape.gradient(loss, w)
step()
""",
    ),
    "under two tapes": (
        ASSIGNED,
        "tf.Variable(w * w)",
        """
kept = []
@tf.function
def step():
    with tf.GradientTape(persistent=True), tf.GradientTape(persistent=True) as tape:
        if not kept:
            kept.append(tf.Variable(w * w))
        loss = tf.reduce_sum(kept[0])
    return tape.gradient(loss, w)
step()
""",
    ),
    "a function with a gradient of its own is handed the variable": (
        ASSIGNED,
        "tf.Variable(passed(w) * w)",
        """
@tf.custom_gradient
def passed(x):
    return tf.identity(x), lambda upstream: upstream
@tf.function
def step():
    with tf.GradientTape() as tape:
        kept = tf.Variable(passed(w) * w)
        loss = tf.reduce_sum(passed(kept))
    return tape.gradient(loss, w)
try:
    step()
except ValueError:  # it makes a variable whenever it is traced
    pass
""",
    ),
    "a function that is called writes it": (
        ASSIGNED,
        "state.assign(w * 2.0)",
        """
state = tf.Variable(tf.zeros(3), name="state", trainable=False)
@tf.function
def put():
    state.assign(w * 2.0)
with tf.GradientTape() as tape:
    put()
    loss = tf.reduce_sum(state)
tape.gradient(loss, w)
""",
    ),
    "a training step differentiates a weight that keeps the loss": (
        ASSIGNED,
        "self.last.assign(tf.reduce_mean((self(x) - y) ** 2))",
        """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.last = self.add_weight(shape=(), trainable=False)
    def call(self, x):
        return self.dense(x)
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            self.last.assign(tf.reduce_mean((self(x) - y) ** 2))
        gradients = tape.gradient(self.last.value, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {}
net = Net()
net.compile("sgd")
try:
    net.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
except ValueError:
    pass
""",
    ),
    "a NumPy function around the whole loss": (
        ESCAPED,
        "tf.numpy_function(np.sum, [w * w], tf.float32)",
        """
with tf.GradientTape() as tape:
    loss = tf.numpy_function(np.sum, [w * w], tf.float32)
tape.gradient(loss, w)
""",
    ),
    "a NumPy function of a variable itself": (
        ESCAPED,
        "tf.numpy_function(np.sum, [w], tf.float32)",
        """
with tf.GradientTape() as tape:
    loss = tf.square(tf.numpy_function(np.sum, [w], tf.float32))
tape.gradient(loss, w)
""",
    ),
    "predict is given a list": (
        ESCAPED,
        "net.predict([scaled, scaled], verbose=0)",
        NETWORK.replace("INPUTS", "[left, right]").replace("GIVEN", "[scaled, scaled]"),
    ),
    "predict is given a dictionary": (
        ESCAPED,
        'net.predict({"left": scaled, "right": scaled}, verbose=0)',
        NETWORK.replace("INPUTS", '{"left": left, "right": right}').replace(
            "GIVEN", '{"left": scaled, "right": scaled}'
        ),
    ),
    "NumPy is given the values of a dictionary": (
        ESCAPED,
        "np.mean(part)",
        """
def total(parts):
    return np.float32(sum(np.mean(part) for part in parts.values()))
with tf.GradientTape() as tape:
    parts = {"one": w * 2.0, "two": w * w}
    loss = tf.convert_to_tensor(total(parts))
tape.gradient(loss, w)
""",
    ),
}


@pytest.mark.parametrize("case", THROUGH_STATE)
def test_a_target_is_no_constant_where_a_cut_lies_behind_it(case: str, loud: Any) -> None:
    rule, underlined, program = THROUGH_STATE[case]

    assert loud(program) == [(rule, underlined)]


def test_a_target_that_is_a_variable_is_no_constant(loud: Any) -> None:
    found = loud("""
other = tf.Variable(1.0, name="other")
with tf.GradientTape(persistent=True) as tape:
    loss = tf.reduce_sum(w * w)
assert tape.gradient(w, w) is not None
tape.gradient(other, w)
""")

    assert found == [("variable-not-in-loss", "tape.gradient(other, w)")]


def test_numbers_that_are_logged_beside_a_constant_are_no_way_to_it(loud: Any) -> None:
    found = loud("""
data = tf.ones(3)
with tf.GradientTape() as tape:
    print((w * 2.0).numpy())
    loss = tf.reduce_sum(data - 2.0)
tape.gradient(loss, w)
""")

    assert found == [("constant-target", "tf.reduce_sum(data - 2.0)")]


STEP = """
with tf.GradientTape(persistent=True) as tape:
    scaled = w * 2.0
    with tape.stop_recording():
        STOPPED
    loss = tf.reduce_sum(REST)
tape.gradient(loss, w)
"""


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("stopped", "rest", "underlined"),
    [("scaled = w * 3.0", "scaled", "w * 3.0"), ("square = scaled * scaled", "square", "scaled * scaled")],
)
def test_what_runs_while_the_recording_is_stopped_is_told_from_what_is_outside(
    traced: bool, stopped: str, rest: str, underlined: str, loud: Any
) -> None:
    program = STEP.replace("STOPPED", stopped).replace("REST", rest)

    assert loud(in_function(program) if traced else program) == [("outside-tape", underlined)]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    "rest", ["    loss = tf.reduce_sum(scaled)\n    tape.reset()", "    tape.reset()\n    loss = tf.reduce_sum(scaled)"]
)
def test_a_tape_that_was_emptied_has_forgotten(traced: bool, rest: str, loud: Any) -> None:
    program = f"""
with tf.GradientTape(persistent=True) as tape:
    scaled = w * 2.0
{rest}
tape.gradient(loss, w)
"""

    assert loud(in_function(program) if traced else program) == [("outside-tape", "tape.reset()")]


def test_a_tape_that_is_emptied_before_each_step_and_stopped_for_the_gradient_is_quiet(loud: Any) -> None:
    found = loud("""
with tf.GradientTape(persistent=True) as tape:
    for _ in range(3):
        tape.reset()
        loss = tf.reduce_sum(w * w)
        with tape.stop_recording():
            w.assign_sub(0.1 * tape.gradient(loss, w))
""")

    assert found == []


def test_a_forward_pass_outside_the_tape_of_a_traced_step_is_shown_where_the_step_calls_it(loud: Any) -> None:
    found = loud("""
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(1)])
@tf.function
def step(x):
    out = model(x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(out ** 2)
    return tape.gradient(loss, model.trainable_variables)
step(tf.ones((2, 3)))
""")

    assert found == [("outside-tape", "model(x)")]


def in_function(program: str) -> str:
    body = "\n".join(f"    {line}" for line in program.strip().splitlines())
    return f"@tf.function\ndef step():\n{body}\nstep()\n"


JACOBIAN = """
x = tf.ones((2, 3))
with tf.GradientTape(persistent=True) as outer:
    with tf.GradientTape(persistent=True) as inner:
        inner.watch(x)
        y = VALUE
    slopes = inner.batch_jacobian(y, x)
    loss = tf.reduce_sum(slopes ** 2)
outer.gradient(loss, w)
"""
BLOCKS = {
    "the inputs are cut off": ("tf.sign(tf.round(x)) * w", ["tf.round(x)"]),
    "the weights are cut off": ("tf.round(w) * x ** 2", ["tf.round(w)"]),
    "all is connected": ("tf.tanh(w * x)", []),
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("case", BLOCKS)
def test_a_jacobian_in_a_jacobian_is_followed_through_its_vectorised_loop(case: str, traced: bool, loud: Any) -> None:
    value, cuts = BLOCKS[case]
    program = JACOBIAN.replace("VALUE", value)
    program = program if case != "the inputs are cut off" else program.partition("    loss =")[0]

    found = loud(in_function(program) if traced else program)

    assert found == [("non-differentiable-op", cut) for cut in cuts]


def test_zeros_of_a_batch_jacobian_by_what_is_not_watched_are_missing_gradients(loud: Any) -> None:
    found = loud("""
x = tf.ones((2, 3))
with tf.GradientTape() as tape:
    y = x * w
tape.batch_jacobian(y, x)
""")

    assert found == [("unwatched-source", "tape.batch_jacobian(y, x)")]


def test_the_tapes_of_forward_mode_are_not_the_users(loud: Any) -> None:
    found = loud("""
with tf.autodiff.ForwardAccumulator(w, tf.ones(3)) as forward:
    y = tf.round(w) * w
forward.jvp(y)
""")

    assert found == []


@pytest.mark.parametrize(
    "packed",
    [
        "tf.reduce_sum([p, q, r])",
        "tf.tensordot([p, q, r], tf.ones(3), 1)",
        "tf.reduce_sum(tf.matmul([[p, q], [q, r]], [[1.0], [2.0]]))",
        "tf.reduce_sum(tf.square((2.0, p, q * 2.0, r)))",
        "tf.maximum(p, q) + tf.multiply(3.0, r)",
        "tf.reduce_sum(tf.where([True, False], [p, q], [q, r]))",
    ],
)
def test_each_variable_of_a_list_that_an_op_is_given_is_known(packed: str, loud: Any) -> None:
    found = loud(f"""
p, q, r = tf.Variable(1.0, name="p"), tf.Variable(2.0, name="q"), tf.Variable(3.0, name="r")
with tf.GradientTape() as tape:
    value = {packed}
    loss = tf.round(value)
tape.gradient(loss, [p, q, r])
""")

    assert found == [("non-differentiable-op", "tf.round(value)")]


@pytest.mark.parametrize("traced", [False, True])
def test_a_factor_that_is_zero_is_named(traced: bool, loud: Any) -> None:
    step = """
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w * w * mask)
w.assign_sub(0.1 * tape.gradient(loss, w))
"""
    looped = in_function(step) + "step()\n" * 3 if traced else "for _ in range(4):" + step.replace("\n", "\n    ")

    assert loud(f"mask = tf.zeros(3)\n{looped}") == [("zero-gradient-op", "w * w * mask")]


def test_a_compiled_step_without_any_gradient_is_told(loud: Any) -> None:
    found = loud("""
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((4, 3)), np.ones((4, 1)), sample_weight=np.zeros(4), epochs=12, verbose=0)
""")

    assert [rule for rule, _ in found] == ["zero-gradient-op"]


SLOPES = """
x = tf.ones(3)
def slope(y):
    return tape.gradient(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = {value}
    {inside}
{after}
curvature = slope(first)
"""


@pytest.mark.parametrize("traced", [False, True])
def test_zeros_that_were_asked_for_hide_no_slope_that_was_taken_outside_of_the_tape(traced: bool, loud: Any) -> None:
    step = SLOPES.format(value="tf.reduce_sum(x**3)", inside="pass", after="first = slope(y)")

    [(rule, text)] = loud(in_function(step) if traced else step)

    assert rule == "outside-tape"
    assert text.startswith("tape.gradient(y, x")


@pytest.mark.parametrize("value", ["tf.reduce_sum(x**3)", "tf.reduce_sum(3.0 * x)"])
def test_zeros_that_were_asked_for_are_quiet_where_the_tape_recorded_the_slope(value: str, loud: Any) -> None:
    assert loud(SLOPES.format(value=value, inside="first = slope(y)", after="")) == []


MODULE = """
class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w, self.b = tf.Variable(2.0, name="w"), tf.Variable(0.0, name="b")
net, descent = Net(), keras.optimizers.SGD(0.1)
def train():
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.square(net.w * 3.0 + net.b - 1.0)
        variables = net.trainable_variables
        descent.apply_gradients(zip(tape.gradient(loss, variables), variables))
train()
{change}
train()
"""


def test_an_attribute_of_a_module_that_holds_a_tensor_now_is_told(loud: Any) -> None:
    assert loud(MODULE.format(change="net.w = 0.5 * net.w")) == [("variable-rebound", "net.w")]


@pytest.mark.parametrize("change", ["net.w.assign(0.5 * net.w)", "kept = net.w; net.w = 0.5 * kept; net.w = kept"])
def test_a_variable_that_is_changed_in_place_or_put_back_is_quiet(change: str, loud: Any) -> None:
    assert loud(MODULE.format(change=change)) == []


GIVEN = """
made = tf.Variable([2.0, 1.0, 0.5], name="made")
{traced}
def step(batch, scale=1.0):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * batch{key}) * scale
    return tape.gradient(loss, [w, made])
for _ in range({steps}):
    value = tf.tanh(made)
    {between}
    step({given})
"""


@pytest.mark.parametrize("traced", ["", "@tf.function"])
@pytest.mark.parametrize(
    ("given", "key"), [("value", ""), ("batch=value, scale=2.0", ""), ("{'b': w * 1.0, 'a': value}", "['a']")]
)
def test_what_a_function_is_given_is_followed_to_where_it_was_made(
    traced: str, given: str, key: str, loud: Any
) -> None:
    program = GIVEN.format(traced=traced, given=given, key=key, steps=2, between="")

    assert loud(program) == [("outside-tape", "tf.tanh(made)")]


def test_what_was_made_several_updates_ago_is_still_known(loud: Any) -> None:
    critic = """for _ in range(5):
        with tf.GradientTape() as tape:
            fit = tf.reduce_sum((w - value) ** 2)
        keras.optimizers.SGD(0.1).apply_gradients([(tape.gradient(fit, w), w)])"""
    found = loud(GIVEN.format(traced="", given="value", key="", steps=1, between=critic))

    assert ("outside-tape", "tf.tanh(made)") in found
    assert "variable-not-in-loss" not in [rule for rule, _ in found]


def test_what_only_a_library_function_cuts_in_fit_is_shown_at_the_loss(loud: Any) -> None:
    program = """
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("sgd", loss=keras.metrics.binary_accuracy)
model.fit(tf.ones((4, 2)), tf.ones((4, 1)), verbose=0)
"""
    assert loud(program) == [("non-differentiable-op", "keras.metrics.binary_accuracy")]


TERM = """
x = tf.ones((4, 1)) * w[:1]
net, sgd = keras.layers.Dense(1, kernel_initializer="ones"), keras.optimizers.SGD(0.01)
net(x)
class Fitted(keras.Model):
    def __init__(self):
        super().__init__()
        self.net = net
    def call(self, x):
        return self.net(x)
    def train_step(self, data):
        return {"loss": step(*data)}
DECORATOR
def step(x, y):
    with tf.GradientTape() as tape:
        fit = tf.reduce_mean((net(x) - y) ** 2)
        with tape.stop_recording():
            with tf.GradientTape() as inner:
                inner.watch(x)
                out = net(x)
            slope = inner.gradient(out, x)
        loss = TOTAL
    variables = net.trainable_variables[:1]
    sgd.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss
RUN
"""
RUNS = {
    "eager": ("", "step(x, tf.zeros((4, 1)))"),
    "traced": ("@tf.function", "step(x, tf.zeros((4, 1)))"),
    "fit": ("", "m = Fitted(); m.compile(optimizer=sgd); m.fit(x, tf.zeros((4, 1)), batch_size=4, verbose=0)"),
}


@pytest.mark.parametrize("how", RUNS)
@pytest.mark.parametrize(
    ("total", "cut"),
    [
        ("fit + 0.1 * tf.reduce_mean(slope ** 2)", "inner.gradient(out, x)"),
        ("fit + 0.1 * tf.stop_gradient(tf.reduce_mean(slope ** 2))", ""),
    ],
)
def test_a_term_that_the_tape_did_not_record_is_found_beside_one_that_trains(
    how: str, total: str, cut: str, loud: Any
) -> None:
    decorator, run = RUNS[how]
    program = TERM.replace("DECORATOR", decorator).replace("TOTAL", total).replace("RUN", run)

    assert loud(program) == ([("outside-tape", cut)] if cut else [])
