# case: memory_bank_written_and_read
# verdict: bug; static: yes
# cause: assign-breaks-gradient
# expect_line: 24
# expect_variables: writer/kernel, writer/bias
# symptom_today: Keras warns about writer/*; it never trains
# exit: 0
# fix: use the fresh features in the loss and write a stopped copy to the bank
# seen: memory banks and neural Turing machine sketches
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(6)
writer = keras.layers.Dense(3, name="writer")
reader = keras.layers.Dense(1, name="reader")
writer.build((None, 4)), reader.build((None, 3))
bank = tf.Variable(tf.zeros((12, 3)), trainable=False, name="bank")
opt = keras.optimizers.SGD(0.1)
variables = writer.trainable_variables + reader.trainable_variables


def remember(slots, x):
    bank.scatter_nd_update(slots[:, None], writer(x))
    return tf.gather(bank, slots)


@tf.function
def episode(slots, x, y):
    with tf.GradientTape() as tape:
        recalled = remember(slots, x)
        error = tf.reduce_mean((reader(recalled) - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(error, variables), variables))
    return error


kept = writer.get_weights()[0]
x = tf.random.normal((4, 4), seed=1)
for _ in range(3):
    print(float(episode(tf.constant([0, 3, 5, 7]), x, x[:, :1])))
assert np.array_equal(kept, writer.get_weights()[0])
