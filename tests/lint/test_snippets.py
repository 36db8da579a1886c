"""Each static rule on a few lines that break it, and on look-alikes that do not."""

from __future__ import annotations

import textwrap

import pytest

from whygrad.diagnostics import Severity
from whygrad.lint.engine import check_text

HEAD = "import numpy as np\nimport tensorflow as tf\nimport keras\n"
NET = "net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(1)])\n"
STEP = """
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
"""


def loud(code: str) -> list[str]:
    """The rules that a program breaks, notes left out."""
    found = check_text("program.py", HEAD + textwrap.dedent(code))
    return [each.rule for each in found if each.severity > Severity.NOTE]


def line_of(code: str, rule: str) -> int:
    found = check_text("program.py", HEAD + textwrap.dedent(code))
    (primary,) = [each.primary for each in found if each.rule == rule]
    assert primary is not None
    return primary.span.line - HEAD.count("\n")


BROKEN = {
    "non-differentiable-op": f"""
        {NET}
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.cast(tf.argmax(net(tf.ones((2, 3))), -1), tf.float32))
        tape.gradient(loss, net.trainable_variables)
    """,
    "no-registered-gradient": """
        picture = tf.Variable(tf.ones((4, 4, 3)))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.image.adjust_contrast(picture, 0.5))
        tape.gradient(loss, picture)
    """,
    "stop-gradient": """
        a, b = tf.Variable(1.0), tf.Variable(2.0)
        with tf.GradientTape() as tape:
            loss = tf.stop_gradient(a) * b
        tape.gradient(loss, [a, b])
    """,
    "numpy-escape": """
        w = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            loss = tf.constant(np.sin(w.numpy())) * 2.0
        tape.gradient(loss, w)
    """,
    "outside-tape": f"""
        {NET}
        with tf.GradientTape() as tape:
            out = net(tf.ones((2, 3)))
        loss = tf.reduce_mean(out)
        tape.gradient(loss, net.trainable_variables)
    """,
    "non-reparameterised-sample": """
        logits = tf.Variable([[0.1, 0.2]])
        with tf.GradientTape() as tape:
            arm = tf.random.categorical(logits, 8)
            loss = -tf.reduce_mean(tf.gather(tf.constant([1.0, 2.0]), arm))
        tape.gradient(loss, logits)
    """,
    "variable-not-in-loss": """
        a, b = tf.Variable(1.0), tf.Variable(2.0)
        with tf.GradientTape() as tape:
            loss = a * a
        tape.gradient(loss, [a, b])
    """,
    "unwatched-source": """
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
    """,
    "wrong-source-object": """
        table = tf.Variable(tf.ones((4, 3)))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(table[2] * 2.0)
        tape.gradient(loss, table[2])
    """,
    "int-variable": """
        n = tf.Variable(3)
        with tf.GradientTape() as tape:
            loss = tf.cast(n, tf.float32) * 2.0
        tape.gradient(loss, n)
    """,
    "assign-breaks-gradient": """
        slow, fast = tf.Variable(0.0), tf.Variable(0.0)
        with tf.GradientTape() as tape:
            fast.assign(slow * 2.0)
            loss = fast * fast
        tape.gradient(loss, slow)
    """,
    "tape-not-persistent": """
        w = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            a, b = w * w, w + 1.0
        tape.gradient(a, w)
        tape.gradient(b, w)
    """,
    "tensorarray-not-stacked": """
        w = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            states = tf.TensorArray(tf.float32, 1)
            states = states.write(0, w * 2.0)
        tape.gradient(states, w)
    """,
    "untracked-variable": """
        class Scale(keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.factor = tf.Variable(1.0)

            def call(self, x):
                return x * self.factor
    """,
    "unbuilt-model": """
        net = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
        weights = net.trainable_variables
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(net(tf.ones((2, 3))))
        tape.gradient(loss, weights)
    """,
    "variable-recreated": """
        class Mix(keras.layers.Layer):
            def call(self, x):
                return keras.layers.Dense(4)(x)
    """,
    "variable-created-in-tf-function": """
        @tf.function
        def step(x):
            w = tf.Variable(1.0)
            return w * x
    """,
    "misrouted-gradient": """
        a, b = tf.Variable(1.0), tf.Variable(2.0)
        with tf.GradientTape() as tape:
            loss = a * b
        da, db = tape.gradient(loss, [a, b])
        keras.optimizers.SGD().apply_gradients([(db, a), (da, b)])
    """,
    "aliased-network": f"""
        {NET}
        target_net = net
    """,
    "optimizer-recreated": f"""
        {NET}
        for x in tf.data.Dataset.range(3):
            opt = keras.optimizers.Adam(0.1)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(net(tf.ones((2, 3))))
            opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    """,
    "variable-rebound": """
        w = tf.Variable(1.0)
        for step in range(9):
            with tf.GradientTape() as tape:
                loss = w * w
            w = w - 0.1 * tape.gradient(loss, w)
    """,
    "assign-between-forward-and-gradient": """
        w = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            loss = w * w
            w.assign_add(1.0)
        tape.gradient(loss, w)
    """,
    "python-state-in-graph": """
        @tf.function
        def noisy(x):
            return x + np.random.normal(size=3)
    """,
    "loss-arguments-swapped": f"""
        {NET}
        labels = tf.one_hot(tf.constant([0, 1]), 4)
        loss = tf.nn.softmax_cross_entropy_with_logits(net(tf.ones((2, 3))), labels)
    """,
    "no-loss": f"""
        {NET}
        net.compile(optimizer="adam")
        net.fit(np.ones((4, 3)), np.ones((4, 1)))
    """,
    "training-flag": """
        net = keras.Sequential([keras.Input((3,)), keras.layers.Dropout(0.5), keras.layers.Dense(1)])
        opt = keras.optimizers.SGD()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(net(tf.ones((2, 3))))
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    """,
    "missing-loss-term": """
        net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, kernel_regularizer="l2")])
        opt = keras.optimizers.SGD()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(net(tf.ones((2, 3))))
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    """,
    "keras3-api-change": """
        opt = keras.optimizers.Adam(lr=0.1)
    """,
    "sampling-noise-unused": """
        class Sample(keras.layers.Layer):
            def call(self, pair):
                mean, spread = pair
                noise = keras.random.normal(keras.ops.shape(mean))
                return mean + spread
    """,
    "zero-gradient-op": """
        cut = tf.Variable(0.3)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sign(tf.constant([0.1, 0.5]) - cut))
        tape.gradient(loss, cut)
    """,
    "nan-log": """
        logits = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            p = tf.nn.softmax(logits)
            loss = -tf.reduce_sum(p * tf.math.log(p))
        tape.gradient(loss, logits)
    """,
    "nan-where": """
        x = tf.Variable([-1.0, 2.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.where(x > 0, tf.math.log(x), 0.0))
        tape.gradient(loss, x)
    """,
    "nan-optimizer": """
        opt = keras.optimizers.Adam(0.1, epsilon=0.0)
    """,
    "accumulation-no-averaging": f"""
        {NET}
        opt = keras.optimizers.SGD()
        total = [tf.zeros_like(v) for v in net.trainable_variables]
        for x in tf.data.Dataset.range(4):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(net(tf.ones((2, 3))))
            total = [t + g for t, g in zip(total, tape.gradient(loss, net.trainable_variables))]
        opt.apply_gradients(zip(total, net.trainable_variables))
    """,
    "accumulation-not-reset": """
        w = tf.Variable(1.0)
        slot = tf.Variable(0.0, trainable=False)
        opt = keras.optimizers.SGD()
        for step in range(8):
            with tf.GradientTape() as tape:
                loss = w * w / 4.0
            slot.assign_add(tape.gradient(loss, w))
            if step % 4 == 3:
                opt.apply_gradients([(slot, w)])
    """,
    "sigmoid-for-exclusive-classes": """
        net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="sigmoid")])
        net.compile("adam", loss="categorical_crossentropy")
        net.fit(np.ones((4, 3)), np.ones((4, 4)))
    """,
    "clip-unused": """
        w = tf.Variable([3.0, 4.0])
        opt = keras.optimizers.SGD(0.1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**4)
        grads = tape.gradient(loss, [w])
        opt.apply_gradients(zip(grads, [w]))
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
    """,
    "state-boundary": f"""
        {NET}
        codes = tf.data.Dataset.from_tensor_slices(net(tf.ones((8, 3)))).batch(4)
        for code in codes:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(code * code)
            tape.gradient(loss, net.trainable_variables)
    """,
    "one-unit-softmax": """
        head = keras.layers.Dense(1, activation="softmax")
    """,
    "not-a-probability": f"""
        {NET}
        loss = keras.losses.BinaryCrossentropy(from_logits=True)
        with tf.GradientTape() as tape:
            value = loss(tf.ones((2, 1)), tf.sigmoid(net(tf.ones((2, 3)))))
        tape.gradient(value, net.trainable_variables)
    """,
}


