# case: three_tasks_weighted_by_uncertainty
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: homoscedastic uncertainty weighting with missing labels, all in one layer with add_loss
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(54)
L2 = keras.regularizers.L2(1e-4)


class UncertaintyWeighted(layers.Layer):
    """Adds exp(-s) * loss + s for each task, s being learned."""

    def build(self, shapes):
        self.log_vars = [self.add_weight(shape=(), initializer="zeros", name=f"s_{t}") for t in ("depth", "normal", "kind")]

    def call(self, inputs):
        depth, normal, kind, depth_true, known, normal_true, kind_true = inputs
        per_example = tf.reduce_mean(tf.square(depth - depth_true), axis=-1, keepdims=True)
        depth_loss = tf.reduce_sum(known * per_example) / tf.maximum(tf.reduce_sum(known), 1.0)
        cosine = tf.reduce_sum(tf.math.l2_normalize(normal, -1) * normal_true, axis=-1)
        normal_loss = tf.reduce_mean(1.0 - cosine)
        kind_loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(tf.squeeze(kind_true, -1), kind))
        for s, loss in zip(self.log_vars, (depth_loss, normal_loss, kind_loss)):
            s = tf.convert_to_tensor(s)
            self.add_loss(tf.exp(-s) * loss + s)
        return depth


image = keras.Input((10,), name="image")
truths = [keras.Input((1,), name="depth_true"), keras.Input((1,), name="known"), keras.Input((3,), name="normal_true"),
          keras.Input((1,), dtype="int32", name="kind_true")]
shared = layers.Dense(24, activation="gelu", kernel_regularizer=L2, name="shared")(image)
depth = layers.Dense(1, name="depth")(shared)
normal = layers.Dense(3, name="normal")(shared)
kind = layers.Dense(4, kernel_regularizer=L2, name="kind")(shared)
model = keras.Model([image, *truths], UncertaintyWeighted(name="weigh")([depth, normal, kind, *truths]))
model.compile(optimizer=keras.optimizers.Adam(0.01))

rng = np.random.default_rng(54)
x = rng.normal(size=(160, 10)).astype("float32")
direction = x[:, 3:6] / np.linalg.norm(x[:, 3:6], axis=1, keepdims=True)
data = {
    "image": x,
    "depth_true": x[:, :1] * 2.0,
    "known": (rng.uniform(size=(160, 1)) > 0.4).astype("float32"),
    "normal_true": direction,
    "kind_true": np.argmax(x[:, 6:], axis=1)[:, None].astype("int32"),
}
history = model.fit(data, epochs=5, batch_size=40, verbose=0).history
print(history["loss"], [float(s.numpy()) for s in model.get_layer("weigh").log_vars])
assert history["loss"][-1] < history["loss"][0]
