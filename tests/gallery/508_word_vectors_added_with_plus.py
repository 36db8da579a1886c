# case: word_vectors_added_with_plus
# verdict: bug; static: yes
# cause: indexed-slices
# expect_line: 26
# expect_variables: words/embeddings
# symptom_today: raises TypeError: unsupported operand for IndexedSlices
# exit: 1 (TypeError)
# fix: tf.convert_to_tensor(g) before adding, or tf.add_n / scatter into a dense slot
# seen: accumulation in language models
import keras
import tensorflow as tf

model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Embedding(9, 4, name="words"), keras.layers.Flatten(), keras.layers.Dense(1)])
batches = [tf.constant([[1, 2, 3], [4, 4, 4]]), tf.constant([[5, 6, 7], [8, 1, 0]])]


def gradient_of(ids):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(ids) ** 2)
    return tape.gradient(loss, model.trainable_variables)


def accumulate(batches):
    first, *rest = [gradient_of(ids) for ids in batches]
    for other in rest:
        first = [a + b for a, b in zip(first, other)]
    return first


print(accumulate(batches))
