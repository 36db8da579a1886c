# case: experts_listed_again
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: the experts are plain Python objects, but their layers are also held by a list attribute of the model
# exit: 0
# fix: -
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)


class Expert:
    """one small network of the mixture (no keras class, only a holder)"""

    def __init__(self, idx, width=16):
        self.hidden = keras.layers.Dense(width, activation="tanh", name=f"expert{idx}_hidden")
        self.out = keras.layers.Dense(1, name=f"expert{idx}_out")

    def __call__(self, x):
        return self.out(self.hidden(x))


class MixtureOfExperts(keras.Model):
    def __init__(self, n_experts=3, **kw):
        super().__init__(**kw)
        self.gate = keras.layers.Dense(n_experts, activation="softmax", name="gate")
        self.experts = tuple(Expert(i) for i in range(n_experts))
        # keras does not look into Expert, so show it the layers
        self.expert_layers = []
        for e in self.experts:
            self.expert_layers += [e.hidden, e.out]

    def call(self, x):
        weights = self.gate(x)  # (batch, experts)
        votes = tf.concat([e(x) for e in self.experts], axis=-1)
        return tf.reduce_sum(weights * votes, axis=-1, keepdims=True)


# piecewise target: another law in each third of the first axis
x = np.random.uniform(-1, 1, size=(512, 2)).astype("float32")
y = np.where(x[:, :1] < -0.3, 1.5 * x[:, 1:], np.where(x[:, :1] < 0.3, np.sin(4 * x[:, 1:]), -x[:, 1:] - 0.5))
y = y.astype("float32")

moe = MixtureOfExperts()
moe(x[:2])
start = [e.hidden.kernel.numpy().copy() for e in moe.experts]

moe.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
hist = moe.fit(x, y, epochs=25, batch_size=64, verbose=0)
for ep in range(0, 25, 6):
    print("epoch", ep, "loss", round(hist.history["loss"][ep], 4))

for e, before in zip(moe.experts, start):
    print(e.hidden.name, "moved by", np.abs(e.hidden.kernel.numpy() - before).max())
print("trainable:", [v.path for v in moe.trainable_variables])
