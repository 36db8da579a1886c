"""Values, layers and results of objects at the time at which they are needed."""

from __future__ import annotations

from textwrap import dedent

import pytest

from fixes.rewritten import first, rewritten
from whygrad.fixes.owned import made_in_init, recomputed, result_used


def test_a_value_that_is_computed_once_becomes_a_property() -> None:
    code = """
        class Noisy(Layer):
            def build(self, shape):
                self.mu = self.add_weight(shape=shape)
                noise = tf.random.normal(shape)
                self.kernel = «self.mu + noise»  # once

            def call(self, x):
                return x @ self.kernel
    """
    after = """
        class Noisy(Layer):
            @property
            def kernel(self):
                return self.mu + self.noise

            def build(self, shape):
                self.mu = self.add_weight(shape=shape)
                self.noise = tf.random.normal(shape)

            def call(self, x):
                return x @ self.kernel
    """
    assert first(code, recomputed) == dedent(after).lstrip("\n")


@pytest.mark.parametrize(
    "body",
    [
        "def build(self, shape):\n        self.k = «tf.exp(shape)»\n        self.b = 0\n",
        "def build(self):\n        self.k = «tf.exp(self.w)»\n        self.b = 0\n    def f(self):\n        self.k = 1",
        "def build(self):\n        k = «tf.exp(self.w)»\n        self.b = 0\n",
    ],
)
def test_a_value_of_arguments_or_with_other_values_stays(body: str) -> None:
    assert rewritten(f"class Net:\n    {body}", recomputed) == []


def test_a_layer_that_is_made_in_call_is_made_in_init() -> None:
    code = """
        class Net(Model):
            def __init__(self, units):
                super().__init__()
                self.units = units

            def call(self, x):
                dense = «Dense(self.units)»
                return dense(x) + dense(x)
    """
    after = """
        class Net(Model):
            def __init__(self, units):
                super().__init__()
                self.units = units
                self.dense = Dense(self.units)

            def call(self, x):
                return self.dense(x) + self.dense(x)
    """
    assert first(code, made_in_init) == dedent(after).lstrip("\n")
    inline = code.replace("dense = «Dense(self.units)»\n", "pass\n").replace("dense(x) + dense(x)", "«Dense(4)»(x)")
    assert "return self.dense(x)" in first(inline, made_in_init)
    assert rewritten(code.replace("self.units)»", "x.shape[-1])»"), made_in_init) == []


def test_a_result_that_nobody_takes_is_handed_on() -> None:
    assert (
        first("def f(x):\n    «a(x)»\n    return b(x)\n", result_used) == "def f(x):\n    x = a(x)\n    return b(x)\n"
    )
    code = "def f(x):\n    h = «a(x)»\n    h = b(x) + x\n    return h\n"
    assert first(code, result_used) == "def f(x):\n    h = a(x)\n    h = b(h) + x\n    return h\n"
    assert rewritten("def f(x):\n    h = «a(x)»\n    return b(x) + h\n", result_used) == []
