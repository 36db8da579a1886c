"""Mistakes that need more than one look: each program beside a healthy one that differs in that only."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.tensorflow

GROWING = """
class Growing(tf.Module):
    def __init__(self):
        self.shared = tf.Variable(2.0, name="shared")
        self.parts = {"a": tf.Variable(1.0, name="a")}
    def __call__(self, name):
        if name not in self.parts:
            self.parts[name] = tf.Variable(1.0, name=name)
        return self.shared * self.parts[name]
model = Growing()
listed = list(model.trainable_variables)
for name in ("a", "a", "b", "b"):
    with tf.GradientTape() as tape:
        loss = tf.square(model(name) - 1.0)
    variables = READ
    for g, v in zip(tape.gradient(loss, variables), variables):
        if g is not None:
            v.assign_sub(0.1 * g)
"""
TWO_NETWORKS = """
x = keras.Input((2,))
y = keras.layers.Dense(1)(x)
online = keras.Model(x, y)
target = MADE
target.set_weights(online.get_weights())
"""
THAWED = """
inner = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(2)])
inner.trainable = False
model = keras.Sequential([keras.layers.Input((2,)), inner, keras.layers.Dense(1)])
THAW
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
"""
KEPT = """
class Scaled(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        MADE
    def call(self, x):
        return x * USED
model = keras.Sequential([keras.layers.Input((2,)), Scaled(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
"""
FACTORS = """
down, up = tf.Variable(tf.zeros((3, 2)), name="down"), tf.Variable(START, name="up")
for _ in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(tf.ones((1, 3)) @ down @ up - 1.0))
    for g, v in zip(tape.gradient(loss, [down, up]), [down, up]):
        v.assign_sub(0.1 * g)
"""
SOFTMAX = """
scores = tf.Variable(tf.ones((3, UNITS)), name="scores")
for _ in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.softmax(scores) * tf.range(float(UNITS)))
    g = tape.gradient(loss, scores)
    scores.assign_sub(0.1 * g)
"""
REPLACED = """
class Trainer:
    def __init__(self):
        self.make()
    def make(self):
        self.net = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
        self.step = tf.function(self.train) if FRESH else getattr(self, "step", tf.function(self.train))
    def train(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.net(x) ** 2)
        for g, v in zip(tape.gradient(loss, self.net.trainable_variables), self.net.trainable_variables):
            v.assign_sub(0.1 * g)
trainer = Trainer()
trainer.step(tf.ones((3, 2)))
trainer.make()
trainer.step(tf.ones((3, 2)))
trainer.step(tf.ones((3, 2)))
"""
SMALL = """
log_rate = tf.Variable(0.3, name="log_rate")
EARLY
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        LATE
        loss = tf.reduce_sum((w * x / rate) ** 2)
    return tape.gradient(loss, [w, log_rate])
step(tf.ones(3))
"""
MEMBERS = """
def make():
    return keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(3), keras.layers.Dense(1)])
class Ensemble(keras.Model):
    def __init__(self, size):
        super().__init__()
        self.members = MADE
    def call(self, x):
        members = self.members.values() if isinstance(self.members, dict) else self.members
        return sum(member(x) for member in members) / 3.0
model = Ensemble(3)
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
"""
HOLDING = """
class Scales:
    def __init__(self):
        self.scale = tf.Variable(2.0, name="scale")
class Net(BASE):
    def __init__(self):
        super().__init__()
        self.own = tf.Variable(1.0, name="own") if OWN else None
        self.parts = [PART]
    def __call__(self, x):
        y = self.parts[0].scale * x if PLAIN else self.parts[0](x)
        return y * self.own if OWN else y
net = Net()
x = tf.ones((4, 2))
net(x)
DECORATED
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(x) ** 2)
    variables = LISTED
    for g, v in zip(tape.gradient(loss, variables), variables):
        v.assign_sub(0.1 * g)
for _ in range(3):
    step()
