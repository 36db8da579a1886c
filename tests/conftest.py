"""TensorFlow comes into a test through these fixtures only, so that the fast tests never pay for it."""

from __future__ import annotations

import importlib
import os
import warnings
from types import ModuleType

import pytest

pytest_plugins = ["pytester"]

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")


def _import_quietly(name: str) -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


@pytest.fixture(scope="session")
def tf() -> ModuleType:
    return _import_quietly("tensorflow")


@pytest.fixture(scope="session")
def keras(tf: ModuleType) -> ModuleType:
    return _import_quietly("keras")


@pytest.fixture(scope="session")
def tf_keras(tf: ModuleType) -> ModuleType:
    return _import_quietly("tf_keras")
