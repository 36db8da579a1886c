# case: predictions_made_before_the_tape_in_a_function
# verdict: bug; static: no
# cause: outside-tape
# expect_line: 23
# expect_variables: ranker/*
# symptom_today: "No gradients provided for any variable" from the optimizer, which names no line of the step
# exit: 1
# fix: call the network inside the `with` block
import keras
import tensorflow as tf

keras.utils.set_random_seed(12)
network = keras.Sequential(
    [keras.Input((5,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)], name="ranker")
optimizer = keras.optimizers.Adam(1e-2)
clicks = tf.random.normal((32, 5), seed=1)
rates = tf.random.uniform((32, 1), seed=2)


@tf.function
def improve(features, wanted):
    """One step of the ranker."""
    scores = network(features, training=True)
    with tf.GradientTape() as tape:
        chances = tf.sigmoid(scores)
        loss = tf.reduce_mean(tf.square(chances - wanted))
    weights = network.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


for _ in range(3):
    improve(clicks, rates)
