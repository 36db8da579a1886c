"""Ways to a NaN or Inf: small programs, each with the expression that makes the first one.

The line to find ends in `#!`. Each program leaves in `bad` something that is not finite. `{step}` marks where a program
says how its step runs: as it is, compiled, or compiled by XLA.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

HEAD: Final = """
import numpy as np
import tensorflow as tf
import keras

"""


@dataclass(frozen=True)
class Way:
    name: str
    rule: str
    body: str
    severity: str = "error"

    @property
    def source(self) -> str:
        return HEAD.lstrip("\n") + self.body.strip("\n") + "\n"

    @property
    def lines(self) -> tuple[int, ...]:
        """Any of the lines that end in the mark."""
        return tuple(n for n, text in enumerate(self.source.splitlines(), 1) if text.endswith("#!"))


def loss_of(name: str, rule: str, variables: str, expression: str, setup: str = "") -> Way:
    """A way whose step is one tape around a few lines; `loss` is what they leave."""
    lines = "\n".join("    " + line for line in expression.strip("\n").splitlines())
    return Way(
        name,
        rule,
        f"{setup}\n{variables}\nwith tf.GradientTape() as tape:\n{lines}\n"
        "bad = [loss, *tape.gradient(loss, sources)]\n",
    )


EAGER: Final = (
    loss_of(
        "log of zero",
        "nan-log",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.math.log(x)) #!",
    ),
    loss_of(
        "log of a negative",
        "nan-log",
        "x = tf.Variable([-1.0, 1.0]); sources = [x]",
        "y = tf.math.log(x) #!\nloss = tf.reduce_sum(y)",
    ),
    loss_of(
        "log1p of -1",
        "nan-log",
        "x = tf.Variable([-1.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.math.log1p(x)) #!",
    ),
    loss_of(
        "binary cross-entropy by hand",
        "nan-log",
        "w = tf.Variable([50.0]); sources = [w]",
        "p = tf.sigmoid(w)\nloss = -tf.reduce_mean(0.0 * tf.math.log(p) + 1.0 * tf.math.log(1.0 - p)) #!",
    ),
    loss_of(
        "keras log of a softmax that underflows",
        "nan-log",
        "w = tf.Variable([[300.0, 0.0]]); sources = [w]",
        "p = keras.ops.softmax(w)\nloss = -keras.ops.sum(keras.ops.log(p) * [[0.0, 1.0]]) #!",
    ),
    loss_of(
        "sqrt at zero", "nan-sqrt", "x = tf.Variable([0.0, 4.0]); sources = [x]", "loss = tf.reduce_sum(tf.sqrt(x)) #!"
    ),
    loss_of(
        "sqrt below zero",
        "nan-sqrt",
        "x = tf.Variable([-1.0, 4.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.sqrt(x)) #!",
    ),
    loss_of(
        "rsqrt at zero",
        "nan-sqrt",
        "x = tf.Variable([0.0, 4.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.math.rsqrt(x)) #!",
    ),
    loss_of(
        "distance of equal points",
        "nan-norm",
        "a = tf.Variable([[1.0, 2.0], [3.0, 3.0]]); b = tf.constant([[1.0, 2.0], [0.0, 1.0]]); sources = [a]",
        "d = tf.norm(\n    a - b, #!\n    axis=-1)\nloss = tf.reduce_mean(d)",
    ),
    loss_of(
        "euclidean norm reduced",
        "nan-norm",
        "a = tf.Variable([[0.0, 0.0], [3.0, 3.0]]); sources = [a]",
        "loss = tf.reduce_sum(tf.math.reduce_euclidean_norm(a, axis=1)) #!",
    ),
    loss_of(
        "std of a constant", "nan-std", "x = tf.Variable([2.0, 2.0]); sources = [x]", "loss = tf.math.reduce_std(x) #!"
    ),
    loss_of(
        "keras std of a constant", "nan-std", "x = tf.Variable([2.0, 2.0]); sources = [x]", "loss = keras.ops.std(x) #!"
    ),
    loss_of(
        "zero by zero",
        "nan-division",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "y = x / tf.reduce_sum(x * 0.0) #!\nloss = tf.reduce_sum(y)",
    ),
    loss_of(
        "reciprocal",
        "nan-division",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.math.reciprocal(x)) #!",
    ),
    loss_of(
        "divisor so small that the gradient overflows",
        "nan-division",
        "x = tf.Variable([1e-25, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(1.0 / x) #!",
    ),
    loss_of(
        "root as a power at zero",
        "nan-pow",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(x ** 0.5) #!",
    ),
    loss_of(
        "power of a negative",
        "nan-pow",
        "x = tf.Variable([-2.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.pow(x, 1.5)) #!",
    ),
    loss_of(
        "negative power of zero",
        "nan-pow",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(x ** -1.0) #!",
    ),
    loss_of(
        "exp overflows", "nan-exp", "x = tf.Variable([90.0, 1.0]); sources = [x]", "loss = tf.reduce_sum(tf.exp(x)) #!"
    ),
    loss_of(
        "softmax by hand",
        "nan-exp",
        "x = tf.Variable([90.0, 1.0]); sources = [x]",
        "e = tf.exp(x) #!\np = e / tf.reduce_sum(e)\nloss = tf.reduce_sum(p * p)",
    ),
    loss_of(
        "square of an exponential",
        "nan-exp",
        "x = tf.Variable([60.0, 1.0]); sources = [x]",
        "e = tf.exp(x)\nloss = tf.reduce_sum(tf.square(e)) #!",
    ),
    loss_of(
        "sigmoid by hand, finite forward",
        "nan-exp",
        "x = tf.Variable([-90.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(1.0 / (1.0 + tf.exp(-x))) #!",
    ),
    loss_of(
        "acos beyond its range",
        "nan-acos",
        "x = tf.Variable([1.0001, 0.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.acos(x)) #!",
    ),
    loss_of(
        "asin at its edge",
        "nan-acos",
        "x = tf.Variable([1.0, 0.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.asin(x)) #!",
    ),
    loss_of(
        "atanh at its edge",
        "nan-acos",
        "x = tf.Variable([1.0, 0.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.atanh(x)) #!",
    ),
    loss_of(
        "mean of nothing",
        "nan-empty-reduce",
        "x = tf.Variable([1.0, 0.0]); sources = [x]",
        "some = tf.boolean_mask(x, x > 5.0)\nloss = tf.reduce_sum(x) + tf.reduce_mean(some) #!",
    ),
    loss_of(
        "maximum of nothing",
        "nan-empty-reduce",
        "x = tf.Variable([1.0, 0.0]); sources = [x]",
        "some = tf.gather(x, tf.zeros((0,), tf.int32))\nloss = tf.reduce_sum(x) + tf.reduce_max(some) #!",
    ),
    loss_of(
        "where hides a log",
        "nan-where",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "risky = tf.math.log(x) #!\nloss = tf.reduce_sum(tf.where(x > 0.0, risky, 0.0))",
    ),
    loss_of(
        "where hides a division, through a product with another variable",
        "nan-where",
        "x = tf.Variable([0.0, 1.0]); w = tf.Variable(2.0); sources = [x, w]",
        "risky = 1.0 / x #!\nscaled = risky * w\nloss = tf.reduce_sum(tf.where(x > 0.0, scaled, 0.0))",
    ),
    loss_of(
        "where hides a power whose value is fine",
        "nan-where",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.where(x > 0.0, x ** 0.5, 0.0)) #!",
    ),
    loss_of(
        "float16 square",
        "nan-float16",
        "x = tf.Variable(tf.constant([300.0, 1.0], tf.float16)); sources = [x]",
        "loss = tf.reduce_mean(tf.square(x)) #!",
    ),
    loss_of(
        "float16 on the way back",
        "nan-float16",
        "x = tf.Variable([1.0, 2.0]); sources = [x]",
        "half = tf.cast(x, tf.float16)\nsum_ = tf.reduce_sum(half * 2.0)\nloss = tf.cast(sum_, tf.float32) * 1e6 #!",
    ),
    loss_of(
        "cast to float16",
        "nan-float16",
        "x = tf.Variable([1e5, 2.0]); sources = [x]",
        "half = tf.cast(x, tf.float16) #!\nloss = tf.cast(tf.reduce_sum(half), tf.float32)",
    ),
    loss_of(
        "product overflows",
        "nan-overflow",
        "x = tf.Variable([1e20, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(x * x) #!",
    ),
    loss_of(
        "matrix product overflows",
        "nan-overflow",
        "x = tf.Variable([[1e20, 1.0]]); sources = [x]",
        "loss = tf.reduce_sum(tf.matmul(x, x, transpose_b=True)) #!",
    ),
    loss_of(
        "NaN in the batch",
        "nan-data",
        "w = tf.Variable([[1.0], [2.0]]); x = tf.constant([[1.0, 2.0], [np.nan, 1.0]]); sources = [w]",
        "y = tf.matmul(x, w) #!\nloss = tf.reduce_mean(tf.square(y))",
    ),
    loss_of(
        "NaN in the labels from NumPy",
        "nan-data",
        "w = tf.Variable([1.0, 2.0]); labels = np.array([1.0, np.nan], np.float32); sources = [w]",
        "loss = tf.reduce_mean(tf.square(w - labels)) #!",
    ),
    loss_of(
        "NaN in the weights",
        "nan-weights",
        "w = tf.Variable([1.0, np.nan]) #!\nsources = [w]",
        "loss = tf.reduce_mean(tf.square(w))",
    ),
    loss_of(
        "softmax over nothing but -inf",
        "nan-op",
        "w = tf.Variable([[1.0, 2.0]]); mask = tf.constant([[-np.inf, -np.inf]]); sources = [w]",
        "p = tf.nn.softmax(w + mask) #!\nloss = tf.reduce_sum(p)",
    ),
    loss_of(
        "gradient of atan2 at the origin",
        "nan-op",
        "x = tf.Variable([0.0, 1.0]); y = tf.Variable([0.0, 1.0]); sources = [x, y]",
        "loss = tf.reduce_sum(tf.atan2(y, x)) #!",
    ),
    loss_of(
        "lgamma at zero",
        "nan-op",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.math.lgamma(x)) #!",
    ),
    Way(
        "in a custom gradient",
        "nan-division",
        """
