# case: conditional_gan_loss_order
# verdict: bug; static: yes
# cause: loss-arguments-swapped
# expect_line: 23 27
# expect_variables: - (the loss; the score is used as the label)
# symptom_today: silent: losses far outside the range of a cross-entropy
# exit: 0
# fix: bce(tf.ones_like(real_score), real_score)
# source: DeepTrackAI/DeepTrack2 PR#157 (all losses of the CGAN were called as loss(y_pred, y_true); negative values with binary cross-entropy), bolunwang/backdoor#11
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
bce = keras.losses.BinaryCrossentropy()
gen = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(12, activation="relu"), keras.layers.Dense(2)], name="gen")
disc = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(12, activation="relu"),
                         keras.layers.Dense(1, activation="sigmoid")], name="disc")
g_opt, d_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)


def disc_loss(real_score, fake_score):
    return 0.5 * (bce(real_score, tf.ones_like(real_score)) + bce(fake_score, tf.zeros_like(fake_score)))


def gen_loss(fake_score):
    return bce(fake_score, tf.ones_like(fake_score))


@tf.function
def train(points, condition):
    noise = tf.random.normal((tf.shape(points)[0], 3))
    with tf.GradientTape() as d_tape, tf.GradientTape() as g_tape:
        fake = gen(tf.concat([noise, condition], axis=1), training=True)
        real_score = disc(tf.concat([points, condition], axis=1), training=True)
        fake_score = disc(tf.concat([fake, condition], axis=1), training=True)
        d_loss, g_loss = disc_loss(real_score, fake_score), gen_loss(fake_score)
    d_opt.apply_gradients(zip(d_tape.gradient(d_loss, disc.trainable_variables), disc.trainable_variables))
    g_opt.apply_gradients(zip(g_tape.gradient(g_loss, gen.trainable_variables), gen.trainable_variables))
    return d_loss, g_loss


rng = np.random.default_rng(0)
side = np.eye(2, dtype="float32")[rng.integers(0, 2, 48)]
points = (3.0 * side + 0.2 * rng.normal(size=(48, 2))).astype("float32")
for _ in range(5):
    d_loss, g_loss = train(points, side)
print("discriminator loss", float(d_loss), "generator loss", float(g_loss))
assert float(d_loss) > 4.0
