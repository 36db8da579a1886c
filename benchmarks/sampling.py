"""What an estimator costs next to the TensorFlow expression one would write by hand, and next to TFP's.

    python benchmarks/sampling.py [--rounds N] [--only WORD] [--json FILE]

Each figure is the time of value and gradient together, as a ratio: ours / by hand, taken in pairs that follow one
another in one process, in alternating order, and the median over the pairs. `null` is the same for two copies of the
expression by hand: what it is away from 1 is noise. TensorFlow Probability is measured where it is installed.
Beta and Dirichlet are compared with the same work by hand, in logarithms, and with the shorter expression that gives
NaN for small concentrations (`NaN when small`).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Probability needs it

import numpy as np
import tensorflow as tf

from whygrad import sampling

Draw = Callable[[Any], Any]  # from a positive tensor [rows, columns] to a tensor of floats

SIZES = {"small": (64, 10), "large": (1024, 256)}
MODES = ("eager", "function", "jit")
TEMPERATURE = 0.5


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    ours: Draw
    by_hand: Draw
    probability: Draw | None = None
    modes: tuple[str, ...] = MODES


@dataclass(frozen=True, slots=True)
class Result:
    case: str
    size: str
    mode: str
    microseconds: float  # of the expression by hand
    ours: float
    null: float
    probability: float | None


def noise(x: Any) -> Any:
    return -tf.math.log(-tf.math.log(tf.random.uniform(x.shape, np.finfo(np.float32).tiny, 1.0)))


def hand_gumbel(x: Any) -> Any:
    return tf.nn.softmax((x + noise(x)) / TEMPERATURE)


def hand_gumbel_hard(x: Any) -> Any:
    soft = hand_gumbel(x)
    hard = tf.one_hot(tf.argmax(soft, -1), x.shape[-1])
    return soft + tf.stop_gradient(hard - soft)


def hand_bernoulli(x: Any) -> Any:
    uniform = tf.random.uniform(x.shape, np.finfo(np.float32).tiny, 1.0)
    return tf.sigmoid((x + tf.math.log(uniform) - tf.math.log1p(-uniform)) / TEMPERATURE)


def hand_onehot(x: Any) -> Any:
    soft = tf.nn.softmax(x)
    return soft + tf.stop_gradient(tf.one_hot(tf.argmax(x, -1), x.shape[-1]) - soft)


def hand_top_k(x: Any) -> Any:
    soft = 3.0 * tf.nn.softmax(x)
    mask = tf.reduce_sum(tf.one_hot(tf.math.top_k(x, 3).indices, x.shape[-1]), -2)
    return soft + tf.stop_gradient(mask - soft)


def hand_score(x: Any) -> Any:
    index = tf.random.categorical(x, 1)[:, 0]
    cost = tf.cast(index, tf.float32)
    others = (tf.reduce_sum(cost) - cost) / (x.shape[0] - 1.0)
    log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(index, x)
    return tf.stop_gradient(cost - others) * log_prob


def our_score(x: Any) -> Any:
    draw = sampling.draw_categorical(x, onehot=False)
    cost = tf.cast(draw.sample, tf.float32)
    return sampling.score_function(cost, draw.log_prob, baseline="leave-one-out")


def hand_score_given(x: Any) -> Any:
    cost, log_prob = tf.stop_gradient(x), -x
    others = (tf.reduce_sum(cost, 0, keepdims=True) - cost) / (x.shape[0] - 1.0)
    return cost + tf.stop_gradient(cost - others) * (log_prob - tf.stop_gradient(log_prob))


def hand_vq(codebook: Any) -> Draw:
    def quantize(x: Any) -> Any:
        distances = tf.reduce_sum(tf.square(codebook), 1) - 2.0 * tf.matmul(x, codebook, transpose_b=True)
        nearest = tf.gather(codebook, tf.argmin(distances, 1))
        loss = tf.reduce_mean(tf.square(tf.stop_gradient(x) - nearest))
        loss += 0.25 * tf.reduce_mean(tf.square(x - tf.stop_gradient(nearest)))
        return x + tf.stop_gradient(nearest - x) + loss

    return quantize


def our_vq(codebook: Any) -> Draw:
    def quantize(x: Any) -> Any:
        quantized = sampling.vq(x, codebook)
        return quantized.values + quantized.loss

    return quantize


def hand_dirichlet(x: Any) -> Any:
    drawn = tf.random.gamma([], x)
    return drawn / tf.reduce_sum(drawn, -1, keepdims=True)


def hand_beta(x: Any) -> Any:
    first, second = tf.random.gamma([], x), tf.random.gamma([], x)
    return first / (first + second)


def hand_log_gamma(x: Any) -> Any:
    shrink = -tf.math.log(tf.random.uniform(x.shape, np.finfo(np.float32).tiny, 1.0))
    return tf.math.log(tf.random.gamma([], x + 1.0)) - shrink / x


def probability() -> Any:
    try:
        import tensorflow_probability
    except Exception:  # not installed, or not for this TensorFlow
        return None
    return tensorflow_probability.distributions


def cases(columns: int) -> list[Case]:
    tfd = probability()
    codebook = tf.random.stateless_normal([64, columns], [1, 2])

    def tfp(make: Callable[[Any], Draw]) -> Draw | None:
        return None if tfd is None else make(tfd)

    return [
        Case(
            "reparameterized_normal",
            lambda x: sampling.reparameterized_normal(x, x),
            lambda x: x + x * tf.random.normal(x.shape),
            tfp(lambda d: lambda x: d.Normal(x, x).sample()),
        ),
        Case(
            "gumbel_softmax",
            lambda x: sampling.gumbel_softmax(x, TEMPERATURE),
            hand_gumbel,
            tfp(lambda d: lambda x: d.RelaxedOneHotCategorical(TEMPERATURE, logits=x).sample()),
        ),
        Case("gumbel_softmax hard", lambda x: sampling.gumbel_softmax(x, TEMPERATURE, hard=True), hand_gumbel_hard),
        Case(
            "relaxed_bernoulli",
            lambda x: sampling.relaxed_bernoulli(x, TEMPERATURE),
            hand_bernoulli,
            tfp(lambda d: lambda x: d.RelaxedBernoulli(TEMPERATURE, logits=x).sample()),
        ),
        Case("straight_through_onehot", sampling.straight_through_onehot, hand_onehot),
        Case("straight_through_top_k", lambda x: sampling.straight_through_top_k(x, 3), hand_top_k),
        Case(
            "straight_through_round",
            sampling.straight_through_round,
            lambda x: x + tf.stop_gradient(tf.round(x) - x),
        ),
        Case(
            "score_function",
            lambda x: sampling.score_function(tf.stop_gradient(x), -x, baseline="leave-one-out"),
            hand_score_given,
        ),
        Case("draw_categorical + score_function", our_score, hand_score),
        Case("vq", our_vq(codebook), hand_vq(codebook)),
        Case(
            "implicit_gamma",
            sampling.implicit_gamma,
            lambda x: tf.random.gamma([], x),
            tfp(lambda d: lambda x: d.Gamma(x, 1.0).sample()),
            modes=("eager", "function"),
        ),
        Case(
            "implicit_beta",
            lambda x: sampling.implicit_beta(x, x),
            lambda x: tf.sigmoid(hand_log_gamma(x) - hand_log_gamma(x)),
            tfp(lambda d: lambda x: d.Beta(x, x).sample()),
            modes=("eager", "function"),
        ),
        Case(
            "implicit_beta / NaN when small",
            lambda x: sampling.implicit_beta(x, x),
            hand_beta,
            modes=("eager", "function"),
        ),
        Case(
            "implicit_dirichlet",
            sampling.implicit_dirichlet,
            lambda x: tf.nn.softmax(hand_log_gamma(x)),
            tfp(lambda d: lambda x: d.Dirichlet(x).sample()),
            modes=("eager", "function"),
        ),
        Case(
            "implicit_dirichlet / NaN when small",
            sampling.implicit_dirichlet,
            hand_dirichlet,
            modes=("eager", "function"),
        ),
    ]


def step(draw: Draw, mode: str) -> Callable[[Any], Any]:
    """Value and gradient of a weighted sum of the sample."""

    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = tf.reduce_sum(draw(x) * 0.5)
        return tape.gradient(value, x)

    return run if mode == "eager" else tf.function(run, jit_compile=mode == "jit", autograph=False)


def seconds(run: Callable[[Any], Any], x: Any, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        result = run(x)
    result.numpy()  # waits for the last one
    return (time.perf_counter() - start) / repeats


def ratios(run: Callable[[Any], Any], base: Callable[[Any], Any], x: Any, rounds: int) -> tuple[float, float]:
    """The median ratio over pairs, and the median time of the base."""
    for warm in (run, base):
        seconds(warm, x, 3)
    repeats = max(1, int(0.01 / seconds(base, x, 3)))
    pairs = []
    for number in range(rounds):
        if number % 2:
            ours, hand = seconds(run, x, repeats), seconds(base, x, repeats)
        else:
            hand, ours = seconds(base, x, repeats), seconds(run, x, repeats)
        pairs.append((ours / hand, hand))
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


def measure(case: Case, size: str, mode: str, rounds: int) -> Result:
    x = tf.random.stateless_uniform(SIZES[size], [3, 4], 0.5, 2.0)
    base = step(case.by_hand, mode)
    null, _ = ratios(step(case.by_hand, mode), base, x, rounds)
    ours, microseconds = ratios(step(case.ours, mode), base, x, rounds)
    other = None
    if case.probability is not None:
        other, _ = ratios(step(case.probability, mode), base, x, rounds)
    return Result(case.name, size, mode, microseconds * 1e6, ours, null, other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=41, help="pairs for each figure")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    print(f"{'estimator':34s} {'size':6s} {'mode':9s} {'by hand':>11s} {'ours':>6s} {'null':>6s} {'TFP':>6s}")
    results = []
    for size, (_, columns) in SIZES.items():
        for case in cases(columns):
            for mode in case.modes if options.only in case.name else ():
                result = measure(case, size, mode, options.rounds)
                other = "" if result.probability is None else f"{result.probability:6.2f}"
                print(
                    f"{result.case:34s} {size:6s} {mode:9s} {result.microseconds:8.0f} us"
                    f" {result.ours:6.2f} {result.null:6.2f} {other}",
                    flush=True,
                )
                results.append(result)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1))


if __name__ == "__main__":
    main()
