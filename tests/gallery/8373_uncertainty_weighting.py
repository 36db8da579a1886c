# case: uncertainty_weighting
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: several losses in one train_step and how they are summed
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(12)


class DepthAndClass(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = layers.Dense(24, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-3))
        self.depth = layers.Dense(1)
        self.label = layers.Dense(3)
        self.log_var = self.add_weight(shape=(2,), initializer="zeros", name="log_var")
        self.total = keras.metrics.Mean(name="total")

    @property
    def metrics(self):
        return [self.total]

    def call(self, x):
        h = self.trunk(x)
        return self.depth(h)[:, 0], self.label(h)

    def train_step(self, data):
        x, (depth_true, label_true) = data
        with tf.GradientTape() as tape:
            depth, logits = self(x, training=True)
            l_depth = tf.reduce_mean(tf.abs(depth - depth_true))
            l_class = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label_true, logits=logits))
            ratio = tf.stop_gradient(l_depth / (l_class + 1e-6))
            scale = tf.exp(-self.log_var)
            loss = scale[0] * l_depth + scale[1] * l_class * tf.clip_by_value(ratio, 0.5, 2.0)
            loss += 0.5 * tf.reduce_sum(self.log_var) + tf.add_n(self.losses)
        grads = tape.gradient(loss, self.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.total.update_state(loss)
        return {"total": self.total.result(), "depth": l_depth, "class": l_class}


rng = np.random.default_rng(4)
x = rng.normal(size=(240, 5)).astype("float32")
depth = np.abs(x[:, 0] + 0.5 * x[:, 1]).astype("float32")
label = np.argmax(x[:, 2:5], axis=1).astype("int32")
data = tf.data.Dataset.from_tensor_slices((x, (depth, label))).batch(30)

model = DepthAndClass()
model.compile(optimizer=keras.optimizers.Adam(1e-2))
history = model.fit(data, epochs=8, verbose=0)
print("total", history.history["total"][0], history.history["total"][-1])
print("log_var", model.log_var.numpy())