@tf.custom_gradient
def scaled(t):
    def back(upstream):
        return upstream / (t - t) #!
    return t * 2.0, back

x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(scaled(x))
bad = tape.gradient(loss, [x])
""",
    ),
    Way(
        "inside a custom gradient's forward",
        "nan-log",
        """
@tf.custom_gradient
def scaled(t):
    y = tf.math.log(t - t) #!
    return y, lambda upstream: upstream

x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(scaled(x))
bad = [loss]
tape.gradient(loss, [x])
""",
    ),
    Way(
        "in a layer of a model",
        "nan-sqrt",
        """
class Root(keras.layers.Layer):
    def call(self, x):
        return tf.sqrt(tf.nn.relu(x)) #!

model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(4, kernel_initializer="zeros"), Root()])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(tf.ones((3, 2))))
bad = tape.gradient(loss, model.trainable_variables)
""",
    ),
    Way(
        "at the third step",
        "nan-log",
        """
w = tf.Variable(1.0)
optimizer = keras.optimizers.SGD(0.5)
for step in range(5):
    with tf.GradientTape() as tape:
        loss = tf.math.log(w) #!
    gradient = tape.gradient(w * 1.0 + 0.0 * loss, [w]) if step > 5 else tape.gradient(loss, [w])
    optimizer.apply_gradients(zip([tf.ones_like(w)], [w]))
