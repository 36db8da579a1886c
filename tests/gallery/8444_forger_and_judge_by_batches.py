# case: forger_and_judge_by_batches
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7444
import keras
import numpy as np

keras.utils.set_random_seed(44)
maker = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
judge = keras.Sequential([
    keras.Input((2,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
judge.compile(optimizer=keras.optimizers.Adam(0.005), loss="binary_crossentropy")
noise = keras.Input((4,))
both = keras.Model(noise, judge(maker(noise)))
judge.trainable = False
both.compile(optimizer=keras.optimizers.Adam(0.005), loss="binary_crossentropy")
yes, no = np.ones((32, 1)), np.zeros((32, 1))
for _ in range(40):
    real = np.random.normal(3.0, 0.5, size=(32, 2))
    judge.train_on_batch(real, yes)
    judge.train_on_batch(maker.predict(np.random.normal(size=(32, 4)), verbose=0), no)
    both.train_on_batch(np.random.normal(size=(32, 4)), yes)
assert judge.predict(real, verbose=0).shape == (32, 1)
