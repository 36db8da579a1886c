"""The two Kerases behind one face, for tests that must hold for both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import versions


@dataclass(frozen=True)
class Kit:
    """Keras 3 or tf_keras, and what they call differently."""

    keras: ModuleType
    old: bool

    @property
    def scaling_class(self) -> Any:
        home = self.keras.mixed_precision if self.old else self.keras.optimizers
        return home.LossScaleOptimizer

    def loss_scaled(self, optimizer: Any, **options: Any) -> Any:
        return self.scaling_class(optimizer, **options)

    def policy(self, name: str) -> Any:
        return self.keras.mixed_precision.Policy(name) if self.old else self.keras.DTypePolicy(name)

    def model(self, *layers: Any, inputs: Any = (3,), dtype: str = "float64") -> Any:
        """A small model with the same weights each time."""
        self.keras.utils.set_random_seed(7)
        inner = layers or (self.dense(5, activation="tanh", dtype=dtype), self.dense(2, dtype=dtype))
        return self.keras.Sequential([self.keras.Input(inputs), *inner])

    def dense(self, units: int, **options: Any) -> Any:
        options.setdefault("dtype", "float64")
        options.setdefault("kernel_initializer", self.keras.initializers.GlorotUniform(seed=units))
        return self.keras.layers.Dense(units, **options)


def train(model: Any, optimizer: Any, x: Any, y: Any, batch_size: int, **options: Any) -> Any:
    """Compile and fit without shuffling; `compile` options go in `compiled`."""
    compiled = {"loss": "mse", "jit_compile": False, **options.pop("compiled", {})}
    model.compile(optimizer, **compiled)
    model.fit(x, y, batch_size=batch_size, shuffle=False, verbose=0, **{"epochs": 2, **options})
    return model


def weights(model: Any) -> list[np.ndarray]:
    return [np.asarray(weight) for weight in model.get_weights()]


def updates_of(optimizer: Any) -> int:
    """How often it was applied; early versions of Keras 3 count only in the optimizer inside of one that scales."""
    counting = getattr(optimizer, "inner_optimizer", optimizer) if versions.is_early_keras_3() else optimizer
    return int(counting.iterations.numpy())


def examples(count: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 3)), rng.normal(size=(count, 2))


Make = Callable[[Kit], Any]
