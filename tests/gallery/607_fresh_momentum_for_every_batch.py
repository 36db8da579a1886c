# case: fresh_momentum_for_every_batch
# verdict: bug; static: yes
# cause: optimizer-recreated
# expect_line: 17 21
# expect_variables: - (the optimizer's moments)
# symptom_today: silent: Adam's moments start from zero at each batch
# exit: 0
# fix: make the optimizer once
# seen: helper functions with a default optimizer built inside
import keras
import tensorflow as tf

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, activation="relu"), keras.layers.Dense(1)])


def make_optimizer(name="adam", rate=1e-2):
    return {"adam": keras.optimizers.Adam, "sgd": keras.optimizers.SGD}[name](rate)


def learn(x, y, optimizer=None):
    optimizer = optimizer or make_optimizer()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return optimizer, float(loss)


x = tf.random.normal((40, 4), seed=0)
data = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(8)
iterations = []
for xb, yb in data:
    used, loss = learn(xb, yb)
    iterations.append(int(used.iterations.numpy()))
print(iterations)
assert iterations == [1] * 5
