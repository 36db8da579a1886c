# case: optimizer_made_in_the_traced_step
# verdict: bug; static: yes
# cause: variable-created-in-tf-function | optimizer-recreated
# expect_line: 18 23
# expect_variables: - (the optimizer's slots are never made)
# symptom_today: raises ValueError: tf.function only supports singleton tf.Variables created on the first call
# exit: 1 (ValueError)
# fix: create the optimizer once, outside the function
# seen: train steps that take the learning rate as an argument
import keras
import tensorflow as tf

scorer = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(3)])


@tf.function
def train_step(x, y, *, rate):
    optimizer = keras.optimizers.AdamW(learning_rate=rate, weight_decay=1e-4)
    with tf.GradientTape() as tape:
        logits = scorer(x, training=True)
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True))
    grads = tape.gradient(loss, scorer.trainable_weights)
    optimizer.apply_gradients(zip(grads, scorer.trainable_weights))
    return loss


x = tf.random.normal((12, 6), seed=2)
y = tf.constant([0, 1, 2] * 4)
for rate in (1e-3, 5e-4):
    print(float(train_step(x, y, rate=rate)))
