"""Ways to a NaN or Inf: small programs, each with the expression that makes the first one.

The line to find ends in `#!`, that of what follows from it in `#+`. Each program leaves in `bad` something that is not
finite.
"""

from __future__ import annotations

import textwrap
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
    then: str = ""  # the rule of a warning that follows from it

    @property
    def source(self) -> str:
        return HEAD.lstrip("\n") + self.body.strip("\n") + "\n"

    @property
    def lines(self) -> tuple[int, ...]:
        """Any of the lines that end in the mark."""
        return self._marked("#!")

    @property
    def later_lines(self) -> tuple[int, ...]:
        return self._marked("#+")

    def _marked(self, mark: str) -> tuple[int, ...]:
        return tuple(n for n, text in enumerate(self.source.splitlines(), 1) if text.endswith(mark))


@dataclass(frozen=True)
class Loss:
    """A way whose step is one tape around a few lines that leave `loss`; it can run eagerly, compiled, or under XLA."""

    name: str
    rule: str
    variables: str  # leaves `sources`
    lines: str

    def eager(self) -> Way:
        return Way(
            self.name, self.rule, f"{self.variables}\n{self._tape(0)}bad = [loss, *tape.gradient(loss, sources)]\n"
        )

    def compiled(self, options: str = "") -> Way:
        """The same inside a `tf.function`."""
        body = f"{self.variables}\n@tf.function{options}\ndef step():\n{self._tape(4)}"
        body += "    return [loss, *tape.gradient(loss, sources)]\nbad = step()\n"
        return Way(f"{self.name}, compiled{options}", self.rule, body)

    def in_helper(self) -> Way:
        """A compiled function under an eager tape."""
        lines = textwrap.indent(self.lines.strip("\n"), "    ")
        body = f"{self.variables}\n@tf.function\ndef helper():\n{lines}\n    return loss\n"
        body += "with tf.GradientTape() as tape:\n    loss = helper()\nbad = [loss, *tape.gradient(loss, sources)]\n"
        return Way(f"{self.name}, in a compiled function under an eager tape", self.rule, body)

    def _tape(self, indent: int) -> str:
        lines = textwrap.indent(self.lines.strip("\n"), "    ")
        return textwrap.indent(f"with tf.GradientTape() as tape:\n{lines}\n", " " * indent)


