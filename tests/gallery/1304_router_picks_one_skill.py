# case: router_picks_one_skill
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 30
# expect_variables: router/kernel, router/bias
# symptom_today: silent: the router gets a gradient from the entropy bonus only and drifts to a uniform choice
# exit: 0
# fix: weight the chosen skill by its probability, or make the choice straight-through (Gumbel softmax)
# seen: terms of the loss: cross entropy (cut from router), - 0.05 * entropy (reaches router only)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(8)
SKILLS, WIDTH = 4, 8


class Routed(tf.Module):
    def __init__(self):
        super().__init__()
        self.router = keras.layers.Dense(SKILLS, name="router")
        self.skills = [keras.layers.Dense(WIDTH, activation="tanh", name=f"skill{i}") for i in range(SKILLS)]
        self.readout = keras.layers.Dense(3, name="readout")
        self.router.build((None, 6)), self.readout.build((None, WIDTH))
        for skill in self.skills:
            skill.build((None, 6))

    def __call__(self, x):
        logits = self.router(x)
        choice = tf.one_hot(tf.argmax(logits, axis=-1), SKILLS)
        outputs = tf.stack([skill(x) for skill in self.skills], axis=1)
        return self.readout(tf.einsum("bk,bkd->bd", choice, outputs)), logits

    @property
    def weights(self):
        layers = [self.router, *self.skills, self.readout]
        return [w for layer in layers for w in layer.trainable_variables]


model = Routed()
opt = keras.optimizers.Adam(0.01)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        scores, routing = model(x)
        ce = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, scores))
        p = tf.nn.softmax(routing)
        entropy = -tf.reduce_mean(tf.reduce_sum(p * tf.math.log(p + 1e-8), axis=-1))
        loss = ce - 0.05 * entropy
    grads = tape.gradient(loss, model.weights)
    opt.apply_gradients(zip(grads, model.weights))
    return ce, entropy


rng = np.random.default_rng(8)
x = rng.normal(size=(128, 6)).astype("float32")
y = np.argmax(x[:, :3] * np.sign(x[:, 3:4]), axis=1)
history = [[float(v) for v in step(tf.constant(x), tf.constant(y))] for _ in range(20)]
print("first", history[0], "last", history[-1])
assert history[-1][1] > history[0][1]
