# case: running_total_as_python_float
# verdict: bug; static: yes
# cause: numpy-escape
# expect_line: 26
# expect_variables: net/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: add the loss tensors (tf.add_n), convert to float only for printing
# seen: loops moved from another framework where .item() is for logging
import keras
import tensorflow as tf

net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="elu"), keras.layers.Dense(1)], name="net")
sgd = keras.optimizers.SGD(1e-2)
episodes = [(tf.random.normal((5, 3), seed=s), tf.random.normal((5, 1), seed=50 + s)) for s in range(4)]


def episode_loss(x, y):
    return tf.reduce_mean(tf.keras.losses.huber(y, net(x, training=True)))


def train_on(group):
    total = 0.0
    with tf.GradientTape() as tape:
        for x, y in group:
            total += float(episode_loss(x, y))
        objective = tf.constant(total) / len(group)
    grads = tape.gradient(objective, net.trainable_variables)
    sgd.apply_gradients(zip(grads, net.trainable_variables))
    return total


print(train_on(episodes))