bad = [loss]
""",
        severity="note",
    ),
    Way(
        "with a dropout that is drawn again as it was",
        "nan-log",
        """
tf.random.set_seed(1)
w = tf.Variable(tf.ones((64,)))
with tf.GradientTape() as tape:
    kept = tf.nn.dropout(w, 0.5)
    loss = tf.reduce_sum(tf.math.log(kept)) #!
bad = [loss, *tape.gradient(loss, [w])]
""",
    ),
    Way(
        "in the inner gradient of a second-order one",
        "nan-sqrt",
        """
x = tf.Variable([0.0, 4.0])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = tf.reduce_sum(x * tf.sqrt(x)) #!
    slope = inner.gradient(y, x)
    loss = tf.reduce_sum(slope * slope)
bad = [outer.gradient(loss, x)]
""",
    ),
    Way(
        "with a persistent tape, at its second gradient",
        "nan-log",
        """
x = tf.Variable([0.0, 4.0])
with tf.GradientTape(persistent=True) as tape:
    first = tf.reduce_sum(x * x)
    second = tf.reduce_sum(tf.math.log(x)) #!
fine = tape.gradient(first, [x])
bad = tape.gradient(second, [x])
""",
    ),
    Way(
        "gradient of a tensor that was watched",
        "nan-sqrt",
        """