"""


def holding(own: bool, plain: bool, listed: str = "net.trainable_variables", decorated: str = "") -> str:
    words = {"OWN": str(own), "PLAIN": str(plain), "LISTED": listed, "DECORATED": decorated, "BASE": "tf.Module"}
    words["PART"] = "Scales()" if plain else "keras.layers.Dense(1)"
    program = HOLDING
    for word, value in words.items():
        program = program.replace(word, value)
    return program


MEANS = """
optimizer = keras.optimizers.SGD(0.1)
def loss_of(x):
    return tf.reduce_mean((w - x) ** 2) / 2.0
for _ in range(3):
    total = tf.zeros(3)
    for x in (1.0, 2.0):
        with tf.GradientTape() as tape:
            loss = loss_of(x)
        total = total + tape.gradient(loss, w)
    optimizer.apply_gradients([(MEAN, w)])
"""
WEIGHED = """
class Weighed(keras.Model):
    def __init__(self):
        super().__init__()
        self.line = keras.layers.Dense(1)
    def call(self, x):
        return self.line(x)
    def train_step(self, data):
        x, y, weights = data
        with tf.GradientTape() as tape:
            losses = keras.losses.mean_squared_error(y, self(x, training=True))
            loss = tf.reduce_mean(PRODUCT)
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return {"loss": loss}
model = Weighed()
model.compile(keras.optimizers.SGD(0.1))
x = np.linspace(-1.0, 1.0, 10, dtype="float32")[:, None]
model.fit(tf.data.Dataset.from_tensor_slices((x, 2.0 * x, x * x)).batch(5), shuffle=False, verbose=0)
"""
PROGRAMS = {
    "a column of weights times a row of losses": (
        WEIGHED.replace("PRODUCT", "weights * losses"),
        WEIGHED.replace("PRODUCT", "weights[:, 0] * losses"),
        ("loss-shape-broadcast", "weights * losses"),
    ),
    "a row of losses over a column of norms": (
        WEIGHED.replace("PRODUCT", "losses / (1.0 + weights)"),
        WEIGHED.replace("PRODUCT", "losses[:, None] * losses"),
        ("loss-shape-broadcast", "losses / (1.0 + weights)"),
    ),
    "a loss divided, and the sum of the gradients too": (
        MEANS.replace("MEAN", "total / 2.0"),
        MEANS.replace("MEAN", "total"),
        ("accumulation-averaged-twice", "total / 2.0"),
    ),
    "a tf.Module that holds a Keras layer": (
        holding(own=False, plain=False),
        holding(own=False, plain=False, listed="net.parts[0].trainable_variables"),
        ("untracked-variable", "net.trainable_variables"),
    ),
    "a compiled step of a tf.Module that holds a Keras layer": (
        holding(own=False, plain=False, decorated="@tf.function"),
        holding(own=False, plain=False, decorated="@tf.function", listed="net.parts[0].trainable_variables"),
        ("untracked-variable", "net.trainable_variables"),
    ),
    "a tf.Module that holds a Keras layer beside a variable of its own": (
        holding(own=True, plain=False),
        holding(own=True, plain=False, listed="[*net.trainable_variables, *net.parts[0].trainable_variables]"),
        ("untracked-variable", "net.trainable_variables"),
    ),
    "a tf.Module that holds a variable in a plain object": (
        holding(own=True, plain=True),
        holding(own=True, plain=True, listed="[*net.trainable_variables, net.parts[0].scale]"),
        ("untracked-variable", "net.trainable_variables"),
    ),
    "a multiplied list around a function that makes a network": (
        MEMBERS.replace("MADE", "[make()] * size"),
        MEMBERS.replace("MADE", "[make() for _ in range(size)]"),
        ("aliased-network", "[make()] * size"),
    ),
    "a dict that gives all its keys one network": (
        MEMBERS.replace("MADE", "dict.fromkeys('abc', make())"),
        MEMBERS.replace("MADE", "{name: make() for name in 'abc'}"),
        ("aliased-network", "dict.fromkeys('abc', make())"),
    ),
    "a list of variables that was read before the module made more": (
        GROWING.replace("READ", "listed"),
        GROWING.replace("READ", "model.trainable_variables"),
        ("unbuilt-model", "model.trainable_variables"),
    ),
    "weights copied between two models of the same layers": (
        TWO_NETWORKS.replace("MADE", "keras.Model(x, y)"),
        TWO_NETWORKS.replace("MADE", "keras.models.clone_model(online)"),
        ("aliased-network", "keras.Model(x, y)"),
    ),
    "a model thawed around a part that stays frozen": (
        THAWED.replace("THAW", "model.trainable = True"),
        THAWED.replace("THAW", "inner.trainable = True"),
        ("frozen-by-flag", "model.trainable"),
    ),
    "a variable of which only a computed value is kept": (
        KEPT.replace("MADE", "self.scale = tf.exp(tf.Variable(0.5, name='raw'))").replace("USED", "self.scale"),
        KEPT.replace("MADE", "self.raw = self.add_weight(shape=(), name='raw')").replace("USED", "tf.exp(self.raw)"),
        ("untracked-variable", "tf.Variable(0.5, name='raw')"),
    ),
    "two factors that are zero": (
        FACTORS.replace("START", "tf.zeros((2, 1))"),
        FACTORS.replace("START", "tf.ones((2, 1))"),
        ("zero-gradient-op", "tf.ones((1, 3)) @ down @ up"),
    ),
    "a softmax over one unit": (
        SOFTMAX.replace("UNITS", "1"),
        SOFTMAX.replace("UNITS", "2"),
        ("zero-gradient-op", "tf.nn.softmax(scores)"),
    ),
    "a traced step that keeps the old network": (
        REPLACED.replace("FRESH", "False"),
        REPLACED.replace("FRESH", "True"),
        ("optimizer-variable-mismatch", "self.net"),
    ),
    "a small value computed before the traced step": (
        SMALL.replace("EARLY", "rate = tf.exp(log_rate)").replace("LATE", "pass"),
        SMALL.replace("EARLY", "").replace("LATE", "rate = tf.exp(log_rate)"),
        ("outside-tape", "tf.exp(log_rate)"),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_mistake_is_found_and_its_mended_twin_is_not(name: str, loud: Any) -> None:
    wrong, right, expected = PROGRAMS[name]

    assert loud(wrong) == [expected]
    assert loud(right) == []


def test_an_inner_gradient_outside_the_outer_tape_is_shown_itself(loud: Any) -> None:
    found = loud("""
