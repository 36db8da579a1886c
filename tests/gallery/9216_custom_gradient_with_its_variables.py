# case: custom_gradient_with_its_variables
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: tensorflow/tensorflow#21756 (the right form of grad_fn with variables)
import tensorflow as tf
import keras

tf.random.set_seed(0)


class BoundedLinear(tf.Module):
    """y = x w, with a backward pass that bounds the incoming gradient."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.w = tf.Variable(tf.random.normal((n_in, n_out), stddev=0.3, seed=0), name="w")
        self.apply = tf.custom_gradient(self._apply)

    def _apply(self, x):
        y = tf.matmul(x, self.w)

        def backward(upstream, variables=None):
            bounded = tf.clip_by_norm(upstream, 1.0)
            d_x = tf.matmul(bounded, self.w, transpose_b=True)
            return d_x, [tf.matmul(x, bounded, transpose_a=True) for _ in variables]

        return y, backward


first, last = BoundedLinear(5, 8), BoundedLinear(8, 1)
weights = [first.w, last.w]
opt = keras.optimizers.SGD(0.2)
x = tf.random.normal((32, 5), seed=1)
y = tf.reduce_sum(x, axis=1, keepdims=True)
losses = []
for step in range(60):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(last.apply(tf.nn.tanh(first.apply(x))) - y))
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    losses.append(float(loss))
assert losses[-1] < 0.7 * losses[0]
print("ok", losses[0], losses[-1])
