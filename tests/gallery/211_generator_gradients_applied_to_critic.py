# case: generator_gradients_applied_to_critic
# verdict: bug; static: yes
# cause: misrouted-gradient
# expect_line: 33
# expect_variables: critic/*
# symptom_today: silent: equal shapes, so the critic is moved by the generator's gradients
# exit: 0
# fix: zip(gen_grads, generator.trainable_variables)
# seen: symmetric networks (cycle GANs) and copy-and-paste
import keras
import numpy as np
import tensorflow as tf


def mlp(name):
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(4)], name=name)


generator, critic = mlp("generator"), mlp("critic")
gen_opt, critic_opt = keras.optimizers.SGD(0.1), keras.optimizers.SGD(0.1)


@tf.function
def play(real, noise):
    with tf.GradientTape() as gen_tape, tf.GradientTape() as critic_tape:
        fake = generator(noise, training=True)
        on_fake, on_real = critic(fake), critic(real)
        gen_loss = -tf.reduce_mean(on_fake)
        critic_loss = tf.reduce_mean(on_fake) - tf.reduce_mean(on_real)
    gen_grads = gen_tape.gradient(gen_loss, generator.trainable_variables)
    critic_grads = critic_tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(critic_grads, critic.trainable_variables))
    gen_opt.apply_gradients(zip(gen_grads, critic.trainable_variables))
    return gen_loss, critic_loss


kept = generator.get_weights()[0].copy()
for _ in range(3):
    play(tf.random.normal((8, 4), seed=1), tf.random.normal((8, 4), seed=2))
assert np.array_equal(kept, generator.get_weights()[0])
print("the generator has not moved")
