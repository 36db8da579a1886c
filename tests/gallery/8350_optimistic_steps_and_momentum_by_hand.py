# case: optimistic_steps_and_momentum_by_hand
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: gradients of earlier updates that go into later ones on purpose
import keras
import tensorflow as tf

left, right = tf.Variable([1.0, -2.0], name="left"), tf.Variable([0.5, 0.5], name="right")
plain = keras.optimizers.SGD(0.1)
before = None
for _ in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(left**2)
    now = tape.gradient(loss, left)
    plain.apply_gradients([(now if before is None else 2.0 * now - before, left)])
    before = now

heavy = keras.optimizers.SGD(0.05)
speed = tf.zeros_like(right)
for _ in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((right - 1.0) ** 2)
    speed = 0.8 * speed + tape.gradient(loss, right)
    heavy.apply_gradients([(speed, right)])
print(left.numpy(), right.numpy())
assert float(tf.reduce_max(tf.abs(left))) < 1.0
