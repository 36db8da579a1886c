# case: instance_norm_at_the_one_pixel_bottleneck
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 20 25
# expect_variables: bottleneck/*, down1/* (the convolutions before the norm)
# symptom_today: silent: the gradient of the convolution before the norm is exactly zero
# exit: 0
# fix: no instance norm where the map is 1x1
# source: junyanz/pytorch-CycleGAN-and-pix2pix#60 (a 1x1 map that is normalised becomes 0); #782
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(18)
inputs = keras.Input((8, 8, 1))


def down(x, filters, stride, name):
    x = layers.Conv2D(filters, 4, strides=stride, padding="same", name=name)(x)
    x = layers.GroupNormalization(groups=-1, name=name + "_norm")(x)
    return layers.LeakyReLU()(x)


x = down(inputs, 4, 2, "down1")
x = down(x, 8, 4, "bottleneck")
x = layers.Conv2DTranspose(4, 8, strides=8, padding="same", activation="leaky_relu", name="up")(x)
outputs = layers.Conv2D(1, 3, padding="same", name="picture")(x)
generator = keras.Model(inputs, outputs)
opt = keras.optimizers.Adam(2e-3)

source = tf.random.normal((6, 8, 8, 1))
target = tf.sign(source)
for step in range(12):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(generator(source, training=True) - target))
    grads = tape.gradient(loss, generator.trainable_variables)
    opt.apply_gradients(zip(grads, generator.trainable_variables))
norms = {v.path: float(tf.norm(g)) for g, v in zip(grads, generator.trainable_variables)}
print(float(loss), norms)
assert norms["bottleneck/kernel"] == 0.0 and norms["down1/kernel"] == 0.0
