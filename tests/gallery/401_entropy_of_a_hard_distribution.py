# case: entropy_of_a_hard_distribution
# verdict: bug; static: yes
# cause: nan-log
# expect_line: 16
# expect_variables: logits
# symptom_today: silent: loss and logits are NaN after a few steps
# exit: 0
# fix: tf.nn.log_softmax, or log(p + 1e-8)
# seen: entropy bonuses in policy gradients
import tensorflow as tf

logits = tf.Variable([[120.0, 0.0, -3.0], [0.1, 0.2, 0.3]], name="logits")


def entropy(p):
    return -tf.reduce_sum(p * tf.math.log(p), axis=-1)


@tf.function
def regularise(rate):
    with tf.GradientTape() as tape:
        p = tf.nn.softmax(logits, axis=-1)
        bonus = tf.reduce_mean(entropy(p))
        loss = -0.01 * bonus
    logits.assign_sub(rate * tape.gradient(loss, logits))
    return loss


for _ in range(2):
    value = regularise(0.1)
print(float(value))
assert tf.math.is_nan(value)
