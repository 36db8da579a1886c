# case: block_reads_the_wrong_name
# verdict: bug; static: no
# cause: variable-not-in-loss
# expect_line: 17 22 23
# expect_variables: first/kernel, first/bias
# symptom_today: Keras warns that gradients do not exist for first/*
# exit: 0
# fix: pass the first block's output to the second: self.second(h)
# seen: subclassed models where one line takes x instead of h
import keras
import numpy as np


class Residual(keras.Model):
    def __init__(self, width):
        super().__init__()
        self.first = keras.layers.Dense(width, activation="relu", name="first")
        self.second = keras.layers.Dense(width, activation="relu", name="second")
        self.third = keras.layers.Dense(1, name="third")

    def call(self, x):
        h = self.first(x)
        h = self.second(x) + x
        return self.third(h)


net = Residual(width=5)
net.compile(optimizer="sgd", loss="mse")
rng = np.random.default_rng(12)
x = rng.normal(size=(64, 5)).astype("float32")
net(x[:1])
kept = net.first.get_weights()[0].copy()
net.fit(x, x.mean(axis=1, keepdims=True), epochs=2, verbose=0)
assert np.array_equal(kept, net.first.get_weights()[0])
print("first layer untouched")