MORE = {
    "a watch that comes too late": (
        "unwatched-source",
        """
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = x * x
            tape.watch(x)
        tape.gradient(y, x)
        """,
    ),
    "a list of gradients that is clipped after the update": (
        "clip-unused",
        f"""
        {NET}
        opt = keras.optimizers.SGD()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(net(tf.ones((2, 3))))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        grads = [tf.clip_by_value(g, -1.0, 1.0) for g in grads]
        """,
    ),
    "a list of weights that is multiplied": (
        "variable-rebound",
        f"""
        {NET}
        weights = net.get_weights()
        weights *= 2
        net.set_weights(weights)
        """,
    ),
    "a list of variables that is multiplied": (
        "variable-rebound",
        f"""
        {NET}
        weights = net.trainable_variables
        weights *= 2
        """,
    ),
    "a division by a rectified value": (
        "nan-division",
        """
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(1.0 / tf.nn.relu(x))
        tape.gradient(loss, x)
        """,
    ),
    "a last activation that gives no probabilities": (
        "not-a-probability",
        """
        net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="tanh")])
        net.compile("adam", loss="binary_crossentropy")
        net.fit(np.ones((4, 3)), np.ones((4, 1)))
        """,
    ),
    "a variable that a loop makes": (
        "variable-recreated",
        """
        opt = keras.optimizers.SGD()
        for step in range(9):
            w = tf.Variable(1.0)
            with tf.GradientTape() as tape:
                loss = w * w
            opt.apply_gradients([(tape.gradient(loss, w), w)])
        """,
    ),
    "a prediction between tape and loss": (
        "numpy-escape",
        f"""
        {NET}
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(net.predict(tf.ones((2, 3))))
        tape.gradient(loss, net.trainable_variables)
        """,
    ),
    "a whole loss that is stopped": (
        "stop-gradient",
        f"""
        {NET}
        with tf.GradientTape() as tape:
            loss = tf.stop_gradient(tf.reduce_mean(net(tf.ones((2, 3)))))
        tape.gradient(loss, net.trainable_variables)
        """,
    ),
    "plain numbers for probabilities": (
        "not-a-probability",
        """
        net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)])
        net.compile("adam", loss=keras.losses.SparseCategoricalCrossentropy())
        net.fit(np.ones((4, 3)), np.ones((4,)))
        """,
    ),
    "a result of an assignment in the loss": (
        "assign-breaks-gradient",
        """
        v, w = tf.Variable(1.0), tf.Variable(2.0)
        with tf.GradientTape() as tape:
            loss = w.assign(v * 2.0) ** 2
        tape.gradient(loss, v)
        """,
    ),
    "a norm of a distance to itself": (
        "nan-norm",
        """
        points = tf.Variable(tf.ones((4, 3)))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.norm(points[:, None] - points[None], axis=-1))
        tape.gradient(loss, points)
        """,
    ),
}


