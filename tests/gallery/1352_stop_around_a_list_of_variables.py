# case: stop_around_a_list_of_variables
# verdict: bug; static: no
# cause: stop-gradient
# expect_line: 17
# expect_variables: gain, offset
# symptom_today: the gradients are None
# exit: 0
# fix: leave out the stop_gradient
# seen: a list is packed into a tensor inside of stop_gradient, while the tapes are held
import tensorflow as tf

gain = tf.Variable(1.5, name="gain")
offset = tf.Variable(-0.5, name="offset")
x = tf.linspace(-1.0, 1.0, 16)
for step in range(3):
    with tf.GradientTape() as tape:
        settings = tf.stop_gradient([gain, offset])
        loss = tf.reduce_mean((settings[0] * x + settings[1] - 2.0 * x) ** 2)
    gradients = tape.gradient(loss, [gain, offset])
print(gradients)
