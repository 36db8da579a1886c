# case: one_loss_after_another_by_each_weight
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: gradients of several losses compared weight by weight; some have none
import tensorflow as tf

shared = tf.Variable([1.0, 2.0], name="shared")
head = tf.Variable([0.5, 0.5], name="head")
gate = tf.Variable(1.0, name="gate")
weights = [shared, head, gate]
x = tf.constant([0.3, -0.7])
losses = []
for _ in range(10):
    with tf.GradientTape(persistent=True) as tape:
        hidden = tf.tanh(shared * x)
        task = tf.reduce_sum((head * hidden - x) ** 2)
        usage = (gate * tf.stop_gradient(tf.reduce_sum(hidden)) - 1.0) ** 2
    for v in weights:
        given = [g for g in (tape.gradient(loss, v) for loss in (task, usage)) if g is not None]
        if given:
            v.assign_sub(0.1 * tf.add_n(given))
    losses.append(float(task + usage))
assert losses[-1] < losses[0]
