# case: list_taken_before_the_freeze
# verdict: bug; static: yes
# cause: frozen-by-flag
# expect_line: 18 21 30 31
# expect_variables: word_vectors/embeddings
# symptom_today: silent: the frozen embedding is updated, it is still in the list
# exit: 0
# fix: read trainable_variables after changing the flags
# seen: pre-trained embeddings frozen late in the script
import keras
import numpy as np
import tensorflow as tf

tokens = keras.Input((4,), dtype="int32")
vectors = keras.layers.Embedding(15, 6, name="word_vectors")(tokens)
pooled = keras.layers.GlobalAveragePooling1D()(vectors)
net = keras.Model(tokens, keras.layers.Dense(2)(pooled))
trained = net.trainable_variables
opt = keras.optimizers.SGD(0.5)
pretrained = net.get_layer("word_vectors")
pretrained.trainable = False
original = pretrained.get_weights()[0].copy()


@tf.function
def learn(ids, labels):
    with tf.GradientTape() as tape:
        logits = net(ids, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    grads = tape.gradient(loss, trained)
    opt.apply_gradients(zip(grads, trained))
    return loss


for _ in range(3):
    value = learn(tf.constant([[1, 2, 3, 4], [5, 6, 7, 8]]), tf.constant([0, 1]))
print(float(value))
assert not np.array_equal(original, pretrained.get_weights()[0])
