# case: mixture_weights_of_a_sampled_component
# verdict: bug; static: no
# cause: non-reparameterised-sample|non-differentiable-op
# expect_line: 23 38
# expect_variables: mixture_logits
# symptom_today: silent: UserWarning Gradients do not exist for mixture_logits; the other two are trained
# exit: 0
# fix: use the log density of the mixture, a Gumbel-softmax relaxation, or a score-function term for the component choice
# source: pytorch/pytorch#39178 and tensorflow/probability#1165 (mixture and discrete parameters get no gradient from a sample)
import numpy as np
import tensorflow as tf
import keras

tf.random.set_seed(0)
mixture_logits = tf.Variable(tf.zeros(3), name="mixture_logits")
centres = tf.Variable([[-1.0], [0.0], [1.0]], name="centres")
log_scales = tf.Variable(tf.fill([3, 1], -1.0), name="log_scales")
weights = [mixture_logits, centres, log_scales]
opt = keras.optimizers.Adam(0.05)


def draw(n):
    component = tf.random.categorical(mixture_logits[None, :], n, seed=4)[0]
    mean = tf.gather(centres, component)
    scale = tf.exp(tf.gather(log_scales, component))
    return mean + scale * tf.random.normal(tf.shape(mean), seed=5)


def energy_distance(a, b):
    cross = tf.reduce_mean(tf.abs(a - tf.transpose(b)))
    return 2.0 * cross - tf.reduce_mean(tf.abs(a - tf.transpose(a))) - tf.reduce_mean(tf.abs(b - tf.transpose(b)))


real = tf.constant(np.random.default_rng(0).choice([-2.0, 2.0], size=(64, 1), p=[0.8, 0.2]), tf.float32)
for it in range(10):
    with tf.GradientTape() as tape:
        loss = energy_distance(draw(64), real)
    grads = tape.gradient(loss, weights)
    opt.apply_gradients(zip(grads, weights))
print("loss", float(loss), "logits", mixture_logits.numpy())
assert not mixture_logits.numpy().any()
