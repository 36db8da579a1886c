# case: labels_compared_with_labels
# verdict: bug; static: no
# cause: constant-target | variable-not-in-loss
# expect_line: 26 27
# expect_variables: tagger/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: pass the logits: crossentropy(tags, logits)
# seen: copy-and-paste slips in custom train steps
import keras
import tensorflow as tf

tagger = keras.Sequential(
    [keras.layers.Input((5,)), keras.layers.Embedding(20, 6), keras.layers.Bidirectional(keras.layers.SimpleRNN(4, return_sequences=True)), keras.layers.Dense(3)],
    name="tagger",
)
crossentropy = keras.losses.CategoricalCrossentropy(from_logits=True)
opt = keras.optimizers.Adam()


@tf.function
def learn(sentence, tags):
    onehot = tf.one_hot(tags, 3)
    with tf.GradientTape() as tape:
        logits = tagger(sentence, training=True)
        loss = crossentropy(onehot, onehot)
    found = tape.gradient(loss, tagger.trainable_variables)
    opt.apply_gradients(zip(found, tagger.trainable_variables))
    return loss, logits


sentence = tf.constant([[1, 4, 9, 0, 2], [3, 3, 7, 8, 19]])
learn(sentence, tf.constant([[0, 1, 2, 0, 0], [2, 2, 1, 0, 1]]))
