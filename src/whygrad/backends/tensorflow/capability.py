"""Private names of TensorFlow that may be missing: what each is needed for, and which are not there.

`compat` looks every one of them up through `find`. A name that is missing switches off what needs it, and no more.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Loss(StrEnum):
    """What whygrad does without where a name is missing, as a user is told."""

    EVERYTHING = "nothing can be watched"
    TRACES = "functions are followed only while they run eagerly"
    FLOWS = "which ops let no gradient through is not known: missing gradients stay unexplained"
    LEAVING = "values that leave TensorFlow are found in the source only"
    CUSTOM = "custom gradients are not looked into"
    FOREIGN = "the bodies of `tf.py_function` are not looked into"
    CREATION = "where variables were created is not known"
    READS = "a variable that an op reads by itself may be taken for a constant"
    WRITERS = "who writes to a variable may not be known"
    BAKED = "Python values that a traced function keeps forever are not found"
    SOURCE = "inside converted functions lines may be off"
    REPLAY = "steps are not run again, so that a NaN is not traced to its expression"
    BACKWARD = "a NaN of the backward pass is not traced to its forward expression"
    COMPILED = "compiled steps are not looked into for NaN"
    TERMS = "how much each term of a loss gives is not measured"
    XLA = "statistics under XLA may be slower"
    SHORT_CALLS = "short compiled steps may be slower"


@dataclass(frozen=True, slots=True)
class Name:
    path: str  # `module:attribute`, or a module
    loss: Loss


class MissingNameError(Exception):
    """A part of whygrad wanted a name that this TensorFlow does not have."""

    def __init__(self, name: Name) -> None:
        super().__init__(f"this TensorFlow has no `{name.path.replace(':', '.')}`: {name.loss}")
        self.name = name


class Absent:
    """Stands for a missing name. It is false, and using it in any other way raises `MissingNameError`."""

    __slots__ = ("_name",)

    def __init__(self, name: Name) -> None:
        self._name = name

    def __bool__(self) -> bool:
        return False

    def __call__(self, *args: object, **kwargs: object) -> Any:
        raise MissingNameError(self._name)

    def __getattr__(self, attribute: str) -> Any:
        raise MissingNameError(self._name)


names: dict[str, Name] = {}  # complete once `compat` is imported
missing: dict[str, Name] = {}  # those that this TensorFlow does not have
hidden: set[str] = set()  # names that are treated as missing, to see what happens


def find(path: str, loss: Loss, *elsewhere: str) -> Any:
    """What stands at `module:attribute`, there or at one of the other places; else an `Absent`."""
    for place in () if path in hidden else (path, *elsewhere):
        value = _look_up(place)
        if value is not None:
            names[path] = Name(path, loss)
            return value
    names[path] = missing[path] = Name(path, loss)
    return Absent(missing[path])


def _look_up(path: str) -> Any:
    module, _, attribute = path.partition(":")
    try:
        value: Any = importlib.import_module(module)
    except ImportError:
        return None
    for part in attribute.split(".") if attribute else ():
        value = getattr(value, part, None)
    return value