weight = tf.Variable(2.0, name="weight")
with tf.GradientTape(persistent=True) as inner:
    part = weight * tf.reduce_sum(w**2)
slopes = [inner.gradient(part, w) for _ in range(2)]
with tf.GradientTape() as outer:
    loss = tf.reduce_sum(slopes[0] ** 2 + slopes[1])
outer.gradient(loss, weight)
""")

    assert found == [("outside-tape", "inner.gradient(part, w)")]


def test_a_symbolic_tensor_given_to_a_tape_is_named(loud: Any) -> None:
    found = loud("""
model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
with tf.GradientTape() as tape:
    tape.watch(model.inputs)
""")

    assert found == [("wrong-source-object", "tape.watch(model.inputs)")]


def test_a_weight_that_a_loop_reads_in_vain_is_not_in_the_loss(loud: Any) -> None:
    found = loud("""
unused = tf.Variable(1.0, name="unused")
@tf.function
def step():
    with tf.GradientTape() as tape:
        total = w
        for _ in tf.range(3):
            spare = total * unused
            total = total * 1.5
        loss = tf.reduce_sum(total)
    return tape.gradient(loss, [w, unused])
for _ in range(20):
    step()
""")

    assert [rule for rule, _ in found] == ["variable-not-in-loss"]


def test_a_loss_that_a_dataset_adds_up_is_cut_at_the_dataset(loud: Any) -> None:
    found = loud("""
