# case: masks_and_weights_that_are_zero_in_places
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a term that is switched off, and a mask that lets some through
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.05)
x = tf.random.normal((16, 3), seed=1)
mask = tf.cast(x[:, 1:2] > 0.0, tf.float32)
penalty_weight = 0.0
losses = []
for _ in range(10):
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        error = tf.reduce_sum(mask * (out - x[:, :1]) ** 2) / tf.reduce_sum(mask)
        loss = error + penalty_weight * tf.reduce_sum(out**2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
