# case: recurrence_that_blows_up
# verdict: bug; static: no
# cause: exploding-gradient | nan-exp | nan-weights | nan-optimizer
# expect_line: 23 33
# expect_variables: recurrent
# symptom_today: silent: the gradient norm is 1e13 at the first step
# exit: 0
# fix: orthogonal start, gradient clipping, or a gated cell
# seen: linear recurrent networks over long sequences
import tensorflow as tf


class LinearRNN(tf.Module):
    def __init__(self, size):
        super().__init__()
        self.recurrent = tf.Variable(2.2 * tf.eye(size), name="recurrent")
        self.readout = tf.Variable(tf.ones((size, 1)) * 0.1, name="readout")

    @tf.function
    def __call__(self, sequence):
        state = tf.zeros_like(sequence[:, 0])
        for t in tf.range(tf.shape(sequence)[1]):
            state = tf.matmul(state, self.recurrent) + sequence[:, t]
        return state @ self.readout


rnn = LinearRNN(3)
sequence = tf.random.normal((4, 20, 3), seed=5)
sizes = []
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(rnn(sequence) ** 2)
    grads = tape.gradient(loss, rnn.trainable_variables)
    sizes.append(float(tf.linalg.global_norm(grads)))
    for g, v in zip(grads, rnn.trainable_variables):
        v.assign_sub(1e-20 * g)
print(sizes)
assert sizes[0] > 1e12