x = tf.constant([0.0, 4.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    loss = tf.reduce_sum(tf.sqrt(x)) #!
bad = [tape.gradient(loss, x)]
""",
    ),
    Way(
        "in a Python loop",
        "nan-division",
        """
w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = w
    for n in [2.0, 1.0, 0.0]:
        loss = loss / n #!
bad = [loss, *tape.gradient(loss, [w])]
""",
    ),
    Way(
        "in the update",
        "nan-optimizer",
        """
w = tf.Variable(tf.constant([0.5, -0.5], tf.float16))
optimizer = keras.optimizers.Adam(1e-2, epsilon=1e-8)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w[:1] * w[:1])
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w])) #!
bad = [w]
""",
    ),
    Way(
        "in the last update",
        "nan-optimizer",
        """
w = tf.Variable(tf.constant([0.5, -0.5], tf.float16))
optimizer = keras.optimizers.Adam(1e-2, epsilon=1e-8)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w[:1] * w[:1])
gradients = tape.gradient(loss, [w])
optimizer.apply_gradients(zip(gradients, [w])) #!
bad = [w]
""",
    ),
    Way(
        "spread by a clip",
        "nan-clip",
        """
a, b = tf.Variable(1.0), tf.Variable(100.0)
optimizer = keras.optimizers.SGD(0.1)
with tf.GradientTape() as tape:
    loss = a * a + tf.exp(b)
gradients = tape.gradient(loss, [a, b])
clipped, _ = tf.clip_by_global_norm(gradients, 1.0) #!
optimizer.apply_gradients(zip(clipped, [a, b]))
bad = [a]
""",
    ),
    Way(
        "spread by the optimizer's own clip",
        "nan-clip",
        """
a, b = tf.Variable(1.0), tf.Variable(100.0)
optimizer = keras.optimizers.SGD(0.1, global_clipnorm=1.0)
with tf.GradientTape() as tape:
    loss = a * a + tf.exp(b)
gradients = tape.gradient(loss, [a, b])
optimizer.apply_gradients(zip(gradients, [a, b])) #!
bad = [a]
""",
    ),
    Way(
        "written by hand",
        "nan-weights",
        """
w = tf.Variable([1.0, 2.0])
w.assign(w / 0.0) #!
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w)
bad = [loss, *tape.gradient(loss, [w])]
""",
    ),
    Way(
        "in an embedding lookup",
        "nan-log",
        """
table = tf.Variable([[1.0, 2.0], [0.0, 1.0], [3.0, 3.0]])
with tf.GradientTape() as tape:
    rows = tf.nn.embedding_lookup(table, [1, 2])
    loss = tf.reduce_sum(tf.math.log(rows)) #!
bad = [loss]
tape.gradient(loss, [table])
""",
    ),
    Way(
        "output gradients that are given",
        "nan-sqrt",
        """
x = tf.Variable([0.0, 4.0])
with tf.GradientTape() as tape:
    y = tf.sqrt(x) #!
bad = [tape.gradient(y, x, output_gradients=tf.constant([2.0, 3.0]))]
""",
    ),
)
