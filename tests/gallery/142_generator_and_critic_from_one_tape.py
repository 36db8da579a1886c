# case: generator_and_critic_from_one_tape
# verdict: bug; static: yes
# cause: tape-not-persistent
# expect_line: 27 32
# expect_variables: -
# symptom_today: raises RuntimeError: a non-persistent GradientTape can only be used once
# exit: 1 (RuntimeError)
# fix: GradientTape(persistent=True), or one tape for each network
# seen: GAN train steps in a subclassed Model
import keras
import numpy as np
import tensorflow as tf


class TinyGAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.gen = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(3)])
        self.critic = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])

    def compile(self, gen_opt, critic_opt):
        super().compile()
        self.gen_opt, self.critic_opt = gen_opt, critic_opt

    def train_step(self, real):
        noise = tf.random.normal((tf.shape(real)[0], 2))
        with tf.GradientTape() as tape:
            fake = self.gen(noise)
            critic_loss = tf.reduce_mean(self.critic(fake)) - tf.reduce_mean(self.critic(real))
            gen_loss = -tf.reduce_mean(self.critic(fake))
        for loss, net, opt in [(critic_loss, self.critic, self.critic_opt), (gen_loss, self.gen, self.gen_opt)]:
            grads = tape.gradient(loss, net.trainable_variables)
            opt.apply_gradients(zip(grads, net.trainable_variables))
        return {"critic": critic_loss, "gen": gen_loss}


gan = TinyGAN()
gan.compile(keras.optimizers.Adam(), keras.optimizers.Adam())
gan.fit(np.random.default_rng(0).normal(size=(16, 3)).astype("float32"), epochs=1, verbose=0)
