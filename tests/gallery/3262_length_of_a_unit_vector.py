# case: length_of_a_unit_vector
# verdict: bug
# cause: zero-gradient-op
# expect_line: 21
# expect_variables: dense/*, dense_1/*
# symptom_today: the gradients are of the size of rounding errors, and the loss stays where it is
# exit: 0
# fix: penalise the length of the vector before it is normalised
# seen: embeddings on the sphere, with a penalty on their length
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(3)])
opt = keras.optimizers.SGD(0.1)
x = tf.random.normal((16, 5), seed=1)
losses = []
for _ in range(12):
    with tf.GradientTape() as tape:
        unit = tf.math.l2_normalize(model(x, training=True), axis=-1)
        length = tf.reduce_sum(unit**2, axis=-1)
        loss = tf.reduce_mean((length - 2.0) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    losses.append(float(loss))
assert abs(losses[-1] - losses[0]) < 1e-5
