# case: weights_made_at_the_first_call
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: lazily built layers and modules
import keras
import tensorflow as tf


class LazyDense(tf.Module):
    def __init__(self, units):
        super().__init__()
        self.units, self.w = units, None

    @tf.function
    def __call__(self, x):
        if self.w is None:
            self.w = tf.Variable(tf.random.normal((x.shape[-1], self.units), stddev=0.3, seed=1), name="w")
        return x @ self.w


keras.utils.set_random_seed(9)
lazy = LazyDense(4)
head = keras.layers.Dense(1)
opt = keras.optimizers.Adam(0.02)
x = tf.random.normal((32, 5), seed=9)
losses = []
for step in range(12):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((head(tf.nn.relu(lazy(x))) - x[:, :1]) ** 2)
    variables = [lazy.w, *head.trainable_variables]
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    losses.append(float(loss))
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
