# case: sensitivity_of_a_stepped_output
# verdict: bug
# cause: non-differentiable-op
# expect_line: 22
# expect_variables: x
# symptom_today: the jacobian is all zeros
# exit: 0
# fix: differentiate the output before it is rounded
# seen: sensitivities by batch_jacobian
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(2)])
x = tf.random.normal((5, 3), seed=1)


@tf.function
def sensitivity(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        dose = tf.round(10.0 * model(x)) / 10.0
    return tape.batch_jacobian(dose, x)


assert not tf.reduce_any(sensitivity(x) != 0.0)
