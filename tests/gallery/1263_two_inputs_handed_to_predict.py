# case: two_inputs_handed_to_predict
# verdict: bug
# cause: numpy-escape
# expect_line: 21
# expect_variables: shift
# symptom_today: gradients are None
# exit: 0
# fix: call the network itself
# seen: an attack on a model with two inputs
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
left, right = keras.Input((3,), name="left"), keras.Input((3,), name="right")
net = keras.Model({"left": left, "right": right}, keras.layers.Dense(1)(keras.layers.Concatenate()([left, right])))
x = tf.random.normal((4, 3), seed=1)
shift = tf.Variable(tf.zeros(3), name="shift")
for _ in range(3):
    with tf.GradientTape() as tape:
        moved = x + shift
        answer = net.predict({"left": moved, "right": x}, verbose=0)
        loss = tf.reduce_mean(answer)
    gradient = tape.gradient(loss, shift)
    assert gradient is None
