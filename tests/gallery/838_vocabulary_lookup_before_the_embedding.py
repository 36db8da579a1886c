# case: vocabulary_lookup_before_the_embedding
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: StringLookup and hash tables in the training step
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
lookup = keras.layers.StringLookup(vocabulary=["red", "green", "blue"])
table = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(tf.constant(["s", "m", "l"]), tf.constant([0.0, 0.5, 1.0])), -1.0
)
colours = keras.layers.Embedding(4, 3)
head = keras.layers.Dense(1)
colours.build(None), head.build((None, 4))
variables = colours.trainable_variables + head.trainable_variables
opt = keras.optimizers.SGD(0.2)


def features(colour, size):
    return tf.concat([colours(lookup(colour)), table.lookup(size)[:, None]], axis=1)


colour = tf.constant(["red", "blue", "pink", "green"])
size = tf.constant(["s", "l", "m", "m"])
price = tf.constant([[1.0], [3.0], [0.5], [2.0]])
losses = []
for _ in range(15):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((head(features(colour, size)) - price) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    losses.append(float(loss))
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
