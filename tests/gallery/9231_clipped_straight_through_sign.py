# case: clipped_straight_through_sign
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains through tf.sign with a custom gradient
# exit: 0
# fix: -
# source: own; BinaryNet-style estimator, look-alike of itayhubara/BinaryNet.tf#8
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


@tf.custom_gradient
def hard_sign(x):
    def backward(upstream):
        return upstream * tf.cast(tf.abs(x) <= 1.0, upstream.dtype)
    return tf.sign(x), backward


class BinaryDense(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="kernel")
        self.scale = self.add_weight(shape=(self.units,), initializer="ones", name="scale")

    def call(self, x):
        return tf.matmul(x, hard_sign(tf.convert_to_tensor(self.kernel))) * self.scale


net = keras.Sequential([keras.layers.Input((8,)), BinaryDense(16), keras.layers.BatchNormalization(), keras.layers.ReLU(), BinaryDense(1)])
opt = keras.optimizers.Adam(1e-2)
x = tf.random.normal((128, 8), seed=2)
y = tf.reduce_sum(x[:, :4], axis=1, keepdims=True)
losses = []
for _ in range(40):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    for v in net.trainable_variables:
        if v.path.endswith("kernel"):
            v.assign(tf.clip_by_value(v, -1.0, 1.0))
    losses.append(float(loss))
assert losses[-1] < losses[0]
print("ok", losses[0], losses[-1])