LOSSES: Final = (
    Loss(
        "log of zero",
        "nan-log",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.math.log(x)) #!",
    ),
    Loss(
        "log of a negative",
        "nan-log",
        "x = tf.Variable([-1.0, 1.0]); sources = [x]",
        "y = tf.math.log(x) #!\nloss = tf.reduce_sum(y)",
    ),
    Loss(
        "log1p of -1",
        "nan-log",
        "x = tf.Variable([-1.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.math.log1p(x)) #!",
    ),
    Loss(
        "binary cross-entropy by hand",
        "nan-log",
        "w = tf.Variable([50.0]); sources = [w]",
        "p = tf.sigmoid(w)\nloss = -tf.reduce_mean(0.0 * tf.math.log(p) + 1.0 * tf.math.log(1.0 - p)) #!",
    ),
    Loss(
        "keras log of a softmax that underflows",
        "nan-log",
        "w = tf.Variable([[300.0, 0.0]]); sources = [w]",
        "p = keras.ops.softmax(w)\nloss = -keras.ops.sum(keras.ops.log(p) * [[0.0, 1.0]]) #!",
    ),
    Loss(
        "sqrt at zero", "nan-sqrt", "x = tf.Variable([0.0, 4.0]); sources = [x]", "loss = tf.reduce_sum(tf.sqrt(x)) #!"
    ),
    Loss(
        "sqrt below zero",
        "nan-sqrt",
        "x = tf.Variable([-1.0, 4.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.sqrt(x)) #!",
    ),
    Loss(
        "rsqrt at zero",
        "nan-sqrt",
        "x = tf.Variable([0.0, 4.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.math.rsqrt(x)) #!",
    ),
    Loss(
        "distance of equal points",
        "nan-norm",
        "a = tf.Variable([[1.0, 2.0], [3.0, 3.0]]); b = tf.constant([[1.0, 2.0], [0.0, 1.0]]); sources = [a]",
        "d = tf.norm(\n    a - b, #!\n    axis=-1)\nloss = tf.reduce_mean(d)",
    ),
    Loss(
        "euclidean norm reduced",
        "nan-norm",
        "a = tf.Variable([[0.0, 0.0], [3.0, 3.0]]); sources = [a]",
        "loss = tf.reduce_sum(tf.math.reduce_euclidean_norm(a, axis=1)) #!",
    ),
    Loss(
        "std of a constant", "nan-std", "x = tf.Variable([2.0, 2.0]); sources = [x]", "loss = tf.math.reduce_std(x) #!"
    ),
    Loss(
        "keras std of a constant", "nan-std", "x = tf.Variable([2.0, 2.0]); sources = [x]", "loss = keras.ops.std(x) #!"
    ),
    Loss(
        "zero by zero",
        "nan-division",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "y = x / tf.reduce_sum(x * 0.0) #!\nloss = tf.reduce_sum(y)",
    ),
    Loss(
        "reciprocal",
        "nan-division",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.math.reciprocal(x)) #!",
    ),
    Loss(
        "divisor so small that the gradient overflows",
        "nan-division",
        "x = tf.Variable([1e-25, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(1.0 / x) #!",
    ),
    Loss(
        "root as a power at zero",
        "nan-pow",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(x ** 0.5) #!",
    ),
    Loss(
        "power of a negative",
        "nan-pow",
        "x = tf.Variable([-2.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.pow(x, 1.5)) #!",
    ),
    Loss(
        "negative power of zero",
        "nan-pow",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(x ** -1.0) #!",
    ),
    Loss(
        "exp overflows", "nan-exp", "x = tf.Variable([90.0, 1.0]); sources = [x]", "loss = tf.reduce_sum(tf.exp(x)) #!"
    ),
    Loss(
        "softmax by hand",
        "nan-exp",
        "x = tf.Variable([90.0, 1.0]); sources = [x]",
        "e = tf.exp(x) #!\np = e / tf.reduce_sum(e)\nloss = tf.reduce_sum(p * p)",
    ),
    Loss(
        "square of an exponential",
        "nan-exp",
        "x = tf.Variable([60.0, 1.0]); sources = [x]",
        "e = tf.exp(x)\nloss = tf.reduce_sum(tf.square(e)) #!",
    ),
    Loss(
        "sigmoid by hand, finite forward",
        "nan-exp",
        "x = tf.Variable([-90.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(1.0 / (1.0 + tf.exp(-x))) #!",
    ),
    Loss(
        "acos beyond its range",
        "nan-acos",
        "x = tf.Variable([1.0001, 0.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.acos(x)) #!",
    ),
    Loss(
        "asin at its edge",
        "nan-acos",
        "x = tf.Variable([1.0, 0.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.asin(x)) #!",
    ),
    Loss(
        "atanh at its edge",
        "nan-acos",
        "x = tf.Variable([1.0, 0.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.atanh(x)) #!",
    ),
    Loss(
        "mean of nothing",
        "nan-empty-reduce",
        "x = tf.Variable([1.0, 0.0]); sources = [x]",
        "some = tf.boolean_mask(x, x > 5.0)\nloss = tf.reduce_sum(x) + tf.reduce_mean(some) #!",
    ),
    Loss(
        "maximum of nothing",
        "nan-empty-reduce",
        "x = tf.Variable([1.0, 0.0]); sources = [x]",
        "some = tf.gather(x, tf.zeros((0,), tf.int32))\nloss = tf.reduce_sum(x) + tf.reduce_max(some) #!",
    ),
    Loss(
        "where hides a log",
        "nan-where",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "risky = tf.math.log(x) #!\nloss = tf.reduce_sum(tf.where(x > 0.0, risky, 0.0))",
    ),
    Loss(
        "where hides a division, through a product with another variable",
        "nan-where",
        "x = tf.Variable([0.0, 1.0]); w = tf.Variable(2.0); sources = [x, w]",
        "risky = 1.0 / x #!\nscaled = risky * w\nloss = tf.reduce_sum(tf.where(x > 0.0, scaled, 0.0))",
    ),
    Loss(
        "where hides a power whose value is fine",
        "nan-where",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.where(x > 0.0, x ** 0.5, 0.0)) #!",
    ),
    Loss(
        "where hides the sum of two chances in logarithms that both are none",
        "nan-where",
        "x = tf.Variable([0.1, 1.0]); first = tf.constant([-np.inf, 0.0]); sources = [x]",
        "a, b = tf.constant([-np.inf, -1.0]), first * x\ntop = tf.maximum(a, b)\n"
        "total = top + tf.math.log(tf.exp(a - top) + tf.exp(b - top)) #!\n"
        "either = tf.where(tf.math.is_inf(top), top, total)\nloss = tf.reduce_sum(tf.exp(either) * x)",
    ),
    Loss(
        "a log that where hides on one way only, and a maximum on the other",
        "nan-log",
        "x = tf.Variable([0.0, 1.0, 2.0]); sources = [x]",
        "risky = tf.math.log(x) #!\nloss = tf.reduce_sum(tf.where(x > 0.0, risky, 0.0)) + tf.reduce_max(risky)",
    ),
    Loss(
        "a log that where hides, and whose maximum is only looked at",
        "nan-where",
        "x = tf.Variable([0.0, 1.0, 2.0]); sources = [x]",
        "risky = tf.math.log(x) #!\nprint(float(tf.reduce_max(risky)))\n"
        "loss = tf.reduce_sum(tf.where(x > 0.0, risky, 0.0))",
    ),
    Loss(
        "a log that where hides on one way only, and the loss is not finite by the other",
        "nan-log",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "risky = tf.math.log(x) #!\nloss = tf.reduce_sum(tf.where(x > 0.0, risky, 0.0) - risky * [0.0, 1.0])",
    ),
    Loss(
        "an infinity of the data that goes through a product of matrices, and is bounded after it",
        "nan-data",
        "x = np.float32([[1.0], [np.inf]]); w = tf.Variable([[0.5]]); sources = [w]",
        "loss = tf.reduce_sum(tf.tanh(x @ w)) #!",
    ),
    Loss(
        "float16 square",
        "nan-float16",
        "x = tf.Variable(tf.constant([300.0, 1.0], tf.float16)); sources = [x]",
        "loss = tf.reduce_mean(tf.square(x)) #!",
    ),
    Loss(
        "float16 on the way back",
        "nan-float16",
        "x = tf.Variable([1.0, 2.0]); sources = [x]",
        "half = tf.cast(x, tf.float16)\nsum_ = tf.reduce_sum(half * 2.0)\nloss = tf.cast(sum_, tf.float32) * 1e6 #!",
    ),
    Loss(
        "cast to float16",
        "nan-float16",
        "x = tf.Variable([1e5, 2.0]); sources = [x]",
        "half = tf.cast(x, tf.float16) #!\nloss = tf.cast(tf.reduce_sum(half), tf.float32)",
    ),
    Loss(
        "product overflows",
        "nan-overflow",
        "x = tf.Variable([1e20, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(x * x) #!",
    ),
    Loss(
        "matrix product overflows",
        "nan-overflow",
        "x = tf.Variable([[1e20, 1.0]]); sources = [x]",
        "loss = tf.reduce_sum(tf.matmul(x, x, transpose_b=True)) #!",
    ),
    Loss(
        "NaN in the batch",
        "nan-data",
        "w = tf.Variable([[1.0], [2.0]]); x = tf.constant([[1.0, 2.0], [np.nan, 1.0]]); sources = [w]",
        "y = tf.matmul(x, w) #!\nloss = tf.reduce_mean(tf.square(y))",
    ),
    Loss(
        "NaN in the labels from NumPy",
        "nan-data",
        "w = tf.Variable([1.0, 2.0]); labels = np.array([1.0, np.nan], np.float32); sources = [w]",
        "loss = tf.reduce_mean(tf.square(w - labels)) #!",
    ),
    Loss(
        "NaN in the weights",
        "nan-weights",
        "w = tf.Variable([1.0, np.nan]) #!\nsources = [w]",
        "loss = tf.reduce_mean(tf.square(w))",
    ),
    Loss(
        "softmax over nothing but -inf",
        "nan-exp",
        "w = tf.Variable([[1.0, 2.0]]); mask = tf.constant([[-np.inf, -np.inf]]); sources = [w]",
        "p = tf.nn.softmax(w + mask) #!\nloss = p[0, 0]",
    ),
    Loss(
        "softmax over scores that are all masked by a constant",
        "nan-exp",
        "w = tf.Variable([[1.0, 2.0]]); keep = tf.constant([[False, False]]); sources = [w]",
        "scores = tf.where(keep, w, float('-inf'))\np = tf.nn.softmax(scores) #!\nloss = p[0, 0]",
    ),
    Loss(
        "softmax over scores that are all masked by a variable",
        "nan-exp",
        "w = tf.Variable([[1.0, 2.0]]); m = tf.Variable([[-np.inf, -np.inf]], trainable=False); sources = [w]",
        "p = tf.nn.softmax(w + m) #!\nloss = p[0, 0]",
    ),
    Loss(
        "zero times a constant infinity",
        "nan-op",
        "w = tf.Variable([[1.0, 2.0]]); keep = tf.constant([[1.0, 0.0]]); sources = [w]",
        "bias = (1.0 - keep) * float('-inf') #!\nloss = tf.nn.softmax(w + bias)[0, 0]",
    ),
    Loss(
        "gradient of atan2 at the origin",
        "nan-division",
        "x = tf.Variable([0.0, 1.0]); y = tf.Variable([0.0, 1.0]); sources = [x, y]",
        "loss = tf.reduce_sum(tf.atan2(y, x)) #!",
    ),
    Loss(
        "lgamma at zero",
        "nan-op",
        "x = tf.Variable([0.0, 1.0]); sources = [x]",
        "loss = tf.reduce_sum(tf.math.lgamma(x)) #!",
    ),
)

