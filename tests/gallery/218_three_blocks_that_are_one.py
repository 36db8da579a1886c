# case: three_blocks_that_are_one
# verdict: bug; static: yes
# cause: aliased-network
# expect_line: 17 22
# expect_variables: block/*
# symptom_today: silent: three blocks were meant, one set of weights exists
# exit: 0
# fix: [Block() for _ in range(3)]
# seen: lists of layers made by multiplication
import keras
import numpy as np


class Tower(keras.Model):
    def __init__(self, depth, width):
        super().__init__()
        self.blocks = [keras.layers.Dense(width, activation="relu", name="block")] * depth
        self.head = keras.layers.Dense(1)

    def call(self, x):
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


tower = Tower(depth=3, width=4)
tower.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
tower.fit(x, x.sum(axis=1, keepdims=True), epochs=1, verbose=0)
print(len(tower.trainable_weights), "weights")
assert len(tower.trainable_weights) == 4
