"""Two towers: do a question and an answer belong together?"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
questions = tf.random.normal((128, 6))
answers = tf.concat([questions[:64], tf.random.normal((64, 6))], axis=0)
labels = tf.concat([tf.ones((64,)), tf.zeros((64,))], axis=0)

question_tower = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8)], name="question_tower")
answer_tower = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8)], name="answer_tower")
optimizer = keras.optimizers.Adam(0.01)

for step in range(40):
    with tf.GradientTape() as tape:
        encoded_questions = question_tower(questions, training=True)
        encoded_answers = answer_tower(answers, training=True)
        logits = tf.reduce_sum(encoded_questions * encoded_answers, axis=1)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))
    variables = question_tower.trainable_variables + answer_tower.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
print(f"loss {float(loss):.3f}")
