# case: rounded_count_loss
# verdict: bug; static: yes
# cause: non-differentiable-op
# expect_line: 22
# expect_variables: counter/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: compare the real-valued density with the count; round only when reporting
# seen: crowd-counting and inventory models that must output whole numbers
import keras
import tensorflow as tf

counter = keras.Sequential(
    [keras.layers.Input((6,)), keras.layers.Dense(8, activation="softplus"), keras.layers.Dense(1)], name="counter"
)
optimizer = keras.optimizers.Adam(1e-2)
sightings = tf.random.normal((32, 6), seed=3)
true_count = tf.cast(tf.random.uniform((32, 1), 0, 9, dtype=tf.int32, seed=4), tf.float32)


def whole(density):
    return tf.round(density)


def count_error(y, density, *, as_whole=True):
    predicted = whole(density) if as_whole else density
    return tf.reduce_mean(tf.abs(y - predicted))


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        density = counter(x, training=True)
        err = count_error(y, density)
    found = tape.gradient(err, counter.trainable_variables)
    optimizer.apply_gradients(zip(found, counter.trainable_variables))
    return err


for _ in range(2):
    print(float(step(sightings, true_count)))
