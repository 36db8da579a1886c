# case: gradient_of_an_array_of_outputs
# verdict: bug; static: yes
# cause: tensorarray-not-stacked
# expect_line: 26
# expect_variables: decay
# symptom_today: raises an exception from TensorFlow: a TensorArray is no tensor
# exit: 1 (TypeError)
# fix: outputs.stack() first
# seen: simulations that collect their states in a TensorArray
import tensorflow as tf

decay = tf.Variable(0.8, name="decay")


def simulate(steps):
    states = tf.TensorArray(tf.float32, size=steps)
    level = tf.constant(1.0)
    for k in range(steps):
        level = decay * level
        states = states.write(k, level)
    return states


with tf.GradientTape() as tape:
    trajectory = simulate(steps=6)
sensitivity = tape.gradient(trajectory, decay)
print(sensitivity)
