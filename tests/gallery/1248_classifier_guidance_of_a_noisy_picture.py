# case: classifier_guidance_of_a_noisy_picture
# verdict: bug; static: yes
# cause: unwatched-source
# expect_line: 24 21
# expect_variables: noisy
# symptom_today: raises TypeError (the gradient with respect to the picture is None and is multiplied)
# exit: 1 (TypeError)
# fix: tape.watch(noisy) before the classifier is called
# source: tensorflow/tensorflow#36596, tensorflow/tensorflow#36436 (gradient with respect to the input is None)
import tensorflow as tf
import keras

keras.utils.set_random_seed(9)
classifier = keras.Sequential([keras.layers.Input((8, 8, 1)), keras.layers.Conv2D(4, 3, activation="relu"),
                               keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(10)])
score_model = keras.Sequential([keras.layers.Input((8, 8, 1)), keras.layers.Conv2D(1, 3, padding="same")])


@tf.function
def guided_step(noisy, label, sigma):
    with tf.GradientTape() as tape:
        log_probs = tf.nn.log_softmax(classifier(noisy, training=False))
        selected = tf.gather(log_probs, label, batch_dims=1)
    guide = tape.gradient(selected, noisy)
    score = score_model(noisy) + 2.0 * guide
    return noisy + sigma ** 2 * score


picture = tf.random.normal((4, 8, 8, 1))
wanted = tf.constant([3, 3, 1, 7])
for sigma in tf.linspace(1.0, 0.1, 5):
    picture = guided_step(picture, wanted, sigma)
print(tf.reduce_mean(picture).numpy())
