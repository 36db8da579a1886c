# case: projection_made_in_the_step
# verdict: bug
# cause: variable-created-in-tf-function | variable-recreated
# expect_line: 37 38
# expect_variables: projection/kernel, projection/bias
# symptom_today: raises ValueError: tf.function only supports singleton tf.Variables created on the first call
# exit: 1 (ValueError)
# fix: make the Dense once, outside of the step, and put its variables on the list
# source: tensorflow/addons#986 (seq2seq decoder: the projection Dense is made inside of the tf.function train_step)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(2)
EN, FR, BOS = 20, 20, 0
rng = np.random.default_rng(2)
english = rng.integers(1, EN, size=(128, 5)).astype("int32")
french = (EN - english)[:, ::-1].astype("int32")
french_in = np.concatenate([np.full((128, 1), BOS, "int32"), french[:, :-1]], axis=1)

embed_en = layers.Embedding(EN, 16, name="embed_en")
embed_fr = layers.Embedding(FR, 16, name="embed_fr")
encoder = layers.GRU(32, return_state=True, name="encoder")
decoder = layers.GRU(32, return_sequences=True, name="decoder")
loss_func = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(5e-3)
_, warm = encoder(embed_en(english[:2]))
decoder(embed_fr(french_in[:2]), initial_state=warm)


@tf.function
def train_step(source_seq, target_in, target_out):
    with tf.GradientTape() as tape:
        _, state = encoder(embed_en(source_seq))
        hidden = decoder(embed_fr(target_in), initial_state=state)
        projection = layers.Dense(FR, name="projection")
        logits = projection(hidden)
        loss = loss_func(target_out, logits)
    variables = (embed_en.trainable_variables + embed_fr.trainable_variables + encoder.trainable_variables
                 + decoder.trainable_variables + projection.trainable_variables)
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss


for epoch in range(3):
    for i in range(0, 128, 32):
        loss = train_step(english[i:i + 32], french_in[i:i + 32], french[i:i + 32])
    print("epoch", epoch, float(loss))
