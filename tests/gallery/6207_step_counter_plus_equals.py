# case: step_counter_plus_equals
# verdict: bug; static: yes
# cause: variable-rebound | python-state-in-graph
# expect_line: 32
# expect_variables: schedule/current_step (stays 0)
# symptom_today: silent: the counter variable is 0 after 12 training steps, the annealed width never shrinks
# exit: 0
# fix: self.current_step.assign_add(1.0)
# source: bayesflow-org/bayesflow#223 (self.current_step += 1 on a Keras layer is not tracked; the step must be changed with assign)
import numpy as np
import keras
from keras import ops

keras.utils.set_random_seed(0)


class AnnealedNoise(keras.layers.Layer):
    """Adds noise whose width falls with the number of training steps."""

    def __init__(self, width=1.0, rate=0.3, **kwargs):
        super().__init__(**kwargs)
        self.width, self.rate = width, rate
        self.seeds = keras.random.SeedGenerator(7)

    def build(self, shape):
        self.current_step = self.add_weight(shape=(), initializer="zeros", trainable=False, name="current_step")
        self.step_variable = self.current_step

    def call(self, x, training=False):
        if not training:
            return x
        self.current_step += 1.0
        width = self.width * ops.exp(-self.rate * self.current_step)
        return x + width * keras.random.normal(ops.shape(x), seed=self.seeds)


model = keras.Sequential([keras.layers.Input((5,)), AnnealedNoise(name="schedule"), keras.layers.Dense(1)])
model.compile("sgd", "mse")
x = np.random.default_rng(0).normal(size=(48, 5)).astype("float32")
model.fit(x, x.sum(axis=1, keepdims=True), batch_size=12, epochs=3, verbose=0)
layer = model.get_layer("schedule")
print("counter", float(layer.step_variable.numpy()), "after", int(model.optimizer.iterations), "steps; attribute is now", type(layer.current_step).__name__)
assert float(layer.step_variable.numpy()) == 0.0