EAGER: Final = (
    *(loss.eager() for loss in LOSSES),
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
        "in TensorFlow's own Python, behind an op whose options were left out",
        "nan-pow",
        """
tf.random.set_seed(5)
photo = tf.random.uniform((1, 24, 24, 1), seed=5)
canvas = tf.Variable(1.0 - photo)
with tf.GradientTape() as tape:
    score = tf.image.ssim_multiscale(canvas, photo, 1.0, filter_size=5, power_factors=(0.5, 0.5)) #!
    loss = 1.0 - tf.reduce_mean(score)
bad = [tape.gradient(loss, canvas)]
""",
    ),
    Way(
        "in the update",
        "nan-optimizer",
        """
w = tf.Variable(tf.constant([0.5, -0.5], tf.float16))
optimizer = keras.optimizers.Adam(1e-2, epsilon=1e-8) #!
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w[:1] * w[:1])
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
bad = [w]
""",
    ),
    Way(
        "in the last update",
        "nan-optimizer",
        """
w = tf.Variable(tf.constant([0.5, -0.5], tf.float16))
optimizer = keras.optimizers.Adam(1e-2, epsilon=1e-8) #!
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w[:1] * w[:1])
gradients = tape.gradient(loss, [w])
optimizer.apply_gradients(zip(gradients, [w]))
bad = [w]
""",
    ),
    Way(
        "in an optimizer of one's own",
        "nan-optimizer",
        """
class Own(keras.optimizers.Optimizer):
    def update_step(self, gradient, variable, learning_rate):
        size = tf.sqrt(tf.reduce_sum(tf.square(gradient)))
        step = gradient / size #!
        self.assign_sub(variable, learning_rate * step)
a, b = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])
optimizer = Own(0.1)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(a * a + 0.0 * b)
    optimizer.apply_gradients(zip(tape.gradient(loss, [a, b]), [a, b]))
bad = [b]
""",
    ),
    Way(
        "spread by a clip",
        "nan-exp",
        """
a, b = tf.Variable(1.0), tf.Variable(100.0)
optimizer = keras.optimizers.SGD(0.1)
with tf.GradientTape() as tape:
    loss = a * a + tf.exp(b) #!
gradients = tape.gradient(loss, [a, b])
clipped, _ = tf.clip_by_global_norm(gradients, 1.0) #+
optimizer.apply_gradients(zip(clipped, [a, b]))
bad = [a]
""",
        then="nan-clip",
    ),
    Way(
        "spread by the optimizer's own clip",
        "nan-exp",
        """
a, b = tf.Variable(1.0), tf.Variable(100.0)
optimizer = keras.optimizers.SGD(0.1, global_clipnorm=1.0)
with tf.GradientTape() as tape:
    loss = a * a + tf.exp(b) #!
gradients = tape.gradient(loss, [a, b])
optimizer.apply_gradients(zip(gradients, [a, b])) #+
bad = [a]
""",
        then="nan-clip",
    ),
    Way(
        "in a row of a table that no step before the fourth looks up",
        "nan-weights",
        """
table = np.ones((5, 3), np.float32)
table[4] = np.nan
words = tf.Variable(np.ones((5, 3), np.float32))
words.assign(table) #!
optimizer = keras.optimizers.SGD(0.1)
for n in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(tf.gather(words, [n % 5, 1])))
    optimizer.apply_gradients([(tape.gradient(loss, words), words)])
bad = [words]
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

COMPILED: Final = tuple(loss.compiled() for loss in LOSSES)
NESTED: Final = tuple(loss.in_helper() for loss in LOSSES if loss.rule not in ("nan-data", "nan-weights"))
XLA: Final = tuple(
    loss.compiled("(jit_compile=True)")
    for loss in LOSSES
    # XLA compiles no shape that depends on values, and has no kernel for EuclideanNorm.
    if loss.name not in ("mean of nothing", "euclidean norm reduced")
)

_BETWEEN: Final = """
w, b = tf.Variable([[1.0], [2.0]], name="w"), tf.Variable([0.5], name="b")
optimizer = keras.optimizers.SGD(0.1)
x = tf.zeros((4, 2))
{decorator}
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ w + b))
    gradients = tape.gradient(loss, [w, b])
    directions = [g / tf.norm(g) for g in gradients] #!
{update}
    return loss
