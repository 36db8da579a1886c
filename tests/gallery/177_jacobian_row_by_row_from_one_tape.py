# case: jacobian_row_by_row_from_one_tape
# verdict: bug; static: yes
# cause: tape-not-persistent
# expect_line: 20 24
# expect_variables: point (the input of the controller)
# symptom_today: raises RuntimeError: a non-persistent GradientTape can only be used to compute one set of gradients
# exit: 1 (RuntimeError)
# fix: tape.jacobian, or GradientTape(persistent=True)
# seen: linearising a learned controller one output at a time
import tensorflow as tf
from tensorflow import keras

controller = keras.Sequential(
    [keras.layers.Input((3,)), keras.layers.Dense(10, activation="tanh"), keras.layers.Dense(2)])


def linearise(f, point):
    point = tf.convert_to_tensor(point)
    rows = []
    with tf.GradientTape() as tape:
        tape.watch(point)
        outputs = tf.unstack(f(point[None])[0])
    for output in outputs:
        rows.append(tape.gradient(output, point))
    return tf.stack(rows)


print(linearise(controller, [0.1, -0.2, 0.3]))
