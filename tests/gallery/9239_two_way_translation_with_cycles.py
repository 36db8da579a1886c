# case: two_way_translation_with_cycles
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (CycleGAN pattern)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


def mlp(out, name):
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(16, activation="leaky_relu"), keras.layers.Dense(out)], name=name)


to_b, to_a = mlp(2, "to_b"), mlp(2, "to_a")
judge_a, judge_b = mlp(1, "judge_a"), mlp(1, "judge_b")
nets = [to_b, to_a, judge_a, judge_b]
opts = [keras.optimizers.Adam(1e-3, beta_1=0.5) for _ in nets]


@tf.function
def step(a, b):
    with tf.GradientTape(persistent=True) as tape:
        fake_b, fake_a = to_b(a, training=True), to_a(b, training=True)
        cycle = tf.reduce_mean(tf.abs(to_a(fake_b) - a)) + tf.reduce_mean(tf.abs(to_b(fake_a) - b))
        gen_b = tf.reduce_mean(tf.square(judge_b(fake_b) - 1.0)) + 5.0 * cycle
        gen_a = tf.reduce_mean(tf.square(judge_a(fake_a) - 1.0)) + 5.0 * cycle
        dis_a = tf.reduce_mean(tf.square(judge_a(a) - 1.0)) + tf.reduce_mean(tf.square(judge_a(tf.stop_gradient(fake_a))))
        dis_b = tf.reduce_mean(tf.square(judge_b(b) - 1.0)) + tf.reduce_mean(tf.square(judge_b(tf.stop_gradient(fake_b))))
    pairs = [(tape.gradient(loss, net.trainable_variables), net) for loss, net in zip([gen_b, gen_a, dis_a, dis_b], nets)]
    for opt, (grads, net) in zip(opts, pairs):
        opt.apply_gradients(zip(grads, net.trainable_variables))
    return cycle


rng = np.random.default_rng(0)
log = []
for it in range(60):
    a = tf.constant(rng.normal(size=(32, 2)) + [2.0, 0.0], tf.float32)
    b = tf.constant(rng.normal(size=(32, 2)) * [0.5, 2.0], tf.float32)
    log.append(float(step(a, b)))
print(log[0], log[-1])
assert log[-1] < log[0]
