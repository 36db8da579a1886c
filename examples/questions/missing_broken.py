"""Keep the sentences that score above a learned threshold, and classify what is kept."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
sentences = tf.random.normal((64, 5, 8))
labels = tf.cast(tf.reduce_max(sentences[..., 0], axis=1, keepdims=True) > 1.0, tf.float32)

scorer = keras.layers.Dense(1, name="scorer")
threshold = tf.Variable(0.0, name="threshold")
classifier = keras.layers.Dense(1, name="classifier")
optimizer = keras.optimizers.Adam(0.05)
entropy = keras.losses.BinaryCrossentropy(from_logits=True)

for step in range(40):
    with tf.GradientTape() as tape:
        kept = tf.cast(scorer(sentences) > threshold, tf.float32)
        logits = classifier(tf.reduce_sum(kept * sentences, axis=1))
        loss = entropy(labels, logits)
    variables = [*scorer.trainable_variables, threshold, *classifier.trainable_variables]
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients((g, v) for g, v in zip(gradients, variables) if g is not None)
print(f"loss {float(loss):.3f}")