@pytest.mark.parametrize("name", MORE)
def test_fires_on(name: str) -> None:
    rule, code = MORE[name]

    assert loud(_flush(code)) == [rule]


@pytest.mark.parametrize("rule", BROKEN)
def test_fires_on_a_program_that_breaks_the_rule(rule: str) -> None:
    assert loud(_flush(BROKEN[rule])) == [rule]


def _flush(code: str) -> str:
    """The program at the left margin, also where a line of it was put in from elsewhere."""
    lines = code.split("\n")
    return "\n".join(line[8:] if line.startswith("        ") else line for line in lines)


HEALTHY = {
    "lists that are scaled entry by entry, and numbers": f"""
        {NET}
        weights = [each * 2 for each in net.get_weights()]
        net.set_weights(weights)
        rate = 0.1
        rate *= 2
        zeros = [0.0]
        zeros *= 4
    """,
    "divisions by what is never zero": """
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(1.0 / (tf.nn.relu(x) + 1e-6)) + tf.reduce_sum(1.0 / tf.maximum(x, 0.1))
        tape.gradient(loss, x)
    """,
    "an activation on top of one": """
        net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="gelu")])
        with tf.GradientTape() as tape:
            loss = keras.losses.BinaryCrossentropy()(tf.ones((2, 1)), tf.sigmoid(net(tf.ones((2, 3)))))
        tape.gradient(loss, net.trainable_variables)
    """,
    "gradients that are clipped in a list, and applied": f"""
        {NET}
        opt = keras.optimizers.SGD()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(net(tf.ones((2, 3))))
        grads = tape.gradient(loss, net.trainable_variables)
        grads = [tf.clip_by_value(g, -1.0, 1.0) for g in grads]
        opt.apply_gradients(zip(grads, net.trainable_variables))
    """,
    "a straight-through estimator": """
        w = tf.Variable([0.2, 0.7])
        with tf.GradientTape() as tape:
            hard = w + tf.stop_gradient(tf.round(w) - w)
            loss = tf.reduce_sum(hard)
        tape.gradient(loss, w)
    """,
    "a metric beside the loss": f"""
        {NET}
        with tf.GradientTape() as tape:
            out = net(tf.ones((2, 3)))
            loss = tf.reduce_mean(out)
        hits = tf.reduce_mean(tf.cast(out > 0.5, tf.float32)).numpy()
        tape.gradient(loss, net.trainable_variables)
    """,
    "targets of another network": f"""
        {NET}
        other = keras.models.clone_model(net)
        goal = other(tf.ones((2, 3)))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(tf.ones((2, 3))) - goal) ** 2)
        tape.gradient(loss, net.trainable_variables)
    """,
    "one gradient in each branch": """
        w = tf.Variable(1.0)
        def step(flag):
            with tf.GradientTape() as tape:
                loss = w * w
            if flag:
                return tape.gradient(loss, w)
            return tape.gradient(loss, [w])
        step(True)
    """,
    "a watched tensor": """
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        tape.gradient(y, x)
    """,
    "a variable that is made once": """
        class Scale(keras.layers.Layer):
            def build(self, shape):
                self.factor = self.add_weight(shape=(), initializer="ones")

            def call(self, x):
                return x * self.factor
    """,
    "a plain variable in a module": """
        class Scale(tf.Module):
            def __init__(self):
                self.factor = tf.Variable(1.0)

            def __call__(self, x):
                return x * self.factor
    """,
    "a plain variable in a layer of Keras 2": """
        import tf_keras
        class Scale(tf_keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.factor = tf.Variable(1.0)

            def call(self, x):
                return x * self.factor
    """,
    "an optimizer for each experiment": f"""
        {NET}
        for rate in (0.1, 0.01):
            opt = keras.optimizers.Adam(rate)
            for step in range(9):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(net(tf.ones((2, 3))))
                opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    """,
    "a picture made a variable for each optimisation": f"""
        {NET}
        opt = keras.optimizers.SGD()
        for picture in tf.data.Dataset.range(3):
            x = tf.Variable(tf.ones((2, 3)))
            for step in range(9):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(net(x))
                opt.apply_gradients([(tape.gradient(loss, x), x)])
    """,
    "logs and roots that are kept away from zero": """
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            p = tf.nn.softmax(x)
            loss = -tf.reduce_sum(p * tf.math.log(p + 1e-8)) + tf.sqrt(tf.reduce_sum(x * x) + 1e-8)
            safe = tf.where(x > 0, x, 1.0)
            loss += tf.reduce_sum(tf.where(x > 0, tf.math.log(safe), 0.0))
        tape.gradient(loss, x)
    """,
    "labels that a network makes on purpose": f"""
        {NET}
        teacher = keras.models.clone_model(net)
        loss = keras.losses.CategoricalCrossentropy(from_logits=True)(teacher(tf.ones((2, 3))), net(tf.ones((2, 3))))
    """,
    "a model that says what mode it is in": """
        net = keras.Sequential([keras.Input((3,)), keras.layers.Dropout(0.5), keras.layers.Dense(1)])
        opt = keras.optimizers.SGD()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(net(tf.ones((2, 3)), training=True))
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    """,
    "functions that nothing is known of": """
        def step(model, loss_fn, optimizer, x, y):
            with tf.GradientTape() as tape:
                loss = loss_fn(y, model(x))
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
            return loss
    """,
    "names that are asked for first": """
        if hasattr(tf, "log"):
            value = tf.log(1.0)
        try:
            from keras.backend import dot
        except ImportError:
            dot = None
        try:
            either = tf.compat.v1
        except AttributeError:
            either = tf
        found = either.trainable_variables()
        def old(x):
            try:
                tf.contrib.layers.flatten
            except AttributeError:
                return x
            return tf.contrib.layers.flatten(x)
        @unittest.run_v1_only("sessions")
        def test_session():
            tf.Session()
        def older(x):
            if tf.__version__ >= "2":
                return x
            return tf.random_uniform(x)
    """,
    "old functions of the compatibility module": """
        import tensorflow.compat.v1 as tf1
        x = tf1.placeholder(tf1.float32)
        y = tf.compat.v1.log(x)
        z = tf.keras.backend.mean(x)
    """,
    "losses that get what they are told to expect": """
        net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
        net.compile("adam", loss=keras.losses.BinaryCrossentropy(from_logits=True))
        net.fit(np.ones((4, 3)), np.ones((4, 1)))
        end = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="sigmoid")])
        end.compile("adam", loss="binary_crossentropy")
        end.fit(np.ones((4, 3)), np.ones((4, 1)))
    """,
    "clipping that counts, and a norm that is only looked at": """
        w = tf.Variable([3.0, 4.0])
        opt = keras.optimizers.SGD(0.1)
        for step in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(w**4)
            grads = tape.gradient(loss, [w])
            _, norm = tf.clip_by_global_norm(grads, 1.0)
            opt.apply_gradients(zip(grads, [w]))
            print(norm)
    """,
    "a gradient of one's own": """
        @tf.custom_gradient
        def hard(x):
            return tf.round(x), lambda dy: dy
        w = tf.Variable(0.3)
        with tf.GradientTape() as tape:
            loss = hard(w) * 2.0
        tape.gradient(loss, w)
    """,
}


