# case: adapter_made_when_it_is_first_needed
# verdict: bug; static: no
# cause: unbuilt-model | variable-recreated | untracked-variable
# expect_line: 25 26 32 39
# expect_variables: adapter_summarise
# symptom_today: silent: the adapter of the task that arrives later is in no list that is trained
# exit: 0
# fix: read the variables in every step, after the forward pass
# seen: multi-task models with lazily created adapters
import numpy as np
import tensorflow as tf

tf.random.set_seed(2)


class Adapters(tf.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.shared = tf.Variable(tf.random.normal((width, width), stddev=0.3), name="shared")
        self.adapters = {}

    def __call__(self, task, x):
        if task not in self.adapters:
            self.adapters[task] = tf.Variable(tf.zeros((self.width,)), name=f"adapter_{task}")
        return tf.matmul(x, self.shared) + self.adapters[task]


model = Adapters(3)
x = tf.random.normal((16, 3))
model("translate", x)
variables = list(model.trainable_variables)


def train(task, target, steps=5, rate=0.1):
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(task, x) - target) ** 2)
        for g, v in zip(tape.gradient(loss, variables), variables):
            if g is not None:
                v.assign_sub(rate * g)
    return float(loss)


print(train("translate", x + 1.0))
print(train("summarise", x - 2.0))
assert np.any(model.adapters["translate"].numpy() != 0.0)
assert np.all(model.adapters["summarise"].numpy() == 0.0)
