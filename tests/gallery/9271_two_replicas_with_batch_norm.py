# case: two_replicas_with_batch_norm
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (tf.distribute)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
global_batch = 32
with strategy.scope():
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(16), keras.layers.BatchNormalization(), keras.layers.ReLU(), keras.layers.Dense(1)]
    )
    opt = keras.optimizers.Adam(0.02)
    opt.build(model.trainable_variables)
    seen = keras.metrics.Mean()

rng = np.random.default_rng(0)
x = rng.normal(size=(128, 4)).astype("float32")
y = np.sin(x[:, :1]) - x[:, 1:2]


@tf.function
def train_step(bx, by):
    def replica_step(bx, by):
        target = tf.stop_gradient(by)
        with tf.GradientTape() as tape:
            error = (model(bx, training=True) - target)[:, 0] ** 2
            loss = tf.nn.compute_average_loss(error, global_batch_size=global_batch)
        opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        seen.update_state(error)

    strategy.run(replica_step, args=(bx, by))


data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(global_batch))
log = []
for epoch in range(12):
    seen.reset_state()
    for batch in data:
        train_step(*batch)
    log.append(float(seen.result()))
print(log[0], log[-1])
assert log[-1] < 0.5 * log[0]
