"""What the exceptions of TensorFlow 2.16 to 2.21 and of Keras say, as kinds and facts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from whygrad.graph import Failure, FailureKind

SIGNS: Final[tuple[tuple[FailureKind, str], ...]] = (
    (FailureKind.TAPE_SPENT, r"non-persistent"),
    (FailureKind.NO_DERIVATIVE, r"gradient registry has no entry for|No gradient defined for operation"),
    (FailureKind.NO_GRADIENTS, r"(?m)^(?: +ValueError: )?No gradients provided"),
    (FailureKind.NO_LOSS, r"No loss"),
    (FailureKind.STATE_ADDED_LATE, r"You cannot add new elements of state"),
    (FailureKind.VARIABLE_IN_TRACE, r"tf\.function only supports singleton tf\.Variables"),
    (FailureKind.VARIABLE_IN_TRACE, r"tried to create variables on non-first call"),
    (FailureKind.VARIABLE_IN_TRACE, r"tf\.function-decorated function tried to create variables"),
    (FailureKind.VARIABLE_OF_TRACED, r"could not be lifted out of a `tf\.function`"),
    (FailureKind.SYMBOLIC_SOURCE, r"Passed in object .*(<KerasTensor|KerasTensor\()"),
    (FailureKind.WRAPPED_VARIABLE, r"^Passed in object <Variable"),
    (FailureKind.SYMBOLIC_INPUT, r"A KerasTensor cannot be used as input to a TensorFlow function"),
    (FailureKind.SYMBOLIC_INPUT, r"A KerasTensor is symbolic: it's a placeholder"),
    (FailureKind.OLD_OPTIMIZERS, r"`keras\.optimizers\.legacy` is not supported in Keras 3"),
    (FailureKind.OLD_FILE, r"Keras 3 only supports V3"),
    (FailureKind.OLD_WEIGHTS_NAME, r"must end in `\.weights\.h5`"),
    (FailureKind.OLD_MODEL_NAME, r"must end in `\.keras`|Invalid filepath extension for saving"),
    (FailureKind.VARIABLE_CALLED, r"'ResourceVariable' object is not callable"),
    (FailureKind.LIST_CALLED, r"'list' object is not callable"),
    (FailureKind.LABELS_MISFIT, r"Arguments? `target` and `output` must have the same"),
    (FailureKind.LABELS_MISFIT, r"Argument `output` must have rank"),
    (FailureKind.LABELS_MISFIT, r"Received a label value of -?\d+ which is outside|`labels\.shape` must equal"),
    (FailureKind.LABELS_MISFIT, r"`?logits`? and `?labels`? must (be|have)|`labels\.shape\.rank` must equal"),
    (FailureKind.LABELS_OF_OTHER_TYPE, r"Value for attr 'Tlabels' of \w+ is not in the list"),
    (FailureKind.LABELS_OF_OTHER_TYPE, r"was expected to be a \w+ tensor but is a \w+ tensor"),
    (FailureKind.ROWS_DIFFER, r"Data cardinality is ambiguous"),
    (FailureKind.SHAPES_DIFFER, r"Shapes \(.*\) and \(.*\) are incompatible"),
    (FailureKind.SHAPES_DIFFER, r"Cannot update variable with shape|: Shape mismatch\.|Incompatible shapes: \["),
    (FailureKind.SHAPES_DIFFER, r"must have the same size and shape|Dimension \d+ in both shapes must be equal"),
    (FailureKind.MISSING_USED, r"'NoneType'|None values not supported|convert a value \(None\)"),
    (FailureKind.SHAPES_DIFFER, r"(Dimensions|Shapes) must be equal"),
    (FailureKind.SHAPES_DIFFER, r"target value in `variable\.assign\(value\)` must match"),
    (FailureKind.NOT_NUMBERS, r"Invalid dtype: (object|str)|Unsupported object type|could not convert string to float"),
    (FailureKind.NOT_NUMBERS, r"Cast string to \w+ is not supported|Expected binary or unicode string, got"),
    (FailureKind.LENGTHS_DIFFER, r"zip\(\) argument \d+ is (shorter|longer)|^list index out of range"),
)
_OPS: Final = (
    re.compile(r"gradient registry has no entry for: (\w+)"),
    re.compile(r"No gradient defined for operation.*?\(op type: (\w+)\)"),
    re.compile(r"\[Op:(\w+)\]"),
    re.compile(r"\}\} = (\w+)\["),
)
_REFUSED: Final = (
    re.compile(r"([\w.]+)\(\) got an unexpected keyword argument ?'(\w+)'"),
    re.compile(r"()Argument\(s\) not recognized: { ?'(\w+)'"),
    re.compile(r"Unrecognized keyword arguments passed to (\w+): {'(\w+)'"),
)
_KERAS_CLASSES: Final = (
    r"\w*Optimizer|Adam|AdamW|Adamax|Adagrad|Adadelta|SGD|RMSprop|Nadam|Ftrl|Lion|Lamb|Sequential|Functional|Model"
)
# A converted function keeps the text of an AttributeError only.
_LACKING: Final = re.compile(rf"'(?P<home>{_KERAS_CLASSES})' object has no attribute '(?P<name>\w+)'")
_GONE: Final = (
    re.compile(r"module '(?P<home>[\w.]+)' has no attribute '(?P<name>\w+)'"),
    re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<home>[\w.]+)'"),
    re.compile(r"No module named '(?P<home>[\w.]+)\.(?P<name>\w+)'"),
)
_TOO_MANY: Final = re.compile(r"(\w+\.\w+)\(\) takes (?:from \d+ to )?(\d+) positional arguments? but \d+ w")
_OUTSIDE: Final = re.compile(r"Received a label value of (-?\d+) which is outside the valid range of \[0, (\d+)\)")
_TWO_SHAPES: Final = (
    re.compile(r"(?:labels|target)\.shape=\(([^)]*)\).*?(?:logits|output)\.shape=\(([^)]*)\)"),
    re.compile(r"received \(\(([^)]*)\) vs \(([^)]*)\)\)"),
    re.compile(r"Incompatible shapes: \[([^\]]*)\] vs\. \[([^\]]*)\]"),
    re.compile(r"with input shapes: \[([^\]]*)\], \[([^\]]*)\]"),
)
_ASKING: Final = "tensorflow.python.eager.backprop.GradientTape."
_SPARSE: Final = "IndexedSlices"
_MISUSE: Final = ("TypeError", "AttributeError", "ValueError")


def classify(failure: Failure) -> Failure:
    """A failure with what can be read in its text."""
    op = next((found for each in _OPS if (found := each.search(failure.message))), None)
    refused = next((found for each in _REFUSED if (found := each.search(failure.message))), None)
    known = replace(
        failure,
        kind=_kind(failure),
        op=None if op is None else op[1],
        argument=None if refused is None else refused[2],
        function=None if refused is None else (refused[1] or "__init__").split(".")[-1],
        label=None if (outside := _OUTSIDE.search(failure.message)) is None else (int(outside[1]), int(outside[2])),
        shapes=next((_shapes(found) for each in _TWO_SHAPES if (found := each.search(failure.message))), ()),
    )
    lacking = _LACKING.search(failure.message)
    home, name = missing_name(failure) or ((lacking["home"], lacking["name"]) if lacking is not None else ("", ""))
    home = home.removeprefix("tf_")
    if not (lacking or home.split(".")[0] == "keras") or _is_of_keras(failure):
        return known
    return replace(known, attribute=name, object_type=f"keras.{home.removeprefix('keras.')}")


def missing_name(failure: Failure) -> tuple[str, str] | None:
    """The module and the name that it does not have."""
    found = next((found for each in _GONE if (found := each.search(failure.message))), None)
    return None if found is None else (found["home"], found["name"])


def refused_positions(failure: Failure) -> tuple[str, int] | None:
    """The function, and how many positional arguments it takes."""
    found = _TOO_MANY.search(failure.message)
    return None if found is None else (found[1], int(found[2]))


def failure_of(text: str) -> Failure:
    """What is known of an exception that was written down as `Type: message`."""
    type_name, _, message = text.partition(": ")
    return classify(Failure(type_name=type_name, message=message))


def _kind(failure: Failure) -> FailureKind | None:
    if failure.attribute == "_id" and (failure.called or "").startswith(_ASKING):
        return FailureKind.NOT_A_SOURCE
    if failure.type_name in _MISUSE and (_SPARSE in failure.message or _SPARSE in (failure.object_type or "")):
        return FailureKind.SPARSE_AS_DENSE
    if failure.type_name == "LookupError":
        return FailureKind.NO_DERIVATIVE
    if (shapes := _TWO_SHAPES[0].search(failure.message)) is not None and _axes(shapes[1]) > _axes(shapes[2]):
        return FailureKind.LABELS_LARGER
    return next((kind for kind, sign in SIGNS if re.search(sign, failure.message)), None)


def _shapes(found: re.Match[str]) -> tuple[tuple[int | None, ...], ...]:
    return tuple(
        tuple(int(side) if side.strip().isdigit() else None for side in shape.split(",") if side.strip())
        for shape in found.groups()
    )


def _axes(shape: str) -> int:
    return len([side for side in shape.split(",") if side.strip()])


def _is_of_keras(failure: Failure) -> bool:
    kinds = (failure.object_type or "", *failure.object_bases)
    return failure.attribute is not None and any(kind.startswith("keras.") for kind in kinds)
