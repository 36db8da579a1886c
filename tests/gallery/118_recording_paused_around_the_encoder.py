# case: recording_paused_around_the_encoder
# verdict: bug; static: yes
# cause: outside-tape
# expect_line: 34
# expect_variables: w_enc
# symptom_today: gradient of w_enc is None; the guard in the loop skips it for ever
# exit: 0
# fix: pause the recording around the logging only
# seen: memory savings with tape.stop_recording
import tensorflow as tf


class Codec(tf.Module):
    def __init__(self):
        super().__init__()
        init = tf.random.Generator.from_seed(3)
        self.w_enc = tf.Variable(init.normal((6, 2)), name="w_enc")
        self.w_dec = tf.Variable(init.normal((2, 6)), name="w_dec")

    def encode(self, x):
        return tf.nn.tanh(x @ self.w_enc)

    def decode(self, z):
        return z @ self.w_dec


codec = Codec()
start = codec.w_enc.numpy()
x = tf.random.normal((30, 6), seed=7)
losses = []
for _ in range(6):
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            z = codec.encode(x)
            spread = tf.math.reduce_std(z)
        loss = tf.reduce_mean((codec.decode(z) - x) ** 2)
    grads = tape.gradient(loss, codec.trainable_variables)
    for g, v in zip(grads, codec.trainable_variables):
        if g is not None:
            v.assign_sub(0.1 * g)
    losses.append(float(loss))
print(losses[0], losses[-1], float(spread))
assert (codec.w_enc.numpy() == start).all() and losses[-1] < losses[0]
