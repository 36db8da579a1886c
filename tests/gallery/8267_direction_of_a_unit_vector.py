# case: direction_of_a_unit_vector
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: embeddings on the sphere, and attention that adds up to one, both used entry by entry
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(3)])
opt = keras.optimizers.SGD(0.1)
x = tf.random.normal((16, 5), seed=1)
goal = tf.math.l2_normalize(x[:, :3], axis=-1)
losses = []
for _ in range(12):
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        unit = tf.math.l2_normalize(out, axis=-1)
        share = tf.nn.softmax(out)
        spread = tf.reduce_sum(share * tf.constant([0.0, 1.0, 2.0]), axis=-1)
        loss = tf.reduce_mean(1.0 - tf.reduce_sum(unit * goal, axis=-1)) + 0.1 * tf.reduce_mean((spread - 1.0) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
