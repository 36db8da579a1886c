# case: recurrent_state_kept_in_a_variable
# verdict: bug; static: yes
# cause: assign-breaks-gradient
# expect_line: 29
# expect_variables: w_in, w_rec
# symptom_today: raises ValueError / Keras warns: only the read-out is trained
# exit: 0
# fix: carry the state as a tensor through the loop; assign it after the step
# seen: stateful recurrent cells written by hand
import keras
import numpy as np
import tensorflow as tf


class Reservoir(keras.layers.Layer):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def build(self, shape):
        self.w_in = self.add_weight(shape=(shape[-1], self.size), name="w_in")
        self.w_rec = self.add_weight(shape=(self.size, self.size), name="w_rec")
        self.w_out = self.add_weight(shape=(self.size, 1), name="w_out")
        self.state = self.add_weight(shape=(1, self.size), initializer="zeros", trainable=False, name="state")

    def call(self, sequence):
        for t in range(sequence.shape[1]):
            drive = sequence[:, t] @ self.w_in + self.state @ self.w_rec
            self.state.assign(tf.tanh(drive))
        return tf.matmul(self.state, self.w_out)


rnn = Reservoir(size=3)
song = tf.random.normal((1, 5, 2), seed=2)
rnn(song)
opt = keras.optimizers.SGD(0.1)
before = rnn.w_in.numpy().copy()


@tf.function
def train(sequence, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((rnn(sequence) - target) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, rnn.trainable_variables), rnn.trainable_variables))


train(song, tf.constant([[0.5]]))
assert np.array_equal(before, rnn.w_in.numpy())
