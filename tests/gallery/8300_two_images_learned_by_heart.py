# case: two_images_learned_by_heart
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: more than half of the units are silent on two images of positive numbers, and the rest learns them
# exit: 0
# fix: -
# source: own words, the usual first test of a new network: does it fit one small batch
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
images = tf.random.uniform((2, 64))
target = tf.constant([[1.0], [2.0]])
net = tf.keras.Sequential([
    tf.keras.layers.Dense(24, activation="relu"),
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1),
])
net.compile(tf.keras.optimizers.Adam(0.01), "mse")
losses = net.fit(images, target, epochs=25, verbose=0).history["loss"]
print(losses[0], losses[-1])
assert losses[-1] < 0.2 * losses[0]
