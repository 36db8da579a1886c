# case: two_text_heads_from_config
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: nothing wrong: the second head is made from the configuration of the first and has layers and weights of its own
# exit: 0
# fix: -
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(31)
VOCAB, LEN = 40, 15


# ---- messages: words 1..5 are rude, 6..10 smell of advertising, the others are neutral ----
def make_messages(n):
    words = np.random.randint(11, VOCAB, (n, LEN))
    toxic = np.random.rand(n) < 0.5
    spam = np.random.rand(n) < 0.5
    for i in range(n):
        spots = np.random.permutation(LEN)
        if toxic[i]:
            words[i, spots[:3]] = np.random.randint(1, 6, 3)
        if spam[i]:
            words[i, spots[3:6]] = np.random.randint(6, 11, 3)
    # the annotators are wrong now and then
    toxic ^= np.random.rand(n) < 0.06
    spam ^= np.random.rand(n) < 0.06
    return words, toxic.astype("float32")[:, None], spam.astype("float32")[:, None]


words, toxic, spam = make_messages(800)

# shared body
inp = keras.Input((LEN,), dtype="int32", name="words")
h = layers.Embedding(VOCAB, 16, name="word_vectors")(inp)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(24, activation="tanh", name="body")(h)

# one head a task, both of the same kind
toxic_head = keras.Sequential([
    layers.Dense(12, activation="tanh"),
    layers.Dense(1, activation="sigmoid"),
], name="toxic")
spam_head = keras.Sequential.from_config({**toxic_head.get_config(), "name": "spam"})

model = keras.Model(inp, {"toxic": toxic_head(h), "spam": spam_head(h)})
model.compile(optimizer=keras.optimizers.Adam(5e-3),
              loss={"toxic": "binary_crossentropy", "spam": "binary_crossentropy"},
              metrics={"toxic": ["accuracy"], "spam": ["accuracy"]})
hist = model.fit(words, {"toxic": toxic, "spam": spam}, batch_size=80, epochs=7, verbose=0)
for e in range(7):
    print("epoch %d  toxic %.4f (acc %.2f)  spam %.4f (acc %.2f)" % (
        e, hist.history["toxic_loss"][e], hist.history["toxic_accuracy"][e],
        hist.history["spam_loss"][e], hist.history["spam_accuracy"][e]))

p = model.predict(words[:5], verbose=0)
print("toxic:", np.round(p["toxic"][:, 0], 3), "spam:", np.round(p["spam"][:, 0], 3))
