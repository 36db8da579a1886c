# case: adversarial_training
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: FGSM and PGD examples in the train step
import keras
import tensorflow as tf

keras.utils.set_random_seed(5)
net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(10, activation="relu"), keras.layers.Dense(2)])
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
opt = keras.optimizers.Adam(0.02)


def attack(x, y, epsilon=0.1, steps=2):
    worse = x + tf.random.uniform(tf.shape(x), -epsilon, epsilon)
    for _ in range(steps):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(worse)
            loss = xent(y, net(worse, training=False))
        worse = worse + 0.05 * tf.sign(tape.gradient(loss, worse))
        worse = tf.clip_by_value(worse, x - epsilon, x + epsilon)
    return tf.stop_gradient(worse)


@tf.function
def step(x, y):
    adversarial = attack(x, y)
    with tf.GradientTape() as tape:
        loss = xent(y, net(adversarial, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


x = tf.random.normal((60, 4), seed=6)
y = tf.cast(x[:, 0] + x[:, 1] > 0, tf.int32)
losses = [float(step(x, y)) for _ in range(15)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
