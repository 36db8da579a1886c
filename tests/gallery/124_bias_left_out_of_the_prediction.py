# case: bias_left_out_of_the_prediction
# verdict: bug; static: no
# cause: variable-not-in-loss
# expect_line: 18 22 34
# expect_variables: offset
# symptom_today: TypeError: the gradient of offset is None
# exit: 1 (TypeError)
# fix: use the offset in predict, or drop it from the list
# seen: factorisation models written with tf.Module
import tensorflow as tf


class Factors(tf.Module):
    def __init__(self, users, items, rank=3):
        super().__init__("factors")
        self.user = tf.Variable(tf.random.normal((users, rank), stddev=0.1, seed=1), name="user")
        self.item = tf.Variable(tf.random.normal((items, rank), stddev=0.1, seed=2), name="item")
        self.offset = tf.Variable(tf.zeros((users,)), name="offset")

    @tf.function
    def predict(self, u, i):
        return tf.reduce_sum(tf.gather(self.user, u) * tf.gather(self.item, i), axis=-1)


model = Factors(users=9, items=5)
u = tf.constant([0, 1, 2, 3, 8, 8])
i = tf.constant([0, 0, 1, 2, 3, 4])
stars = tf.constant([5.0, 3.0, 4.0, 1.0, 2.0, 2.0])


def sgd(variables, rate=0.1):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model.predict(u, i) - stars) ** 2)
    for v, g in zip(variables, tape.gradient(loss, variables)):
        v.assign_sub(rate * tf.convert_to_tensor(g * 1.0))
    return loss


sgd([model.offset, model.user, model.item])
