# case: boxes_pasted_on_a_canvas
# verdict: bug; static: no
# cause: assign-breaks-gradient | non-differentiable-op
# expect_line: 29 30 32 33
# expect_variables: generator/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: draw the box with a soft mask (products of sigmoids of the corners) instead of writing into a variable
# seen: a weightless drawing layer between generator and discriminator
import keras
import tensorflow as tf

CANVAS = 12
generator = keras.Sequential(
    [keras.layers.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4, activation="sigmoid")],
    name="generator",
)
discriminator = keras.Sequential(
    [keras.layers.Input((CANVAS, CANVAS)), keras.layers.Flatten(), keras.layers.Dense(1)], name="discriminator"
)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
opt = keras.optimizers.Adam(1e-3)


def paste(corners):
    images = []
    for box in corners:
        canvas = tf.Variable(tf.zeros((CANVAS, CANVAS)))
        top, left, bottom, right = tf.unstack(tf.cast(box * CANVAS, tf.int32))
        for row in range(int(top), int(bottom) + 1):
            row, end = min(row, CANVAS - 1), min(int(right) + 1, CANVAS)
            canvas[row, int(left) : end].assign(tf.ones(max(0, end - int(left))))
        images.append(canvas.read_value())
    return tf.stack(images)


for step in range(2):
    z = tf.random.normal((3, 4), seed=step)
    with tf.GradientTape() as tape:
        fake = paste(generator(z, training=True))
        verdict = discriminator(fake, training=True)
        g_loss = bce(tf.ones_like(verdict), verdict)
    grads = tape.gradient(g_loss, generator.trainable_variables)
    opt.apply_gradients(zip(grads, generator.trainable_variables))
