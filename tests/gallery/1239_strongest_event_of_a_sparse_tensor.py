# case: strongest_event_of_a_sparse_tensor
# verdict: bug; static: yes
# cause: no-registered-gradient
# expect_line: 29 39
# expect_variables: scorer/*
# symptom_today: raises LookupError: gradient registry has no entry for: SparseReduceMax
# exit: 1 (LookupError)
# fix: use tf.math.unsorted_segment_max over the row indices of the sparse tensor
# source: tensorflow/tensorflow#43765 (LookupError for a max reduction) and own words
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
events = tf.constant(rng.normal(size=(10, 3)), tf.float32)
place = tf.constant([[0, 0], [0, 2], [1, 1], [1, 3], [2, 0], [2, 1], [2, 2], [3, 0], [3, 3], [3, 4]], tf.int64)
alarm = tf.constant([0.0, 1.0, 0.0, 1.0])


class EventPool(keras.Model):
    def __init__(self):
        super().__init__()
        self.scorer = keras.layers.Dense(1, name="scorer")

    def call(self, events):
        score = tf.squeeze(self.scorer(events), -1)
        table = tf.sparse.SparseTensor(place, score, (4, 5))
        return tf.sparse.reduce_max(table, axis=1)


model = EventPool()
model(events)
opt = keras.optimizers.RMSprop(1e-2)
for i in range(2):
    with tf.GradientTape() as tape:
        strongest = model(events)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(alarm, strongest))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    print(i, float(loss))
