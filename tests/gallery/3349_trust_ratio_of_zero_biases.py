# case: lars_zero_bias
# verdict: bug
# cause: never-updated
# expect_line: 31 37 38 39 54
# expect_variables: hidden1/bias, hidden2/bias, out/bias
# symptom_today: no error, the loss stops falling far too early; every bias is still exactly 0.0 after training
# exit: 0
# fix: no trust ratio for biases (their norm is 0 at the start): give them the plain momentum step with a rate of their own
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(11)


class LARS:
    """Layer-wise adaptive rate scaling (You et al.), momentum version."""

    def __init__(self, variables, lr=0.5, momentum=0.9, eeta=0.02, weight_decay=1e-4):
        self.variables = list(variables)
        self.velocity = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.variables]
        self.lr = lr
        self.momentum = momentum
        self.eeta = eeta
        self.weight_decay = weight_decay

    def trust_ratio(self, w, g):
        w_norm = tf.norm(w)
        g_norm = tf.norm(g)
        return self.eeta * w_norm / (g_norm + self.weight_decay * w_norm + 1e-9)

    def apply(self, grads):
        for v, g, vel in zip(self.variables, grads, self.velocity):
            w = tf.convert_to_tensor(v)
            g = g + self.weight_decay * w
            local_lr = self.lr * self.trust_ratio(w, g)
            vel.assign(self.momentum * vel + local_lr * g)
            v.assign_sub(vel)


class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.loss_fn = keras.losses.MeanSquaredError()

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            pred = self.model(x, training=True)
            loss = self.loss_fn(y, pred)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply(grads)
        return loss

    def run(self, dataset, epochs):
        for epoch in range(epochs):
            losses = [float(self.train_step(x, y)) for x, y in dataset]
            print(f"epoch {epoch}: loss {np.mean(losses):.4f}")


# room temperature against 6 (standardised) sensor readings
rng = np.random.default_rng(0)
x = rng.normal(size=(512, 6)).astype("float32")
y = (np.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3] + 1.5).astype("float32")
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=1).batch(128)

model = keras.Sequential([
    keras.Input((6,)),
    layers.Dense(32, activation="tanh", name="hidden1"),
    layers.Dense(32, activation="tanh", name="hidden2"),
    layers.Dense(1, name="out"),
])

trainer = Trainer(model, LARS(model.trainable_variables))
trainer.run(ds, epochs=15)
for v in model.trainable_variables:
    print(f"{v.path:28s} |w| = {float(tf.norm(v)):.4f}")