rows = tf.data.Dataset.from_tensor_slices([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = rows.reduce(0.0, lambda total, row: total + tf.reduce_sum(w) * row)
tape.gradient(loss, w)
""")

    assert found == [
        ("state-boundary", "rows.reduce(0.0, lambda total, row: total + tf.reduce_sum(w) * row)"),
    ]


def test_what_is_computed_once_while_a_layer_is_built_is_shown_there(loud: Any) -> None:
    found = loud("""
class Mixed(keras.layers.Layer):
    def build(self, shape):
        self.one = self.add_weight(shape=(2, 2), name="one")
        self.mixed = self.one * 2.0
    def call(self, x):
        return x @ self.mixed
model = keras.Sequential([keras.layers.Input((2,)), Mixed(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
""")

    assert found == [("outside-tape", "self.one * 2.0")]


def test_a_gradient_that_a_custom_function_withholds_is_shown_at_its_return(loud: Any) -> None:
    found = loud("""
@tf.custom_gradient
def scaled(x, factor):
    def back(upstream):
        return upstream * factor, None
    return x * factor, back
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(scaled(tf.ones_like(w), w * 1.0))
tape.gradient(loss, w)
""")

    assert found == [("custom-gradient", "return upstream * factor, None")]


@pytest.mark.parametrize(("other", "rules"), [("used", []), ("tf.identity(x)", ["variable-not-in-loss"])])
def test_a_weight_of_a_layer_that_fit_never_uses_is_shown_where_it_is_made(loud: Any, other: str, rules: Any) -> None:
    found = loud(f"""
class Half(keras.layers.Layer):
    def build(self, shape):
        self.spare = self.add_weight(shape=(2, 2), name="spare")
    def call(self, x):
        used = x @ self.spare if {other!r} == "used" else x
        return {other}
model = keras.Sequential([keras.layers.Input((2,)), Half(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
""")

    assert found == [(rule, 'self.add_weight(shape=(2, 2), name="spare")') for rule in rules]


@pytest.mark.parametrize(("built", "rules"), [("online(x), target(x)", []), ("pass", ["unbuilt-model"])])
def test_weights_copied_before_there_are_any_are_told(loud: Any, built: str, rules: list[str]) -> None:
    found = loud(f"""
x = tf.ones((4, 2))
online, target = (keras.Sequential([keras.layers.Dense(1)]) for _ in range(2))
{built}
target.set_weights(online.get_weights())
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(online(x) - target(x) - 1.0))
    for v, g in zip(online.trainable_variables, tape.gradient(loss, online.trainable_variables)):
        v.assign_sub(0.1 * g)
""")

    assert found == [(rule, "target.set_weights(online.get_weights())") for rule in rules]


def test_a_traced_op_is_asked_which_of_its_inputs_it_gives_a_gradient(loud: Any) -> None:
    found = loud("""
shift = tf.Variable([[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]], name="shift")
image = tf.ones((1, 4, 4, 1))
@tf.function
def step():
    with tf.GradientTape() as tape:
        warped = keras.ops.image.affine_transform(image, shift)
        loss = tf.reduce_sum(tf.square(warped))
    return tape.gradient(loss, shift)
step(), step()
""")

    assert found == [("non-differentiable-op", "keras.ops.image.affine_transform(image, shift)")]


def test_a_gradient_asked_for_copies_of_weights_is_told(loud: Any) -> None:
    found = loud("""
model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
weights = model.get_weights()
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(tf.ones((4, 2))))
tape.gradient(loss, weights)
""")

    assert found == [("wrong-source-object", "tape.gradient(loss, weights)")]


def test_a_weight_that_a_layer_makes_in_every_call_is_told(loud: Any) -> None:
    found = loud("""
class Mixing(keras.layers.Layer):
    def call(self, x):
        return x @ self.add_weight(shape=(2, 2), name="mix")
model = keras.Sequential([Mixing(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
""")

    assert found == [("variable-recreated", 'self.add_weight(shape=(2, 2), name="mix")')]


def test_a_loss_that_is_a_constant_in_the_step_that_fails_is_told(loud: Any) -> None:
    found = loud("""
optimizer = keras.optimizers.SGD(0.1)
def loss_of(count):
    return tf.reduce_sum(tf.square(w)) / count if count else tf.constant(0.0)
for count in (2, 1, 0):
    with tf.GradientTape() as tape:
        loss = loss_of(int(tf.constant(count)))
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
""")

    assert found == [("constant-target", "tape.gradient(loss, [w])")]


@pytest.mark.parametrize(("again", "found"), [("model.compile('sgd', 'mse')", 0), ("pass", 1)])
def test_layers_that_came_after_the_compiled_step_are_told(loud: Any, again: str, found: int) -> None:
    told = loud(f"""
x = np.ones((8, 2), "float32")
model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(2), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, x[:, :1], verbose=0)
model.pop()
model.add(keras.layers.Dense(1, name="late"))
{again}
model.fit(x, x[:, :1], verbose=0, epochs=2)
""")

    assert told == [("optimizer-variable-mismatch", "model.fit(x, x[:, :1], verbose=0, epochs=2)")] * found


@pytest.mark.parametrize(("added", "found"), [(" + sum(self.losses)", 0), ("", 1)])
def test_penalties_that_a_loss_of_ones_own_forgets_are_told(loud: Any, added: str, found: int) -> None:
    told = loud(f"""
class Own(keras.Model):
    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        return keras.ops.mean((y - y_pred) ** 2){added}
inputs = keras.Input((2,))
model = Own(inputs, keras.layers.Dense(1, kernel_regularizer="l2")(inputs))
model.compile("sgd")
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
""")

    assert [rule for rule, _ in told] == ["missing-loss-term"] * found


def test_a_flag_that_comes_after_the_step_was_traced_is_told_where_it_is_set(loud: Any) -> None:
    told = loud("""
model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(2), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - 1.0) ** 2)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
for turn in range(6):
    if turn == 3:
        model.layers[0].trainable = False
    step(tf.ones((4, 2)))
""")

    assert told == [("frozen-by-flag", "model.layers[0].trainable")]


def test_a_bias_that_two_towers_share_cancels_out_in_peace(loud: Any) -> None:
    told = loud("""
tower = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(2)])
a, b = tf.random.normal((8, 2), seed=1), tf.random.normal((8, 2), seed=2)
optimizer = keras.optimizers.SGD(0.1)
for _ in range(12):
    with tf.GradientTape() as tape:
        squares = tf.reduce_sum((tower(a) - tower(b)) ** 2, axis=1)
        loss = tf.reduce_mean(tf.sqrt(tf.maximum(squares, 1e-7)))
    variables = tower.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
""")

    assert told == []


def test_a_model_and_a_compiled_step_for_every_fold_are_no_variables_made_anew(loud: Any) -> None:
    told = loud("""
def step_of(model, optimizer):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - 1.0) ** 2)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return step
for fold in range(4):
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam(0.1)
    optimizer.build(model.trainable_variables)
    step = step_of(model, optimizer)
    for _ in range(5):
        step(tf.ones((4, 2)))
""")

    assert told == []


def test_a_layer_inside_a_model_is_shown_where_it_was_made(loud: Any) -> None:
    told = loud("""
model = keras.Sequential([
    keras.layers.Input((2,)), keras.layers.Dense(3), keras.layers.Lambda(tf.round), keras.layers.Dense(1)])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(tf.ones((4, 2))) ** 2)
tape.gradient(loss, model.trainable_variables)
""")

    assert told == [("non-differentiable-op", "keras.layers.Lambda(tf.round)")]


def test_a_parameter_that_becomes_an_array_is_a_way_out(loud: Any) -> None:
    told = loud("""
def total(values):
    values = keras.ops.convert_to_numpy(values)
    return keras.ops.convert_to_tensor(values.sum())
with tf.GradientTape() as tape:
    loss = total(w * 2.0)
tape.gradient(loss, w)
""")

    assert [rule for rule, _ in told] == ["numpy-escape"]


def test_one_network_under_two_names_is_found_after_it_is_gone(loud: Any) -> None:
    found = loud("""
import gc
def train():
    online = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    target = online
    for _ in range(2):
        goal = 1.0 + 0.9 * target(tf.ones((4, 2)))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((online(tf.ones((4, 2))) - goal) ** 2)
        for g, v in zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables):
            v.assign_sub(0.1 * g)
train()
gc.collect()
""")

    assert found == [("aliased-network", "target = online")]
