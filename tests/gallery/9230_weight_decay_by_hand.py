# case: weight_decay_by_hand
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; the penalty is summed over the kernels in the loss, model.losses is added as well
# exit: 0
# fix: -
# source: own; the right form of hunglc007/tensorflow-yolov4-tflite#369
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(16, activation="relu")
        self.code = keras.layers.Dense(4, activation="relu", activity_regularizer=keras.regularizers.L1(1e-3))
        self.out = keras.layers.Dense(2)

    def call(self, x):
        return self.out(self.code(self.first(x)))


def l2_of_kernels(model, strength=1e-3):
    kernels = [v for v in model.trainable_variables if v.path.endswith("kernel")]
    return strength * tf.add_n([tf.nn.l2_loss(tf.convert_to_tensor(k)) for k in kernels])


net, opt = Net(), keras.optimizers.Nadam(1e-2)
x = tf.random.normal((80, 6), seed=1)
y = tf.cast(x[:, 0] * x[:, 1] > 0, tf.int32)
net(x[:1])


@tf.function
def step():
    with tf.GradientTape() as tape:
        logits = net(x, training=True)
        data_term = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        loss = data_term + l2_of_kernels(net) + tf.add_n(net.losses)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


losses = [float(step()) for _ in range(40)]
assert losses[-1] < losses[0]
print("ok", losses[0], losses[-1])