@pytest.mark.parametrize("name", HEALTHY)
def test_silent_on(name: str) -> None:
    assert loud(_flush(HEALTHY[name])) == []


def test_points_at_the_call_under_the_open_tape_not_into_the_function_that_it_calls() -> None:
    code = """
        x = tf.constant([1.0])
        def energy(q):
            return tf.reduce_sum(q * q)
        with tf.GradientTape() as tape:
            tape.watch(x)
        force = tape.gradient(energy(x), x)
    """

    assert line_of(code, "outside-tape") == 7


def test_points_at_the_step_from_tensor_to_array_not_at_what_follows() -> None:
    code = """
        w = tf.Variable([1.0, 2.0])
        def spread(t):
            values = t.numpy()
            return np.std(values)
        with tf.GradientTape() as tape:
            loss = tf.constant(spread(w)) + 1.0
        tape.gradient(loss, w)
    """

    assert line_of(code, "numpy-escape") == 4


def test_names_the_cut_that_would_bring_the_gradient_back() -> None:
    code = """
        w = tf.Variable([1.0, 2.0])
        before = w * 2.0
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(before * tf.stop_gradient(before))
        tape.gradient(loss, w)
    """

    assert loud(code) == ["outside-tape"]


def test_advice_is_in_the_words_of_the_framework() -> None:
    (found,) = check_text("program.py", HEAD + _flush(BROKEN["stop-gradient"]))

    assert "tf.stop_gradient" in found.message
    assert found.help is not None
    assert "⟦" not in found.help + found.message


