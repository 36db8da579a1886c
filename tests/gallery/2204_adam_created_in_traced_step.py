# case: adam_created_in_traced_step
# verdict: bug; static: yes
# cause: variable-created-in-tf-function | optimizer-recreated
# expect_line: 20 24
# expect_variables: - (the state of the optimizer is never made)
# symptom_today: raises ValueError: tf.function only supports singleton tf.Variables created on the first call.
# exit: 1 (ValueError)
# fix: create the optimizer once, outside the traced function
# source: tensorflow/tensorflow#27120 (tf.function-decorated function tried to create variables on non-first call: the slots of the optimizer)
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
loss_fn = keras.losses.MeanSquaredError()


@tf.function
def train_step(x, y, rate):
    optimizer = keras.optimizers.Adam(learning_rate=1e-2)
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True)) * rate
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


x = tf.random.normal((16, 3), seed=0)
y = tf.reduce_sum(x, axis=1, keepdims=True)
for epoch in range(3):
    print(epoch, float(train_step(x, y, tf.constant(1.0))))
