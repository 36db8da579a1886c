# case: one_device_strategy_loop
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (tf.distribute)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
global_batch = 16
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.1), keras.layers.Dense(1)])
    opt = keras.optimizers.SGD(0.05)
    opt.build(model.trainable_variables)
    mse = keras.losses.MeanSquaredError(reduction="none")

rng = np.random.default_rng(0)
x = rng.normal(size=(64, 4)).astype("float32")
y = x[:, :1] - x[:, 1:2]
data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(global_batch, drop_remainder=True))


def replica_step(batch):
    bx, by = batch
    with tf.GradientTape() as tape:
        per_example = mse(by, model(bx, training=True))
        loss = tf.nn.compute_average_loss(per_example, global_batch_size=global_batch)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


@tf.function
def train_step(batch):
    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica_step, args=(batch,)), axis=None)


log = []
for epoch in range(10):
    log.append(float(np.mean([train_step(batch) for batch in data])))
print(log[0], log[-1])
assert log[-1] < log[0]
