# case: class_centres_moved_by_hand
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: centre loss and k-means layers, whose centres are updated without gradients
import keras
import tensorflow as tf

keras.utils.set_random_seed(3)


class CentreLoss(keras.layers.Layer):
    def __init__(self, classes, dim, rate=0.3):
        super().__init__()
        self.centres = self.add_weight(shape=(classes, dim), initializer="random_normal", trainable=False, name="centres")
        self.rate = rate

    def call(self, z, labels):
        mine = tf.gather(self.centres, labels)
        loss = tf.reduce_mean((z - mine) ** 2)
        onehot = tf.one_hot(labels, self.centres.shape[0])
        counts = tf.reduce_sum(onehot, 0)[:, None]
        pull = tf.matmul(onehot, z - mine, transpose_a=True) / (1.0 + counts)
        self.centres.assign_add(self.rate * tf.stop_gradient(pull))
        return loss


net = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(3)])
head, centre = keras.layers.Dense(2), CentreLoss(2, 3)
head.build((None, 3))
opt = keras.optimizers.Adam(0.02)
x = tf.random.normal((40, 5), seed=3)
labels = tf.cast(x[:, 0] > 0, tf.int32)
variables = net.trainable_variables + head.trainable_variables


@tf.function
def step():
    with tf.GradientTape() as tape:
        z = net(x, training=True)
        xent = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, head(z)))
        loss = xent + 0.1 * centre(z, labels)
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


losses = [float(step()) for _ in range(15)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