for _ in range(3):
    step()
bad = [w]
"""
_UPDATES: Final = {
    "handed to an optimizer": "    optimizer.apply_gradients(zip(directions, [w, b]))",
    "applied by hand": "    for g, v in zip(directions, [w, b]):\n        v.assign_sub(0.1 * g)",
}
BETWEEN: Final = (
    *(
        Way(
            f"a gradient over its own norm, {name}{', compiled' * bool(decorator)}",
            "nan-division",
            _BETWEEN.format(decorator=decorator, update=update),
        )
        for name, update in _UPDATES.items()
        for decorator in ("", "@tf.function")
    ),
    Way(
        "a logarithm of the gradients of a persistent tape",
        "nan-log",
        """
w = tf.Variable([1.0, 2.0], name="w")
for _ in range(3):
    with tf.GradientTape(persistent=True) as tape:
        first, second = tf.reduce_sum(w**2), tf.reduce_sum(w)
    one, other = tape.gradient(first, w), tape.gradient(second, w)
    weight = tf.math.log(tf.reduce_sum(one * other) - 6.0) #!
    w.assign_sub(0.1 * weight * one)
bad = [w]
""",
    ),
    Way(
        "a logarithm that NumPy takes, and gives back as a target",
        "nan-log",
        """
w = tf.Variable([1.0, 2.0], name="w")
with tf.GradientTape() as tape:
    x = tf.math.log(tf.constant([0.0, 1.0])) #!
    with np.errstate(invalid="ignore"):
        target = tf.constant(np.sin(x + 0.5))
    loss = tf.reduce_sum((w * tf.tanh(x) - target) ** 2)
