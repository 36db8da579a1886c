# case: rollouts_through_a_queue
# verdict: bug; static: no
# cause: state-boundary
# expect_line: 19 23
# expect_variables: actor/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: queue the observations; recompute the actor's output under the tape
# seen: actor-learner code where actors enqueue what they computed
import keras
import tensorflow as tf

actor = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2, activation="tanh")], name="actor")
queue = tf.queue.FIFOQueue(capacity=8, dtypes=[tf.float32], shapes=[(5, 2)])
opt = keras.optimizers.SGD(1e-2)


def collect(observations):
    queue.enqueue(actor(observations))


def learn():
    actions = queue.dequeue()
    return tf.reduce_mean(tf.square(actions - 0.3))


with tf.GradientTape() as tape:
    for seed in range(3):
        collect(tf.random.normal((5, 3), seed=seed))
    loss = tf.add_n([learn() for _ in range(3)])
opt.apply_gradients(zip(tape.gradient(loss, actor.trainable_weights), actor.trainable_weights))
