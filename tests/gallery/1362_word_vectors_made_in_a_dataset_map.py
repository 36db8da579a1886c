# case: embedding_in_dataset_map
# verdict: bug
# cause: state-boundary | outside-tape
# expect_line: 49 64
# expect_variables: word_vectors/*
# symptom_today: "Gradients do not exist for variables word_vectors/embeddings"; the word vectors stay at their random start
# exit: 0
# fix: map only the vectorizer in the dataset, and call the embedding and the pooling in train_step, under the tape
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)

TOPICS = {
    "billing": ["invoice", "refund", "charged", "card", "price"],
    "login": ["password", "reset", "account", "locked", "code"],
    "shipping": ["parcel", "late", "courier", "address", "tracking"],
}
FILLER = ["please", "help", "my", "the", "is", "again", "today", "hello", "still", "order"]


def make_tickets(n):
    texts, labels = [], []
    for _ in range(n):
        topic = int(rng.integers(0, 3))
        words = list(rng.choice(FILLER, 5)) + list(rng.choice(list(TOPICS.values())[topic], 2))
        rng.shuffle(words)
        texts.append(" ".join(words))
        labels.append(topic)
    return np.array(texts), np.array(labels, "int32")


texts, labels = make_tickets(480)

# --- text preprocessing, all in one place
vectorize = layers.TextVectorization(max_tokens=64, output_sequence_length=8)
vectorize.adapt(texts)
embed = layers.Embedding(64, 12, mask_zero=True, name="word_vectors")
pool = layers.GlobalAveragePooling1D(name="bag_of_words")


def encode(text):
    return pool(embed(vectorize(text)))


# --- the model proper works on the encoded tickets
classifier = keras.Sequential(
    [
        keras.Input((12,)),
        layers.Dense(16, activation="tanh", name="hidden"),
        layers.Dense(3, name="topic"),
    ]
)
encode(tf.constant(["my card"]))  # creates the embedding table
variables = embed.trainable_variables + classifier.trainable_variables

tickets = tf.data.Dataset.from_tensor_slices((texts, labels)).shuffle(480).batch(32)
tickets = tickets.map(lambda text, topic: (encode(text), topic)).prefetch(2)

loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(1e-2)


@tf.function
def train_step(vectors, topic):
    with tf.GradientTape() as tape:
        loss = loss_fn(topic, classifier(vectors, training=True))
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


start = embed.get_weights()[0].copy()
for epoch in range(6):
    losses = [float(train_step(v, t)) for v, t in tickets]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")
print("word vectors moved by", np.abs(embed.get_weights()[0] - start).max())
