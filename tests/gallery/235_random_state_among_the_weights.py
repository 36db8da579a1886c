# case: random_state_among_the_weights
# verdict: bug; static: yes
# cause: non-trainable-in-list
# expect_line: 29 30
# expect_variables: moving_mean, moving_variance, seed_generator_state
# symptom_today: Keras warns: gradients do not exist for the seed state and the moving averages
# exit: 0
# fix: model.trainable_variables
# seen: model.variables in a loop that was written for Keras 2
import keras
import tensorflow as tf

model = keras.Sequential([
    keras.layers.Input((6,)),
    keras.layers.Dense(12),
    keras.layers.BatchNormalization(),
    keras.layers.Activation("relu"),
    keras.layers.Dropout(0.3),
    keras.layers.Dense(1),
])
opt = keras.optimizers.SGD(0.05)
loss_fn = keras.losses.MeanSquaredError()
data = tf.data.Dataset.from_tensor_slices(tf.random.normal((48, 6), seed=1)).batch(16)

for epoch in range(2):
    for x in data:
        with tf.GradientTape() as tape:
            loss = loss_fn(x[:, :1], model(x, training=True))
        grads = tape.gradient(loss, model.variables)
        opt.apply_gradients(zip(grads, model.variables))
missing = [v.path for g, v in zip(grads, model.variables) if g is None]
print(missing)
assert any("seed" in path for path in missing)