bad = [loss, tape.gradient(loss, w)]
""",
        severity="warning",
    ),
    Way(
        "a logarithm among returns that are added up in NumPy, before the tape",
        "nan-log",
        """
w = tf.Variable([1.0, 2.0], name="w")
def returns(rewards):
    total, out = 0.0, np.zeros(2, "float32")
    for i, reward in enumerate(rewards):
        total = tf.math.log(tf.nn.relu(reward + total)) #!
        out[i] = total
    return out
weights = returns([0.0, 1.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w * weights)
bad = [loss, tape.gradient(loss, w)]
""",
        severity="warning",
    ),
    Way(
        "in a custom gradient that has a tape of its own",
        "nan-log",
        """
w = tf.Variable([0.5, -0.5], name="w")
@tf.custom_gradient
def settled(x):
    y = tf.tanh(x)
    def grad(upstream):
        with tf.GradientTape() as tape:
            tape.watch(x)
            again = tf.tanh(x)
        slope = tape.gradient(again, x)
        return upstream * slope * tf.math.log(tf.nn.relu(tf.sign(x)) * np.e) #!
    return y, grad
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(settled(w))
bad = [tape.gradient(loss, w)]
""",
    ),
    Way(
        "in the derivative that a tape inside a custom gradient takes",
        "nan-log",
        """
w = tf.Variable([0.5, -0.5], name="w")
@tf.custom_gradient
def settled(x):
    y = tf.tanh(x)
    def grad(upstream):
        with tf.GradientTape() as tape:
            tape.watch(x)
            again = tf.math.log(tf.nn.relu(x)) #!
        return upstream * tape.gradient(again, x, output_gradients=tf.zeros_like(x))
    return y, grad
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(settled(w))
bad = [tape.gradient(loss, w)]
""",
    ),
    Way(
        "the Jacobian of a root at zero",
        "nan-sqrt",
        """
w = tf.Variable([0.0, 4.0], name="w")
with tf.GradientTape() as tape:
    roots = tf.sqrt(w) #!
bad = [tape.jacobian(roots, w)]
""",
    ),
)
STRUCTURED: Final = (
    Way(
        "in a while loop",
        "nan-division",
        """
w = tf.Variable(2.0)
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss, _ = tf.while_loop(
            lambda x, n: n >= 0.0,
            lambda x, n: (x / n, n - 1.0), #!
            (w * 1.0, 3.0),
        )
    return [loss, *tape.gradient(loss, [w])]
bad = step()
""",
    ),
    Way(
        "on the way back through a while loop",
        "nan-sqrt",
        """
w = tf.Variable(2.0)
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss, _ = tf.while_loop(
            lambda x, n: n >= 0.0,
            lambda x, n: (x + tf.sqrt(n * x), n - 1.0), #!
            (w * 1.0, 3.0),
        )
    return tape.gradient(loss, [w])
bad = step()
""",
    ),
    Way(
        "in a loop that AutoGraph makes",
        "nan-log",
        """
w = tf.Variable(2.0)
@tf.function
def step(limit):
    with tf.GradientTape() as tape:
        loss = w * 1.0
        for i in tf.range(limit):
            loss = tf.math.log(loss) #!
    return [loss, *tape.gradient(loss, [w])]
bad = step(tf.constant(4))
""",
    ),
    Way(
        "in the branch of a cond that is taken",
        "nan-sqrt",
        """
w = tf.Variable([0.0, 1.0])
@tf.function
def step(flag):
    with tf.GradientTape() as tape:
        if flag:
            y = tf.sqrt(w) #!
        else:
            y = w * 2.0
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, [w])
bad = step(tf.constant(True))
""",
    ),
    Way(
        "in a map_fn",
        "nan-log",
        """
