# case: point_features_pooled_by_scatter_max
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import tensorflow as tf
import keras

keras.utils.set_random_seed(102)
point_net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8), keras.layers.LeakyReLU()])
head = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.02)
points = tf.random.normal((60, 3))
voxel = tf.random.uniform((60, 1), 0, 10, dtype=tf.int32)
target = tf.random.normal((10, 1))
losses = []
for step in range(40):
    with tf.GradientTape() as tape:
        features = point_net(points, training=True)
        grid = tf.tensor_scatter_nd_max(tf.fill((10, 8), -5.0), voxel, features)
        loss = tf.reduce_mean(tf.square(head(grid) - target))
    variables = point_net.trainable_variables + head.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    losses.append(float(loss))
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
