# case: rates_scaled_by_depth
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: layer-wise learning rates by scaling gradients
import keras
import tensorflow as tf

keras.utils.set_random_seed(9)
layers = [keras.layers.Dense(6, activation="relu", name=f"l{i}") for i in range(3)] + [keras.layers.Dense(1, name="top")]
net = keras.Sequential([keras.layers.Input((6,)), *layers])
opt = keras.optimizers.Adam(0.02)
factor = {v.path: 0.5 ** (3 - depth) for depth, layer in enumerate(layers) for v in layer.trainable_variables}


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(net(x, training=True) - y))
    pairs = []
    for g, v in zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables):
        pairs.append((tf.clip_by_norm(g, 1.0) * factor[v.path], v))
    opt.apply_gradients(pairs)
    return loss


x = tf.random.normal((50, 6), seed=3)
losses = [float(step(x, tf.reduce_mean(x, 1, keepdims=True))) for _ in range(15)]
assert losses[-1] < losses[0]
print(losses[0], losses[-1])
