# case: inputs_drawn_into_a_variable
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: synthetic inputs that are kept in a variable and never meant to be trained
import keras
import tensorflow as tf

keras.utils.set_random_seed(4)
inputs = tf.Variable(tf.random.normal([64, 5]))
targets = tf.random.normal([64, 1])
network = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.05)
for step in range(12):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((network(inputs) - targets) ** 2)
    gradients = tape.gradient(loss, network.trainable_variables)
    optimizer.apply_gradients(zip(gradients, network.trainable_variables))
print(float(loss))
