# case: simsiam_stops_the_predictor
# verdict: bug; static: no
# cause: stop-gradient
# expect_line: 20
# expect_variables: predictor/*
# symptom_today: UserWarning: Gradients do not exist for variables ['predictor/dense_2/kernel', ...] when minimizing the loss
# exit: 0
# fix: stop the gradient of the target branch z, not of the prediction p
# source: lightly-ai/lightly#559 and PatrickHua/SimSiam#39 (which branch of SimSiam must be detached)
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
encoder = keras.Sequential([keras.layers.Input((12,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(8)], name="encoder")
predictor = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(8)], name="predictor")
opt = keras.optimizers.SGD(0.05, momentum=0.9)


def negative_cosine(p, z):
    p = tf.stop_gradient(p)
    p = tf.math.l2_normalize(p, axis=1, epsilon=1e-6)
    z = tf.math.l2_normalize(z, axis=1, epsilon=1e-6)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=1))


def two_views(batch, seed):
    return [batch + 0.1 * tf.random.stateless_normal(tf.shape(batch), seed=(seed, k)) for k in (0, 1)]


@tf.function
def train_step(view_a, view_b):
    with tf.GradientTape() as tape:
        z_a, z_b = encoder(view_a, training=True), encoder(view_b, training=True)
        p_a, p_b = predictor(z_a, training=True), predictor(z_b, training=True)
        loss = 0.5 * negative_cosine(p_a, z_b) + 0.5 * negative_cosine(p_b, z_a)
    weights = encoder.trainable_variables + predictor.trainable_variables
    grads = tape.gradient(loss, weights)
    opt.apply_gradients(zip(grads, weights))
    return loss


data = tf.random.normal((32, 12), seed=9)
for step in range(4):
    print(step, float(train_step(*two_views(data, step))))
