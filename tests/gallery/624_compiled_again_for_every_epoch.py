# case: compiled_again_for_every_epoch
# verdict: bug; static: yes
# cause: optimizer-recreated
# expect_line: 22
# expect_variables: -
# symptom_today: silent: the moments of Adam start at zero in every epoch
# exit: 0
# fix: compile once; a callback or a schedule changes the rate
# seen: learning-rate decay by compiling inside the loop
import keras
import numpy as np

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(12, activation="relu"), keras.layers.Dense(1)])
rng = np.random.default_rng(0)
x = rng.normal(size=(48, 6)).astype("float32")
y = x[:, :1] - x[:, 1:2]

rate = 0.01
iterations = []
for epoch in range(3):
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=rate), loss="mse")
    model.fit(x, y, batch_size=16, epochs=1, verbose=0)
    iterations.append(int(model.optimizer.iterations.numpy()))
    rate *= 0.9
print(iterations)
assert iterations == [3] * 3
