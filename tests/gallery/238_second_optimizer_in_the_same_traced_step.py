# case: second_optimizer_in_the_same_traced_step
# verdict: bug; static: no
# cause: variable-created-in-tf-function | optimizer-variable-mismatch
# expect_line: 23 32
# expect_variables: - (the state of the second optimizer is never made)
# symptom_today: raises ValueError: tf.function only supports singleton tf.Variables created on the first call
# exit: 1 (ValueError)
# fix: one traced step for each optimizer, or build the optimizer before the step is traced
# seen: switching from Adam to SGD after a warm-up
import keras
import tensorflow as tf

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
adam = keras.optimizers.Adam(1e-3)
momentum = keras.optimizers.SGD(1e-2, momentum=0.9)


@tf.function
def train_step(x, y, optimizer):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def train(epochs, warmup):
    x = tf.random.normal((32, 4), seed=0)
    y = tf.reduce_sum(x, axis=1, keepdims=True)
    for epoch in range(epochs):
        optimizer = adam if epoch < warmup else momentum
        print(epoch, float(train_step(x, y, optimizer)))


train(epochs=4, warmup=2)
