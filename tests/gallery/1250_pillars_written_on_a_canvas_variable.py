# case: pillars_written_on_a_canvas_variable
# verdict: bug; static: yes
# cause: assign-breaks-gradient
# expect_line: 27
# expect_variables: pillar/*
# symptom_today: warning: Gradients do not exist for variables of the pillar network
# exit: 0
# fix: tf.scatter_nd (or tf.tensor_scatter_nd_update on a tensor) makes a new tensor and carries the gradient
# source: tensorflow/tensorflow#23646 (scatter_nd_update has no gradient)
import tensorflow as tf
import keras

keras.utils.set_random_seed(11)
pillar = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, activation="relu")], name="pillar")
head = keras.Sequential([keras.layers.Input((6, 6, 3)), keras.layers.Conv2D(1, 3, padding="same")], name="head")
canvas = tf.Variable(tf.zeros((6, 6, 3)), trainable=False, name="canvas")
opt = keras.optimizers.Adam(1e-2)
points = tf.random.uniform((10, 4), seed=1)
cells = tf.constant([[i // 6 * 3, i % 6] for i in range(10)])
heat = tf.random.uniform((1, 6, 6, 1), seed=2)


def train_step():
    with tf.GradientTape() as tape:
        features = pillar(points, training=True)
        canvas.assign(tf.zeros_like(canvas))
        canvas.scatter_nd_update(cells, features)
        prediction = head(canvas[None], training=True)
        loss = tf.reduce_mean(tf.square(prediction - heat))
    variables = pillar.trainable_variables + head.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for _ in range(4):
    print(float(train_step()))
