# case: learned_activation_in_a_plain_class
# verdict: bug; static: no
# cause: untracked-variable
# expect_line: 19 22 28
# expect_variables: frequency
# symptom_today: silent: the frequency of the activation keeps its first value
# exit: 0
# fix: make Snake a keras Layer (add_weight) and put it after the Dense layer
# seen: trainable activation functions passed by the activation argument
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)


class Snake:
    def __init__(self, frequency=1.0):
        self.frequency = tf.Variable(frequency, name="frequency")

    def __call__(self, x):
        return x + tf.sin(self.frequency * x) ** 2 / self.frequency


snake = Snake()
model = keras.Sequential([
    keras.layers.Input((1,)),
    keras.layers.Dense(16, activation=snake),
    keras.layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
x = np.linspace(-3, 3, 80, dtype="float32")[:, None]
history = model.fit(x, np.sin(4 * x) + x, epochs=3, verbose=0)
print(history.history["loss"], float(snake.frequency))
assert float(snake.frequency) == 1.0
