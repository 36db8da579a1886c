# case: encoder_frozen_by_stop_on_two_replicas
# verdict: bug; static: no
# cause: stop-gradient
# expect_line: 35
# expect_variables: sequential/dense/*
# symptom_today: the encoder never moves on any replica; no message
# exit: 0
# fix: leave stop_gradient out once the warm-up is over
# source: own (tf.distribute)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
global_batch = 16
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
    opt = keras.optimizers.SGD(0.05)
    opt.build(model.trainable_variables)
encoder, head = model.layers
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 4)).astype("float32")
y = x[:, :1] - x[:, 1:2]
before = encoder.get_weights()


@tf.function
def train_step(bx, by):
    def replica_step(bx, by):
        with tf.GradientTape() as tape:
            features = encoder(bx)
            features = tf.stop_gradient(features)
            loss = tf.nn.compute_average_loss((head(features) - by)[:, 0] ** 2, global_batch_size=global_batch)
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients([(g, v) for g, v in zip(grads, model.trainable_variables) if g is not None])
        return loss

    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica_step, args=(bx, by)), axis=None)


data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(global_batch))
for epoch in range(3):
    losses = [float(train_step(*batch)) for batch in data]
print(losses[-1])
assert all(np.array_equal(a, b) for a, b in zip(before, encoder.get_weights()))
