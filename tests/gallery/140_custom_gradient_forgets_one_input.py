# case: custom_gradient_forgets_one_input
# verdict: bug; static: yes
# cause: custom-gradient
# expect_line: 25 33
# expect_variables: temperature
# symptom_today: gradient of temperature is None: Keras warns, it is never learned
# exit: 0
# fix: return the derivative for both arguments
# seen: hand-written stable softmax functions
import keras
import numpy as np
import tensorflow as tf

temperature = tf.Variable(2.0, name="temperature")
scores = tf.Variable(tf.random.normal((5, 4), seed=1), name="scores")
opt = keras.optimizers.Adam(0.05)


@tf.custom_gradient
def cool_softmax(logits, t):
    p = tf.nn.softmax(logits / t)

    def backward(upstream):
        inner = tf.reduce_sum(upstream * p, axis=-1, keepdims=True)
        return (upstream - inner) * p / t, None

    return p, backward


target = tf.one_hot([0, 1, 2, 3, 0], 4)
for _ in range(4):
    with tf.GradientTape() as tape:
        p = cool_softmax(scores, temperature)
        loss = -tf.reduce_mean(tf.reduce_sum(target * tf.math.log(p), axis=-1))
    grads = tape.gradient(loss, [scores, temperature])
    opt.apply_gradients(zip(grads, [scores, temperature]))
assert temperature.numpy() == np.float32(2.0)
print(float(loss))
