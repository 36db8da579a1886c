"""What the installed TensorFlow and Keras call a thing that an older version had: asked of the packages themselves."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
import sys
from typing import Any, Final

from whygrad.backends.tensorflow.api import GONE_WITHOUT_A_NAME, TAKE_GRADIENTS

_OLD: Final = GONE_WITHOUT_A_NAME | {"set_random_seed": "write `tf.random.set_seed(seed)`"}
_OPTIMIZERS: Final = {"GradientDescent": "SGD", "Momentum": "SGD", "AdagradDA": "Adagrad", "ProximalAdagrad": "Adagrad"}


Outdated = tuple[str, str]  # what the installed version does not have, and what to write instead


def outdated_name(home: str, name: str) -> Outdated | None:
    """What is known of a name that a module of the framework does not have; None: it may be a slip of the user's."""
    in_keras = home.split(".")[0] == "keras" or home.startswith("tensorflow.keras")
    if not in_keras and home != "tensorflow" and not home.startswith("tensorflow._api."):
        return None
    inside = re.sub(r"^(tensorflow|keras)(\._api\.v2|\._tf_keras\.keras|\.keras|\.api)?\.?", "", home)
    path = f"{inside}.{name}" if inside else name
    instead = _of_keras(inside, name) if in_keras else _of_tensorflow(path, inside, name)
    owner, root = ("Keras 3", "keras") if in_keras else ("TensorFlow 2", "tf")
    root = "tf.keras" if in_keras and ("_tf_keras" in home or home.startswith("tensorflow")) else root
    return None if instead is None else (f"{owner} has no `{root}.{path}`", instead)


def _of_tensorflow(path: str, inside: str, name: str) -> str | None:
    import tensorflow as tf

    now = _renames().get(f"tf.{path}", "")
    if now and not now.startswith("tf.compat."):
        return f"write `{now}`"
    if inside == "train" and name.endswith("Optimizer"):
        kind = name.removesuffix("Optimizer")
        return f"use `keras.optimizers.{_OPTIMIZERS.get(kind, kind)}`, and {TAKE_GRADIENTS}"
    if name in _OLD and not inside:
        return _OLD[name]
    known: Any = tf.compat.v1
    for part in path.split("."):
        known = getattr(known, part, None)
    return None if known is None else f"`tf.compat.v1.{path}` is the old one"


def _renames() -> dict[str, str]:
    """The table that TensorFlow's own script for upgrading old programs uses."""
    try:
        table = importlib.import_module("tensorflow.tools.compatibility.all_renames_v2")
        return dict(table.manual_symbol_renames) | dict(table.symbol_renames)
    except (ImportError, AttributeError):
        return {}


_ALIASES: Final = {"kullback_leibler_divergence": "kl_divergence", "logcosh": "log_cosh", "cosine": "cosine_similarity"}


def _of_keras(inside: str, name: str) -> str | None:
    """Ask the module for the thing by its old name, then the other modules of Keras for the name."""
    keras: Any = sys.modules.get("keras")
    public: Any = getattr(keras, inside, None)
    with contextlib.suppress(Exception):  # `get` raises for what it does not know
        found = public.get(_ALIASES.get(name, name))
        found = found if inspect.isfunction(found) else type(found)
        for each in dir(public):
            if getattr(public, each) is found:
                return f"write `keras.{inside}.{each}`"
    for other in ("ops", "random", "layers", "losses", "metrics", "activations", "utils"):
        if hasattr(getattr(keras, other, None), name):
            return f"write `keras.{other}.{name}`"
    return None


def refused_positions(function: str, taken: int) -> Outdated | None:
    """What is known of a method of a Keras class that was given more than `taken` positional arguments."""
    keras, (kind, _, method) = sys.modules.get("keras"), function.partition(".")
    for home in ("layers", "losses", "metrics", "optimizers", "callbacks", "regularizers", "initializers"):
        owner = getattr(getattr(keras, home, None), kind, None)
        if owner is not None and callable(getattr(owner, method, None)):
            kinds = [each.kind for each in inspect.signature(getattr(owner, method)).parameters.values()]
            if sum(each is inspect.Parameter.POSITIONAL_OR_KEYWORD for each in kinds) == taken:
                many = "no positional argument" if taken == 1 else f"at most {taken - 1} positional arguments"
                names = [each for each in inspect.signature(getattr(owner, method)).parameters if each != "self"]
                return f"`{function}` of Keras 3 takes {many}", f"name the arguments: {', '.join(names)}"
    return None
