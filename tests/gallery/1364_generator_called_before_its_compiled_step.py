# case: generator_called_before_its_compiled_step
# verdict: bug; static: no
# cause: outside-tape
# expect_line: 54
# expect_variables: maker/*
# symptom_today: Keras warns that gradients do not exist; the fakes stay where they were
# exit: 1
# fix: call maker(noise) inside the tape of fool(), and hand over the noise
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)
maker = keras.Sequential(
    [keras.Input((3,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(2)], name="maker"
)
judge = keras.Sequential(
    [keras.Input((2,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)], name="judge"
)
slow, fast = keras.optimizers.Adam(2e-3), keras.optimizers.Adam(2e-3)
slow.build(maker.trainable_variables)
fast.build(judge.trainable_variables)
entropy = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def tell_apart(real, fake):
    with tf.GradientTape() as tape:
        yes, no = judge(real, training=True), judge(fake, training=True)
        loss = entropy(tf.ones_like(yes), yes) + entropy(tf.zeros_like(no), no)
    gradients = tape.gradient(loss, judge.trainable_variables)
    fast.apply_gradients(zip(gradients, judge.trainable_variables))
    return loss


@tf.function
def fool(fake):
    with tf.GradientTape() as tape:
        verdict = judge(fake, training=True)
        loss = entropy(tf.ones_like(verdict), verdict)
    gradients = tape.gradient(loss, maker.trainable_variables)
    slow.apply_gradients(zip(gradients, maker.trainable_variables))
    return loss


rng = np.random.default_rng(5)
for step in range(20):
    angle = rng.uniform(0, 2 * np.pi, 64)
    real = tf.constant(np.stack([np.cos(angle), np.sin(angle)], 1), tf.float32)
    # made once, for both

    noise = tf.random.normal((64, 3))

    fake = maker(noise, training=True)
    told, fooled = tell_apart(real, fake), fool(fake)
    print(step, float(told), float(fooled))
