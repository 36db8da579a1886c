# case: embedding_layer_that_calls_numpy
# verdict: bug; static: yes
# cause: numpy-escape
# expect_line: 21
# expect_variables: lift/kernel, lift/bias
# symptom_today: Keras warns about lift/* under run_eagerly; head trains
# exit: 0
# fix: write the transform with tf or keras.ops
# seen: porting a NumPy feature function into a Keras layer
import keras
import numpy as np
import tensorflow as tf


def fourier(a, order=2):
    return np.concatenate([np.sin((k + 1) * a) for k in range(order)], axis=-1).astype("float32")


class Fourier(keras.layers.Layer):
    def call(self, x):
        return tf.convert_to_tensor(fourier(x.numpy()))

    def compute_output_shape(self, shape):
        return (*shape[:-1], shape[-1] * 2)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.lift = keras.layers.Dense(3, name="lift")
        self.fourier = Fourier()
        self.head = keras.layers.Dense(1, name="head")

    def call(self, x):
        return self.head(self.fourier(self.lift(x)))


net = Net()
net.compile("adam", "mae", run_eagerly=True)
x = np.linspace(-1, 1, 48, dtype="float32")[:, None]
net(x[:2])
old = net.lift.get_weights()
net.fit(x, np.sin(3 * x), epochs=2, batch_size=16, verbose=0)
assert np.array_equal(old[0], net.lift.get_weights()[0])
print("lift is where it was")
