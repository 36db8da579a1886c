# case: numpy_penalty_on_one_weight
# verdict: bug; static: yes
# cause: numpy-escape
# expect_line: 20
# expect_variables: scale
# symptom_today: gradient of scale is None: TypeError in the update
# exit: 1 (TypeError)
# fix: tf.linalg.norm(scale - 1.0)
# seen: physics fits where one parameter appears only in a prior
import numpy as np
import tensorflow as tf

slope = tf.Variable(0.3, name="slope")
scale = tf.Variable([0.5, 1.5, 2.5], name="scale")
t = tf.linspace(0.0, 1.0, 20)
observed = 2.0 * t + 0.1


def prior(parameters):
    return np.linalg.norm(parameters - 1.0)


def objective():
    residual = slope * t - observed
    return tf.reduce_sum(residual**2) + 0.1 * prior(scale)


for iteration in range(3):
    with tf.GradientTape() as tape:
        value = objective()
    updates = tape.gradient(value, {"slope": slope, "scale": scale})
    slope.assign_sub(0.01 * updates["slope"])
    scale.assign_sub(0.01 * updates["scale"])
