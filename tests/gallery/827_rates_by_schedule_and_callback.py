# case: rates_by_schedule_and_callback
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: warm-up, cosine decay and ReduceLROnPlateau
import keras
import numpy as np

keras.utils.set_random_seed(2)


class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, after, steps):
        self.after, self.steps = after, steps

    def __call__(self, step):
        fraction = keras.ops.minimum(1.0, keras.ops.cast(step, "float32") / self.steps)
        return fraction * self.after(step)

    def get_config(self):
        return {"after": self.after, "steps": self.steps}


def build(optimizer):
    model = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer=optimizer, loss="mse")
    return model


x = np.random.default_rng(0).normal(size=(80, 5)).astype("float32")
y = x[:, :1]
scheduled = build(keras.optimizers.Adam(WarmUp(keras.optimizers.schedules.CosineDecay(0.02, 40), steps=5)))
log = scheduled.fit(x, y, epochs=6, batch_size=16, verbose=0).history["loss"]
halved = build(keras.optimizers.SGD(0.05))
halved.fit(x, y, epochs=4, verbose=0, callbacks=[keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5 if epoch else rate)])
assert log[-1] < log[0]
assert float(halved.optimizer.learning_rate.numpy()) < 0.05
