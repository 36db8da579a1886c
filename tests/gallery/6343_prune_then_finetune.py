# case: prune_then_finetune
# verdict: bug
# cause: variable-rebound
# expect_line: 33
# expect_variables: w0, w1
# symptom_today: no warning; after the pruning the loss stays several times higher than before (only the biases move)
# exit: 0
# fix: self.w.assign(self.w * self.mask)
# source: tensorflow/agents#220 (kernel replaced by a tensor), style of
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(4)


class Affine(tf.Module):
    def __init__(self, n_in, n_out, index):
        super().__init__()
        init = tf.random.normal([n_in, n_out], stddev=1.0 / np.sqrt(n_in))
        self.w = tf.Variable(init, name=f"w{index}")
        self.b = tf.Variable(tf.zeros([n_out]), name=f"b{index}")
        self.mask = tf.Variable(tf.ones([n_in, n_out]), trainable=False, name=f"mask{index}")

    def __call__(self, x):
        return x @ (self.w * self.mask) + self.b

    def keep_largest(self, share):
        size = tf.abs(self.w)
        k = int(share * float(tf.size(size)))
        limit = tf.sort(tf.reshape(size, [-1]), direction="DESCENDING")[k - 1]
        self.mask.assign(tf.cast(size >= limit, tf.float32))
        self.w = self.w * self.mask


class Regressor(tf.Module):
    def __init__(self):
        super().__init__()
        self.first = Affine(8, 32, 0)
        self.second = Affine(32, 1, 1)

    def __call__(self, x):
        return self.second(tf.nn.tanh(self.first(x)))


x = tf.random.normal([512, 8])
y = tf.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3]
net = Regressor()
optimizer = keras.optimizers.Adam(0.03)


def fit(steps, label):
    for step in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(x) - y))
        variables = net.trainable_variables
        grads = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(grads, variables))
        if step % 23 == 0:
            print(f"{label} step {step:3d} loss {float(loss):.4f}")
    return float(loss)


dense = fit(70, "dense")
for layer in (net.first, net.second):
    layer.keep_largest(0.3)
sparse = fit(70, "pruned")
print(f"dense {dense:.4f}, pruned and fine-tuned {sparse:.4f}")
