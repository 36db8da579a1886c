# case: sparse_codes_and_hardest_examples
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: k-sparse autoencoders with online hard example mining and weight decay
import numpy as np
import tensorflow as tf

K, HARD = 3, 16


class SparseAutoencoder(tf.Module):
    def __init__(self, inputs, units):
        super().__init__()
        init = tf.random.Generator.from_seed(12)
        self.w_in = tf.Variable(init.normal((inputs, units)) * 0.4, name="w_in")
        self.b_in = tf.Variable(tf.fill((units,), 0.05), name="b_in")
        self.w_out = tf.Variable(init.normal((units, inputs)) * 0.4, name="w_out")
        self.b_out = tf.Variable(tf.fill((inputs,), 0.01), name="b_out")

    def code(self, x):
        h = tf.nn.softplus(x @ self.w_in + self.b_in)
        kth = tf.math.top_k(h, K).values[:, -1:]
        mask = tf.cast(h >= kth, h.dtype)
        return h * mask

    def __call__(self, x):
        return self.code(x) @ self.w_out + self.b_out


def hardest(errors):
    _, worst = tf.math.top_k(tf.stop_gradient(errors), HARD)
    return tf.reduce_mean(tf.gather(errors, worst))


rng = np.random.default_rng(12)
x = tf.constant(np.abs(rng.normal(size=(64, 4))) @ rng.normal(size=(4, 10)), tf.float32)
model = SparseAutoencoder(10, 12)
losses = []
for step in range(25):
    with tf.GradientTape() as tape:
        errors = tf.reduce_mean(tf.square(model(x) - x), axis=-1)
        decay = tf.add_n([tf.nn.l2_loss(v) for v in model.trainable_variables])
        loss = hardest(errors) + 0.5 * tf.reduce_mean(errors) + 1e-4 * decay
    grads = tape.gradient(loss, model.trainable_variables)
    for v, g in zip(model.trainable_variables, grads):
        v.assign_sub(0.05 * g)
    losses.append(float(loss))
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
