# case: normalisation_in_inference_mode_on_purpose
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: fine-tuning with frozen batch statistics in a custom loop
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
net = keras.Sequential(
    [keras.layers.Input((6,)), keras.layers.Dense(8), keras.layers.BatchNormalization(), keras.layers.ReLU(), keras.layers.Dense(1)]
)
opt = keras.optimizers.Adam(0.01)
x = tf.random.normal((48, 6), seed=3)
y = tf.reduce_sum(x[:, :2], 1, keepdims=True)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=False) - y) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


losses = [float(step(x, y)) for _ in range(15)]
assert losses[-1] < losses[0]
print(losses[0], losses[-1])
