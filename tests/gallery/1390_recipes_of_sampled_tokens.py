# case: text_gan_samples_tokens_for_the_discriminator
# verdict: bug
# cause: non-reparameterised-sample | non-differentiable-op
# expect_line: 52 66
# expect_variables: plan/kernel, plan/bias, token_logits/kernel, token_logits/bias
# symptom_today: the first generator update stops with "No gradients provided for any variable", as the sampled token ids are integers
# exit: 1
# fix: hand the discriminator a straight-through Gumbel-softmax sample (times the embedding matrix), or train the writer with REINFORCE
# source: GitHub tensorflow/tensorflow issue 52260: a GAN whose generator output went through an index op before the discriminator had no gradient for the generator
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(19)
VOCAB, LENGTH, NOISE = 12, 6, 8


def real_sequences(n, rng):
    """Recipes: a tool, then ingredients in ascending order."""
    tool = rng.integers(0, 3, (n, 1))
    rest = np.sort(rng.integers(3, VOCAB, (n, LENGTH - 1)), axis=1)
    return np.concatenate([tool, rest], 1).astype("int32")


def build_writer():
    noise = layers.Input((NOISE,))
    h = layers.Dense(64, activation="relu", name="plan")(noise)
    h = layers.Dense(LENGTH * VOCAB, name="token_logits")(h)
    return keras.Model(noise, layers.Reshape((LENGTH, VOCAB))(h), name="writer")


def build_critic():
    ids = layers.Input((LENGTH,), dtype="int32")
    h = layers.Embedding(VOCAB, 16, name="token_embedding")(ids)
    h = layers.Flatten()(h)
    h = layers.Dense(48, activation="relu", name="read")(h)
    return keras.Model(ids, layers.Dense(1, name="verdict")(h), name="critic")


class RecipeGAN:
    def __init__(self):
        self.writer, self.critic = build_writer(), build_critic()
        self.w_opt = keras.optimizers.Adam(1e-3)
        self.c_opt = keras.optimizers.Adam(1e-3)
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    def write(self, n):
        logits = self.writer(tf.random.normal((n, NOISE)))
        flat = tf.reshape(logits, [-1, VOCAB])
        tokens = tf.random.categorical(flat, 1, dtype=tf.int32)
        return tf.reshape(tokens, [n, LENGTH])

    def critic_step(self, real):
        fake = self.write(len(real))
        with tf.GradientTape() as tape:
            on_real, on_fake = self.critic(real), self.critic(fake)
            loss = self.bce(tf.ones_like(on_real), on_real) + self.bce(tf.zeros_like(on_fake), on_fake)
        w = self.critic.trainable_variables
        self.c_opt.apply_gradients(zip(tape.gradient(loss, w), w))
        return float(loss)

    def writer_step(self, n):
        with tf.GradientTape() as tape:
            on_fake = self.critic(self.write(n))
            loss = self.bce(tf.ones_like(on_fake), on_fake)
        w = self.writer.trainable_variables
        grads = tape.gradient(loss, w)
        self.w_opt.apply_gradients(zip(grads, w))
        return float(loss)


def main():
    rng = np.random.default_rng(0)
    gan = RecipeGAN()
    for it in range(60):
        # the critic gets a short head start
        c = gan.critic_step(tf.constant(real_sequences(64, rng)))
        if it >= 20:
            g = gan.writer_step(64)
            if it % 10 == 0:
                print(f"{it:3d} critic {c:.3f} writer {g:.3f}")
    print("sample:", gan.write(2).numpy())


main()
