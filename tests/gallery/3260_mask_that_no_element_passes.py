# case: mask_that_no_element_passes
# verdict: bug
# cause: zero-gradient-op
# expect_line: 23
# expect_variables: dense/*, dense_1/*
# symptom_today: the loss stays at 0
# exit: 0
# fix: the mask is for labels that are not padding: y != 0
# seen: padding masked by the wrong comparison
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.01)
x = tf.random.normal((16, 3), seed=1)
y = tf.abs(x[:, :1]) + 1.0
before = model.get_weights()
for _ in range(6):
    with tf.GradientTape() as tape:
        error = (model(x, training=True) - y) ** 2
        mask = tf.cast(y < 0.0, tf.float32)
        loss = tf.reduce_sum(error * mask) / (tf.reduce_sum(mask) + 1e-6)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
assert all((a == b).all() for a, b in zip(before, model.get_weights()))
