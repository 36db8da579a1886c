# case: five_folds_each_with_its_own_optimizer
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(104)
x = np.random.default_rng(1).normal(size=(50, 4)).astype("float32")
y = x @ np.array([[1.0], [-2.0], [0.5], [0.0]], "float32")
folds = np.arange(50) % 5


def make_step(model, optimizer):
    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(xb, training=True) - yb))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss
    return step


scores = []
for k in range(5):
    keras.backend.clear_session()
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam(0.1)
    optimizer.build(model.trainable_variables)
    step = make_step(model, optimizer)
    for _ in range(40):
        step(x[folds != k], y[folds != k])
    scores.append(float(np.mean((model(x[folds == k]).numpy() - y[folds == k]) ** 2)))
print(scores)
assert max(scores) < 2.0
