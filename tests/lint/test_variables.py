"""Variables that a network does not know, and variables that a trace makes: what is said, and what is not."""

from __future__ import annotations

import textwrap

import pytest

from whygrad.diagnostics import Severity
from whygrad.lint.engine import check_text

HEAD = "import tensorflow as tf\nimport keras\nfrom keras import layers\n"
TRAINED = """
net = Net()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(net(tf.ones((4, 3))) ** 2)
grads = tape.gradient(loss, net.trainable_variables)
keras.optimizers.Adam().apply_gradients(zip(grads, net.trainable_variables))
"""


def found(code: str) -> list[tuple[str, int]]:
    told = check_text("program.py", HEAD + textwrap.dedent(code))
    loud = [each for each in told if each.severity > Severity.NOTE]
    return [(each.rule, each.primary.span.line - 3) for each in loud if each.primary is not None]


BLOCK = """
class Block{base}:
    def __init__(self):
        {init}self.dense = layers.Dense(8)
        self.scale = tf.Variable(1.0)

    def __call__(self, x):
        return self.dense(x) * self.scale
"""
NET = """
class Net({base}):
    def __init__(self):
        super().__init__()
        self.blocks = {held}
        self.out = layers.Dense(1)

    def {call}(self, x):
        return self.out(self.blocks[0](x))
"""


def test_fires_where_a_plain_object_holds_the_layers() -> None:
    program = BLOCK.format(base="", init="") + NET.format(base="keras.Model", held="[Block()]", call="call") + TRAINED

    assert found(program) == [("untracked-variable", 4)]


def test_fires_where_a_network_holds_a_module() -> None:
    block = BLOCK.format(base="(tf.Module)", init="super().__init__(); ")
    program = block + NET.format(base="keras.Model", held="[Block()]", call="call") + TRAINED

    assert found(program) == [("untracked-variable", 4)]


def test_fires_where_a_module_holds_layers_of_keras() -> None:
    program = NET.format(base="tf.Module", held="[layers.Dense(8)]", call="__call__") + TRAINED

    assert found(program) == [("untracked-variable", 5), ("untracked-variable", 6)]


def test_fires_where_an_activation_has_a_variable_of_its_own() -> None:
    program = """
        class Snake:
            def __init__(self):
                self.rate = tf.Variable(1.0)

            def __call__(self, x):
                return x + tf.sin(self.rate * x)

        net = keras.Sequential([keras.Input((1,)), layers.Dense(8, activation=Snake()), layers.Dense(1)])
        net.compile("adam", "mse")
        net.fit(tf.ones((4, 1)), tf.ones((4, 1)))
    """

    assert found(program) == [("untracked-variable", 4)]


@pytest.mark.parametrize("call", ["lambda x: inner(x)", "lambda x: tf.sin(inner(x))"])
def test_fires_where_a_lambda_calls_a_layer(call: str) -> None:
    program = f"""
        inner = layers.Dense(4)
        net = keras.Sequential([keras.Input((3,)), layers.Lambda({call}), layers.Dense(1)])
        net.compile("adam", "mse")
        net.fit(tf.ones((4, 3)), tf.ones((4, 1)))
    """

    assert found(program) == [("untracked-variable", 2)]


def test_fires_where_a_list_is_filled_after_the_network_copied_it() -> None:
    program = """
        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                self.stages = []
                for width in (8, 4):
                    stage = []
                    self.stages.append(stage)
                    stage.append(layers.Dense(width))
    """

    assert found(program) == [("untracked-variable", 9)]


@pytest.mark.parametrize(
    "program",
    [
        BLOCK.format(base="", init="")
        + NET.format(base="keras.Model", held="[Block()]", call="call")
        + TRAINED.replace("net.trainable_variables", "wanted").replace(
            "grads",
            "wanted = [*net.trainable_variables, *net.blocks[0].dense.variables, net.blocks[0].scale]\ngrads",
            1,
        ),
        BLOCK.format(base="(layers.Layer)", init="super().__init__(); ").replace(
            "tf.Variable(1.0)", "self.add_weight(shape=())"
        )
        + NET.format(base="keras.Model", held="[Block()]", call="call")
        + TRAINED,
        """
        class Share:
            def __init__(self, dense):
                self.dense = dense
            def __call__(self, x):
                return self.dense(x)

        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = layers.Dense(4)
                self.twice = Share(self.dense)
            def call(self, x):
                return self.twice(x)
        """
        + textwrap.indent(TRAINED, "        "),
        """
        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                blocks = []
                for _ in range(3):
                    blocks.append(layers.Dense(4))
                self.blocks = blocks
                self.more = {"a": [layers.Dense(1)]}
                self.more["b"] = layers.Dense(1)
                self.blocks.append(layers.Dense(1))
            def call(self, x):
                for block in self.blocks:
                    x = block(x)
                return self.more["a"][0](x) + self.more["b"](x)
        """
        + textwrap.indent(TRAINED, "        "),
        """
        inner = layers.Dense(4)
        net = keras.Sequential([keras.Input((3,)), inner, layers.Lambda(lambda x: inner(x)), layers.Dense(1)])
        net.compile("adam", "mse")
        net.fit(tf.ones((4, 3)), tf.ones((4, 1)))
        """,
    ],
    ids=["asked for by name", "a layer", "held elsewhere too", "containers", "a layer of the network in a lambda"],
)
def test_silent_where_the_variables_are_known(program: str) -> None:
    assert found(program) == []


@pytest.mark.parametrize("test", ["flag", "n % 2 == 0", "x is None or flag", "flag > 0.0"])
def test_fires_where_a_branch_of_a_traced_function_makes_a_variable(test: str) -> None:
    program = f"""
        @tf.function
        def step(x, n, flag):
            if {test}:
                w = tf.Variable(1.0)
                x = x * w
            return x
    """

    assert found(program) == [("variable-created-in-tf-function", 5)]


@pytest.mark.parametrize("test", ["self.w is None", "not self.made", "not hasattr(self, 'w')", "len(self.kept) == 0"])
@pytest.mark.parametrize("early", [False, True])
def test_silent_where_a_variable_is_made_in_the_first_call_only(test: str, early: bool) -> None:
    begin = f"if not ({test}):\n        return x * self.w\n    if True:" if early else f"if {test}:"
    program = f"""
class Scale(tf.Module):
  @tf.function
  def __call__(self, x):
    {begin}
        self.w = tf.Variable(1.0)
        self.made = True
    return x * self.w
"""

    assert found(program) == []


def test_silent_where_a_function_that_a_trace_calls_keeps_the_variable() -> None:
    program = """
        class Mean:
            def __init__(self):
                self.kept = None

            def initialize(self, x):
                self.kept = tf.Variable(x)

        mean = Mean()
        @tf.function
        def step(x):
            mean.initialize(x)
            return x
    """

    assert found(program) == []


def test_silent_where_a_global_holds_the_variable() -> None:
    program = """
        kept = None
        @tf.function
        def step(x):
            global kept
            if kept is None:
                kept = tf.Variable(1.0)
            return x * kept
    """

    assert found(program) == []
