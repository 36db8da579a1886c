# case: bicubic_upsampling_under_a_gradient_penalty
# verdict: bug; static: no
# cause: no-registered-gradient
# expect_line: 21 34 45
# expect_variables: critic/*
# symptom_today: raises LookupError: gradient registry has no entry for: ResizeBicubicGrad
# exit: 1 (LookupError)
# fix: resize with bilinear or nearest interpolation, whose gradients can be differentiated again
# seen: progressive critics with resize layers trained with a gradient penalty
import keras
import tensorflow as tf


class Critic(keras.Model):
    def __init__(self):
        super().__init__(name="critic")
        self.conv = keras.layers.Conv2D(4, 3, activation="elu")
        self.score = keras.layers.Dense(1)

    def call(self, images):
        h = tf.image.resize(images, (8, 8), method="bicubic")
        h = self.conv(h)
        return self.score(keras.ops.reshape(h, (-1, 6 * 6 * 4)))


critic = Critic()
opt = keras.optimizers.Adam(1e-4, beta_1=0.0)


def penalty(mixed):
    with tf.GradientTape() as inner:
        inner.watch(mixed)
        score = critic(mixed)
    slope = inner.gradient(score, mixed)
    length = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=[1, 2, 3]) + 1e-12)
    return tf.reduce_mean((length - 1.0) ** 2)


@tf.function
def critic_step(real, fake):
    share = tf.random.uniform((tf.shape(real)[0], 1, 1, 1))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
        loss += 10.0 * penalty(share * real + (1.0 - share) * fake)
    grads = tape.gradient(loss, critic.trainable_variables)
    opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss


real = tf.random.uniform((4, 4, 4, 1), seed=2)
critic(real)
print(float(critic_step(real, tf.zeros_like(real))))