w = tf.Variable([0.0, 1.0])
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.map_fn(lambda t: tf.math.log(t), w * 1.0)) #!
    return [loss, *tape.gradient(loss, [w])]
bad = step()
""",
    ),
    Way(
        "in a function that a compiled function calls",
        "nan-sqrt",
        """
@tf.function
def inner(t):
    return tf.sqrt(t) #!

w = tf.Variable([0.0, 1.0])
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(inner(w))
    return tape.gradient(loss, [w])
bad = step()
""",
    ),
    Way(
        "in a custom gradient that is compiled",
        "nan-division",
        """
@tf.custom_gradient
def scaled(t):
    def back(upstream):
        return upstream / (t - t) #!
    return t * 2.0, back

x = tf.Variable([1.0, 2.0])
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(scaled(x * 1.0))
    return tape.gradient(loss, [x])
bad = step()
""",
    ),
    Way(
        "in weights that a compiled step poisons behind a finite loss",
        "nan-where",
        """
w = tf.Variable([0.5, 2.0])
optimizer = keras.optimizers.SGD(0.5)
optimizer.build([w])
@tf.function
def step():
    with tf.GradientTape() as tape:
        risky = tf.math.log(w - 0.4) #!
        loss = tf.reduce_sum(tf.where(w > 0.4, risky, 1.0))
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    return loss
w.assign([0.4, 2.0])
for _ in range(5):
    loss = step()
assert np.isfinite(loss)
bad = [w]
""",
    ),
    Way(
        "at the fortieth call of a compiled step with an optimizer that has state",
        "nan-log",
        """
w = tf.Variable([1.0, 2.0])
optimizer = keras.optimizers.Adam(0.01)
optimizer.build([w])
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.log(x) * w) #!
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    return loss
for n in range(60):
    bad = [step(tf.constant([1.0, 0.0 if n == 39 else 2.0]))]
""",
    ),
    Way(
        "in the update of a compiled step",
        "nan-optimizer",
        """
w = tf.Variable(tf.constant([0.5, -0.5], tf.float16))
optimizer = keras.optimizers.Adam(1e-2, epsilon=1e-8) #!
optimizer.build([w])
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w[:1] * w[:1])
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    return loss
step()
bad = [w]
""",
    ),
    Way(
        "spread by a clip in a compiled step",
        "nan-exp",
        """
a, b = tf.Variable(1.0), tf.Variable(100.0)
optimizer = keras.optimizers.SGD(0.1)
optimizer.build([a, b])
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = a * a + tf.exp(b) #!
    gradients = tape.gradient(loss, [a, b])
    clipped, _ = tf.clip_by_global_norm(gradients, 1.0) #+
    optimizer.apply_gradients(zip(clipped, [a, b]))
    return loss
step()
bad = [a]
""",
        then="nan-clip",
    ),
    Way(
        "in a compiled step that takes NaN from its batch",
        "nan-data",
        """
w = tf.Variable([1.0, 2.0])
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x * w) #!
    gradients = tape.gradient(loss, [w])
    w.assign_sub(0.1 * gradients[0])
    return loss
for n in range(4):
    bad = [step(np.array([1.0, np.nan if n == 2 else 1.0], np.float32))]
""",
    ),
)

DRAWING: Final = (
    Way(
        "in a compiled step that draws random numbers, with a seed, at the fiftieth call",
        "nan-log",
        """
tf.random.set_seed(4)
w = tf.Variable([1.0, 2.0])
optimizer = keras.optimizers.Adam(0.01)
optimizer.build([w])
@tf.function
def step(x):
    noise = tf.random.normal((2,))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.log(x) * w + 0.01 * noise * w) #!
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    return loss
for n in range(60):
    bad = [step(tf.constant([1.0, 0.0 if n >= 49 else 2.0]))]
""",
    ),
    Way(
        "in a compiled step that draws random numbers without a seed, at the fiftieth call",
        "nan-log",
        """
tf.random.set_seed(None)
w = tf.Variable([1.0, 2.0])
optimizer = keras.optimizers.Adam(0.01)
optimizer.build([w])
@tf.function
def step(x):
    noise = tf.random.normal((2,))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.log(x) * w + 0.01 * noise * w) #!
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    return loss
for n in range(60):
    bad = [step(tf.constant([1.0, 0.0 if n >= 49 else 2.0]))]
