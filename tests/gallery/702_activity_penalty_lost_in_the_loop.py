# case: activity_penalty_lost_in_the_loop
# verdict: bug; static: no
# cause: missing-loss-term
# expect_line: 22 36
# expect_variables: sparse_penalty.add_loss (the penalty on the sparse code)
# symptom_today: silent: the layer's add_loss is never added; the code is not sparse
# exit: 0
# fix: loss += sum(autoencoder.losses)
# seen: moving from fit to a custom loop
import keras
import tensorflow as tf

keras.utils.set_random_seed(8)


class SparsePenalty(keras.layers.Layer):
    def __init__(self, weight, **kwargs):
        super().__init__(**kwargs)
        self.weight = weight

    def call(self, code):
        self.add_loss(self.weight * tf.reduce_sum(tf.abs(code)))
        return code


inputs = keras.Input((9,))
code = SparsePenalty(0.5)(keras.layers.Dense(4, activation="relu")(inputs))
autoencoder = keras.Model(inputs, keras.layers.Dense(9)(code))
opt = keras.optimizers.Adam(0.01)
mse = keras.losses.MeanSquaredError()


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = mse(x, autoencoder(x, training=True))
    grads = tape.gradient(loss, autoencoder.trainable_variables)
    opt.apply_gradients(zip(grads, autoencoder.trainable_variables))
    return loss


x = tf.random.normal((32, 9), seed=2)
for _ in range(4):
    loss = train_step(x)
autoencoder(x)
print(float(loss), float(autoencoder.losses[0]))
assert float(autoencoder.losses[0]) > 1.0
