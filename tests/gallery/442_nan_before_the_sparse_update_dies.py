# case: nan_before_the_sparse_update_dies
# verdict: bug
# cause: nan-log
# expect_line: 23
# expect_variables: -
# symptom_today: InvalidArgumentError inside of the optimizer, a step after the loss became NaN
# exit: 1
# fix: keep the argument of the logarithm away from zero
import keras
import tensorflow as tf

keras.utils.set_random_seed(9)
users, films = keras.layers.Embedding(40, 3), keras.layers.Embedding(60, 3)
users.build(None), films.build(None)
optimizer = keras.optimizers.Adagrad(0.3)
tables = users.trainable_variables + films.trainable_variables


@tf.function
def rate(user, film, other):
    with tf.GradientTape() as tape:
        liked = tf.reduce_sum(users(user) * films(film), -1)
        loss = tf.reduce_mean(liked + tf.math.log(tf.nn.relu(tf.reduce_sum(users(user) * films(other), -1))))
    optimizer.apply_gradients(zip(tape.gradient(loss, tables), tables))
    return loss


for turn in range(5):
    rate(tf.constant([1, 1, 2, 5]), tf.constant([7, 8, 7, 9]), tf.constant([8, 8, 9, 7]))
