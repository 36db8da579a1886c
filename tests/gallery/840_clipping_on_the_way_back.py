# case: clipping_on_the_way_back
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: custom_gradient that clips what flows back
import keras
import tensorflow as tf


def clip_backward(limit):
    @tf.custom_gradient
    def identity(x):
        def backward(dy):
            return tf.clip_by_norm(dy, limit)

        return tf.identity(x), backward

    return identity


@tf.custom_gradient
def reverse(x, strength):
    def backward(dy):
        return -strength * dy, None

    return tf.identity(x), backward


keras.utils.set_random_seed(2)
encoder = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(6, activation="relu")])
label, domain = keras.layers.Dense(1), keras.layers.Dense(1)
label.build((None, 6)), domain.build((None, 6))
variables = encoder.trainable_variables + label.trainable_variables + domain.trainable_variables
opt = keras.optimizers.Adam(0.01)
gentle = clip_backward(0.5)
x = tf.random.normal((40, 5), seed=2)
losses = []
for _ in range(12):
    with tf.GradientTape() as tape:
        h = gentle(encoder(x))
        task = tf.reduce_mean((label(h) - x[:, :1]) ** 2)
        confusion = tf.reduce_mean(tf.nn.softplus(domain(reverse(h, tf.constant(0.1)))))
        loss = task + confusion
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    losses.append(float(task))
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
