# case: cox_risk_set_overflow
# verdict: bug; static: yes
# cause: nan-exp
# expect_line: 26 27
# expect_variables: risk_net/* (NaN)
# symptom_today: silent: loss nan from the first epoch
# exit: 0
# fix: subtract the running maximum before exp (log-cumulative-sum-exp)
# source: arturomoncadatorres/deepsurvk#83 (loss nan during training), PathologyDataScience/SurvivalNet PR#6 (log of a sum of exp of the risks gave NaN until the maximum was subtracted)
import numpy as np
import keras
from keras import ops

keras.utils.set_random_seed(0)
rng = np.random.default_rng(7)
patients = 40
covariates = np.stack([rng.uniform(30, 90, patients), rng.uniform(100, 200, patients), rng.uniform(0, 1, patients)], axis=1).astype("float32")
months = rng.exponential(24, patients)
died = (rng.uniform(size=patients) < 0.6).astype("float32")

order = np.argsort(-months)                      # longest follow-up first: the risk set is a running sum
covariates, died = covariates[order], died[order, None]


def neg_partial_likelihood(event, risk):
    hazard = ops.exp(risk)
    log_at_risk = ops.log(ops.cumsum(hazard, axis=0))
    return -ops.sum((risk - log_at_risk) * event) / ops.sum(event)


risk_net = keras.Sequential([keras.layers.Input((3,)),
                             keras.layers.Dense(8, activation="relu"),
                             keras.layers.Dense(1, use_bias=False)], name="risk_net")
first, second = risk_net.layers
second.set_weights([np.full((8, 1), 0.7, "float32")])
risk_net.compile(optimizer=keras.optimizers.SGD(1e-4), loss=neg_partial_likelihood)
log = risk_net.fit(covariates, died, batch_size=patients, shuffle=False, epochs=3, verbose=0).history["loss"]
print("loss", log)
assert not np.isfinite(log[-1])
