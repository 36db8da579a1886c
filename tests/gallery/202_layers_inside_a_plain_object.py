# case: layers_inside_a_plain_object
# verdict: bug; static: no
# cause: untracked-variable
# expect_line: 18 19 22 29
# expect_variables: up/*, down/*
# symptom_today: silent: the mixer's four weights are not among the model's
# exit: 0
# fix: make the block a keras.layers.Layer
# seen: blocks written as small helper classes
import keras
import numpy as np


class MixerBlock:
    """Not a layer: just a bag of them."""

    def __init__(self, width):
        self.up = keras.layers.Dense(2 * width, activation="gelu", name="up")
        self.down = keras.layers.Dense(width, name="down")

    def __call__(self, x):
        return x + self.down(self.up(x))


class Net(keras.Model):
    def __init__(self, width=6):
        super().__init__()
        self.stem = keras.layers.Dense(width, name="stem")
        self.mixer = MixerBlock(width)
        self.head = keras.layers.Dense(1, name="head")

    def call(self, x):
        return self.head(self.mixer(self.stem(x)))


net = Net()
net.compile("adam", "mse")
x = np.random.default_rng(2).normal(size=(60, 3)).astype("float32")
net.fit(x, x.prod(axis=1, keepdims=True), epochs=1, verbose=0)
kernel = net.mixer.up.get_weights()[0].copy()
net.fit(x, x.prod(axis=1, keepdims=True), epochs=2, verbose=0)
print("weights the model knows:", len(net.trainable_weights))
assert len(net.trainable_weights) == 4 and np.array_equal(kernel, net.mixer.up.get_weights()[0])