def test_silent_where_a_watched_tensor_was_computed_before_the_tape() -> None:
    code = """
        x = tf.constant([1.0, 2.0]) * 3.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.where(x > 0.0, x * x, 0.0)
        tape.gradient(y, x)
    """

    assert loud(code) == []


def test_silent_where_a_method_called_predict_may_be_anybodys() -> None:
    code = """
        def score(model, points):
            with tf.GradientTape() as tape:
                tape.watch(points)
                mean, _ = model.predict(points)
            return tape.gradient(mean, points)
    """

    assert loud(code) == []


def test_silent_where_an_attribute_is_of_what_an_unknown_function_gave() -> None:
    code = """
        def step(unroll, critic, states):
            with tf.GradientTape() as tape:
                out = unroll(critic, states)
                loss = tf.reduce_mean((tf.stop_gradient(critic(states)) - out.values) ** 2)
            return tape.gradient(loss, critic.trainable_variables)
    """

    assert loud(code) == []


def test_silent_where_a_block_is_lifted_out_of_the_trace() -> None:
    code = """
        @tf.function
        def step(x):
            with tf.init_scope():
                seen = keras.metrics.Mean()
            return x
    """

    assert loud(code) == []


NOTES = {
    "tape-kept": """
        w = tf.Variable(1.0)
        with tf.GradientTape(persistent=True) as tape:
            a, b = w * w, w + 1.0
        tape.gradient(a, w), tape.gradient(b, w)
    """,
    "gradient-inside-tape": """
        w = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            loss = w * w
            grad = tape.gradient(loss, w)
    """,
    "sum-by-concatenation": """
        a, b = tf.Variable([1.0]), tf.Variable([2.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(a * b)
        grads = tape.gradient(loss, [a, b])
        norm = tf.norm(tf.concat([tf.reshape(g, [-1]) for g in grads], axis=0))
    """,
    "stack-without-activation": """
        net = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
    """,
}