""",
        severity="warning",  # the numbers it drew are gone
    ),
    Way(
        "in a step of fit that draws random numbers",
        "nan-sqrt",
        """
keras.utils.set_random_seed(0)
class Noise(keras.layers.Layer):
    def call(self, x):
        return tf.sqrt(x + 0.0 * tf.random.normal(tf.shape(x))) #!
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, kernel_initializer="zeros"), Noise()])
model.compile("sgd", "mse", jit_compile=False)
model.fit(np.ones((64, 3)), np.ones((64, 4)), batch_size=8, verbose=0)
bad = model.get_weights()
""",
    ),
)

FIT: Final = (
    Way(
        "in a layer, in fit",
        "nan-log",
        """
keras.utils.set_random_seed(0)
class Root(keras.layers.Layer):
    def call(self, x):
        return tf.math.log(x) #!
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, "relu"), keras.layers.Dropout(0.2), Root()])
model.compile("adam", "mse")
model.fit(np.ones((32, 3)), np.ones((32, 4)), verbose=0)
bad = model.get_weights()
""",
    ),
    Way(
        "in a loss function, on the way back, in fit without XLA",
        "nan-norm",
        """
keras.utils.set_random_seed(0)
def distance(y, p):
    return tf.norm(y - p, axis=-1) #!
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, kernel_initializer="zeros")])
model.compile("sgd", distance, jit_compile=False)
model.fit(np.ones((32, 3)), np.zeros((32, 4)), verbose=0)
bad = model.get_weights()
""",
    ),
    Way(
        "in one row of the data of the second epoch, in fit",
        "nan-data",
        """
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4)])
model.compile("adam", "mse")
def batches():
    for n in range(12):
        x = np.ones((8, 3), np.float32)
        if n == 9:
            x[5, 1] = np.nan
        yield x, np.ones((8, 4), np.float32)
data = tf.data.Dataset.from_generator(
    batches, output_signature=(tf.TensorSpec((8, 3)), tf.TensorSpec((8, 4)))
)
model.fit(data, shuffle=False, steps_per_epoch=12, verbose=0) #!
bad = model.get_weights()
""",
    ),
    Way(
        "in a train_step of one's own, in fit",
        "nan-division",
        """
keras.utils.set_random_seed(0)
class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2)
    def call(self, x):
        return self.dense(x)
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            p = self(x, training=True)
            mask = tf.cast(y > 5.0, tf.float32)
            loss = tf.reduce_sum(mask * tf.square(p - y)) / tf.reduce_sum(mask) #!
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}
model = Model()
model.compile("sgd")
model.fit(np.ones((16, 3)), np.ones((16, 2)), verbose=0)
bad = model.get_weights()
""",
    ),
    Way(
        "in float16, in fit with mixed precision",
        "nan-float16",
        """
keras.utils.set_random_seed(0)
policy = keras.mixed_precision.Policy("mixed_float16")
class Square(keras.layers.Layer):
    def call(self, x):
        return tf.square(x) #!
dense = keras.layers.Dense(4, dtype=policy, kernel_initializer="ones")
model = keras.Sequential([keras.layers.Input((3,)), dense, Square(dtype=policy), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.1), "mse", auto_scale_loss=False)
model.fit(200.0 * np.ones((16, 3)), np.ones((16, 1)), verbose=0)
bad = model.get_weights()
""",
    ),
    Way(
        "in every step of fit, all of them skipped by the loss scale",
        "nan-sqrt",
        """
keras.utils.set_random_seed(0)
policy = keras.mixed_precision.Policy("mixed_float16")
class Normalise(keras.layers.Layer):
    def call(self, x):
        return x * tf.math.rsqrt(tf.reduce_mean(tf.square(x), axis=-1, keepdims=True) + 1e-8) #!
model = keras.Sequential([keras.layers.Input((3,)), Normalise(dtype=policy), keras.layers.Dense(1, dtype=policy)])
model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1)), "mse")
bad = model.fit(np.zeros((16, 3)), np.ones((16, 1)), batch_size=4, verbose=0).history["loss"]
assert np.isfinite(model.get_weights()[0]).all()
""",
    ),
    Way(
        "on the way back of every step of fit, all of them skipped by the loss scale",
        "nan-norm",
        """
keras.utils.set_random_seed(0)
policy = keras.mixed_precision.Policy("mixed_float16")
def distance(y, p):
    return tf.norm(y - p, axis=-1) #!
