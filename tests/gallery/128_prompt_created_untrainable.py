# case: prompt_created_untrainable
# verdict: bug; static: yes
# cause: unwatched-source | frozen-by-flag
# expect_line: 15 30
# expect_variables: prompt
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: trainable=True (or watch it): a tape only follows trainable variables by itself
# seen: prompt tuning and neural style transfer, where the only unknown is an image or a prompt
import keras
import tensorflow as tf

frozen = keras.Sequential([keras.layers.Input((5, 4)), keras.layers.Flatten(), keras.layers.Dense(3)])
frozen.trainable = False
prompt = tf.Variable(tf.zeros((2, 4)), trainable=False, name="prompt")
tokens = tf.random.normal((6, 3, 4), seed=1)
labels = tf.constant([0, 1, 2, 0, 1, 2])
opt = keras.optimizers.Adam(0.1)


def with_prompt(batch):
    tiled = tf.tile(prompt[None], [tf.shape(batch)[0], 1, 1])
    return tf.concat([tiled, batch], axis=1)


for step in range(3):
    with tf.GradientTape() as tape:
        logits = frozen(with_prompt(tokens))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    grads = tape.gradient(loss, [prompt])
    opt.apply_gradients(zip(grads, [prompt]))