@pytest.mark.parametrize("rule", NOTES)
def test_notes_what_is_worth_knowing(rule: str) -> None:
    found = check_text("program.py", HEAD + _flush(NOTES[rule]))

    assert [(each.rule, each.severity) for each in found] == [(rule, Severity.NOTE)]


def test_an_attribute_that_a_branch_sets_decides_nothing() -> None:
    code = """
        class Wrapper:
            def __init__(self, model):
                if "tensorflow" in str(type(model)):
                    self.old = True
                else:
                    self.old = False

            def step(self):
                if self.old:
                    import tensorflow.keras.backend as k
                else:
                    import keras.backend as k
                return k.mean(1.0)
    """

    assert loud(code) == []


@pytest.mark.parametrize(
    ("rule", "expression"),
    [
        *(
            ("non-differentiable-op", f"tf.cast({op}, tf.float32)")
            for op in ("tf.argmax(w)", "tf.argsort(w)", "w > 0.5")
        ),
        ("non-differentiable-op", "tf.round(w)"),
        ("non-differentiable-op", "tf.cast(tf.cast(w, tf.int32), tf.float32)"),
        *(("numpy-escape", f"tf.constant({left})") for left in ("w.numpy() * 2.0", "np.exp(w)", "float(w[0])")),
    ],
)
def test_fires_whatever_cuts_the_way(rule: str, expression: str) -> None:
    code = f"""
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum({expression})
        tape.gradient(loss, w)
    """

    assert loud(code) == [rule]