dense = keras.layers.Dense(4, dtype=policy, kernel_initializer="zeros")
model = keras.Sequential([keras.layers.Input((3,)), dense])
model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1)), distance, jit_compile=False)
losses = model.fit(np.ones((32, 3)), np.zeros((32, 4)), batch_size=8, verbose=0).history["loss"]
assert np.isfinite(losses).all() and not model.get_weights()[0].any()
bad = [np.nan]
""",
    ),
    Way(
        "in weights that were set before fit",
        "nan-weights",
        """
keras.utils.set_random_seed(0)
table = np.ones((9, 3), np.float32)
table[8] = np.nan
words = keras.layers.Embedding(9, 3)
words.build()
words.set_weights([table]) #!
model = keras.Sequential([keras.layers.Input((4,), dtype="int32"), words, keras.layers.Dense(1)])
model.compile("adam", "mse")
x = np.tile(np.arange(4), (32, 1))
x[20:, 0] = 8
model.fit(x, np.ones((32, 4, 1)), batch_size=4, shuffle=False, verbose=0)
bad = model.get_weights()
""",
    ),
    Way(
        "in an initial value, in fit",
        "nan-weights",
        """
def start(shape, dtype=None):
    return tf.zeros(shape, dtype) / 0.0
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, kernel_initializer=start)]) #!
model.compile("adam", "mse")
model.fit(np.ones((16, 3)), np.ones((16, 4)), verbose=0)
bad = model.get_weights()
""",
    ),
    Way(
        "in labels that a loss of one's own masks too late, in fit",
        "nan-data",
        """
keras.utils.set_random_seed(0)
def known_only(y, p):
    known = tf.math.is_finite(y)
    squared = tf.square(p - y) #!
    return tf.reduce_sum(tf.where(known, squared, 0.0), axis=-1)
labels = np.ones((16, 4), np.float32)
labels[::3, 1] = np.nan
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4)])
model.compile("sgd", known_only)
model.fit(np.ones((16, 3)), labels, batch_size=4, verbose=0)
bad = model.get_weights()
""",
    ),
    Way(
        "in an optimizer of one's own, in fit",
        "nan-optimizer",
        """
keras.utils.set_random_seed(0)
class Own(keras.optimizers.Optimizer):
    def update_step(self, gradient, variable, learning_rate):
        size = tf.sqrt(tf.reduce_sum(tf.square(gradient)))
        step = gradient / size #!
        self.assign_sub(variable, learning_rate * step)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, use_bias=False), keras.layers.Dense(1)])
model.compile(Own(0.1), "mse")
model.fit(np.zeros((16, 3)), np.ones((16, 1)), batch_size=4, verbose=0)
bad = model.get_weights()
""",
    ),
    Way(
        "in a learning rate of one's own, in fit",
        "nan-optimizer",
        """
keras.utils.set_random_seed(0)
class Decay(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return 0.1 * tf.math.rsqrt(tf.cast(step, tf.float32)) #!
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4)])
model.compile(keras.optimizers.Adam(Decay()), "mse")
model.fit(np.ones((16, 3)), np.ones((16, 4)), batch_size=4, verbose=0)
bad = model.get_weights()
""",
    ),
    Way(
        "a root at zero in front of a layer, far from a select of the loss",
        "nan-sqrt",
        """
keras.utils.set_random_seed(0)
class Rooted(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = keras.layers.Dense(6, "relu"), keras.layers.Dense(1)
    def call(self, x):
        return self.out(tf.sqrt(self.hidden(x))) #!
def loss(y, p):
    return tf.where(y > 0.5, tf.abs(y - p), 2.0 * tf.abs(y - p))
model = Rooted()
model.compile("sgd", loss)
x = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
model.fit(x, (x[:, :1] > 0).astype("float32"), batch_size=8, epochs=5, verbose=0)
bad = model.get_weights()
""",
    ),
    Way(
        "in train_on_batch",
        "nan-exp",
        """
keras.utils.set_random_seed(0)
def loss(y, p):
    return tf.exp(p * 100.0) - y #!
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1, kernel_initializer="ones")])
model.compile("sgd", loss)
model.train_on_batch(np.ones((4, 3)), np.ones((4, 1)))
bad = model.get_weights()
""",
    ),
    Way(
        "in a layer of the old Keras, in fit",
        "nan-sqrt",
        """
import tf_keras
tf_keras.utils.set_random_seed(0)
class Root(tf_keras.layers.Layer):
    def call(self, x):
        return tf.sqrt(x) #!
dense = tf_keras.layers.Dense(4, "relu", kernel_initializer="zeros")
model = tf_keras.Sequential([tf_keras.layers.Input((3,)), dense, Root()])
model.compile("sgd", "mse")
model.fit(np.ones((16, 3)), np.ones((16, 4)), verbose=0)
bad = model.get_weights()
""",
    ),
)
