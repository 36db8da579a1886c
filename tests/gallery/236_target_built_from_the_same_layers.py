# case: target_built_from_the_same_layers
# verdict: bug; static: no
# cause: aliased-network
# expect_line: 22 34 39
# expect_variables: dense/*, dense_1/* (every layer of q_net)
# symptom_today: silent: the target moves with every step of the online network
# exit: 0
# fix: keras.models.clone_model(q_net), then target.set_weights
# seen: value-based agents whose target is a second Model over the same tensors
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


def build_agent():
    observation = keras.Input((4,))
    h = keras.layers.Dense(16, activation="relu")(observation)
    values = keras.layers.Dense(2)(h)
    q_net = keras.Model(observation, values, name="q_net")
    target = keras.Model(observation, values, name="target")
    target.set_weights(q_net.get_weights())
    return q_net, target


q_net, target = build_agent()
opt = keras.optimizers.Adam(0.01)
rng = np.random.default_rng(0)


@tf.function
def learn(s, a, r, s2):
    best = tf.reduce_max(target(s2), axis=-1)
    with tf.GradientTape() as tape:
        q = tf.gather(q_net(s, training=True), a, batch_dims=1)
        loss = tf.reduce_mean(tf.square(r + 0.9 * best - q))
    grads = tape.gradient(loss, q_net.trainable_variables)
    opt.apply_gradients(zip(grads, q_net.trainable_variables))
    return loss


before = target.get_weights()[0]
for step in range(8):
    batch = rng.normal(size=(2, 16, 4)).astype("float32")
    learn(batch[0], tf.constant(rng.integers(0, 2, 16)), tf.constant(batch[0, :, 0]), batch[1])
    if step % 100 == 99:
        target.set_weights(q_net.get_weights())
assert not np.array_equal(before, target.get_weights()[0])
