"""Small stochastic problems whose gradients are known exactly, by enumeration in NumPy or in closed form."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

LOGITS = np.array([[0.3, -0.2, 0.9], [1.1, 0.0, -0.7]])
WEIGHTS = np.random.default_rng(1).normal(size=(6, 4))
READOUT = np.array([0.6, -0.9, 0.4, 0.7])  # so costs lie within 3 +- 2.6


def cost(samples: Array) -> Array:
    """One cost for each sample of shape [..., 2, 3]; far from linear."""
    return np.tanh(2.0 * samples.reshape(*samples.shape[:-2], 6) @ WEIGHTS) @ READOUT + 3.0


def tf_cost(tf: Any, samples: Any) -> Any:
    flat = tf.reshape(samples, tf.concat([tf.shape(samples)[:-2], [6]], 0))
    hidden = tf.tanh(2.0 * tf.tensordot(flat, tf.constant(WEIGHTS, samples.dtype), 1))
    costs = tf.tensordot(hidden, tf.constant(READOUT, samples.dtype), 1) + 3.0
    return tf.ensure_shape(costs, samples.shape[:-2])


def softmax(logits: Array) -> Array:
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def categorical_gradient(logits: Array = LOGITS) -> Array:
    """The gradient of the mean cost: the sum over all samples s of p(s) cost(s) (s - p)."""
    probabilities = softmax(logits)
    total = np.zeros_like(logits)
    for choice in itertools.product(range(3), repeat=2):
        sample = np.eye(3)[list(choice)]
        total += np.prod(probabilities[[0, 1], choice]) * cost(sample) * (sample - probabilities)
    return total


def bernoulli_gradient(logits: Array) -> Array:
    """The same for bits, with cost (sum of bits times (1, 2, 3) - 1.3) squared."""
    p = 1.0 / (1.0 + np.exp(-logits))
    total = np.zeros_like(logits)
    for bits in itertools.product((0.0, 1.0), repeat=3):
        sample = np.array(bits)
        weight = np.prod(np.where(sample > 0, p, 1.0 - p))
        total += weight * (sample @ [1.0, 2.0, 3.0] - 1.3) ** 2 * (sample - p)
    return total
