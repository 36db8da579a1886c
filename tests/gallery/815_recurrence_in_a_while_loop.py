# case: recurrence_in_a_while_loop
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: hand-written RNN with TensorArray and while_loop
import keras
import tensorflow as tf

keras.utils.set_random_seed(3)
cell = keras.layers.GRUCell(5)
cell.build((None, 2))
head = keras.layers.Dense(1)
head.build((None, 5))
weights = cell.trainable_weights + head.trainable_weights
opt = keras.optimizers.Adam(0.02)


def unroll(sequence):
    steps = tf.shape(sequence)[1]
    outputs = tf.TensorArray(tf.float32, size=steps)

    def body(t, state, outputs):
        out, (state,) = cell(sequence[:, t], [state])
        return t + 1, state, outputs.write(t, head(out))

    _, _, outputs = tf.while_loop(
        lambda t, *_: t < steps, body, (0, tf.zeros((tf.shape(sequence)[0], 5)), outputs)
    )
    return tf.transpose(outputs.stack(), (1, 0, 2))


@tf.function
def step(sequence, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((unroll(sequence) - target) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


x = tf.random.normal((12, 6, 2), seed=6)
losses = [float(step(x, tf.cumsum(x[..., :1], 1))) for _ in range(15)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
