"""What exceptions of TensorFlow and Keras are about, read from their text; no TensorFlow is needed for it."""

from __future__ import annotations

import pytest

from whygrad.backends.tensorflow.failures import classify, failure_of
from whygrad.graph import Failure, FailureKind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("RuntimeError: A non-persistent GradientTape can only be used to compute one set of gradients", "tape-spent"),
        ("LookupError: gradient registry has no entry for: AdjustContrastv2", "no-derivative"),
        (
            "StagingError: in user code:\n LookupError: No gradient defined for operation'scan/x' (op type: X)",
            "no-derivative",
        ),
        ("ValueError: No gradients provided for any variable.", "no-gradients"),
        ("ValueError: No gradients provided for any variable: (['w:0'],).", "no-gradients"),
        ("ValueError: No loss to compute. Provide a `loss` argument in `compile()`.", "no-loss"),
        ("ValueError: You cannot add new elements of state (variables or sub-layers) to a layer", "state-added-late"),
        ("ValueError: tf.function only supports singleton tf.Variables created on the first call", "variable-in-trace"),
        (
            "ValueError: Passed in object [<KerasTensor shape=(None, 2)>] of type 'list'",
            "symbolic-source",
        ),
        ("ValueError: Passed in object <Variable path=w> of type 'Variable', not tf.Tensor", "wrapped-variable"),
        ("TypeError: unsupported operand type(s) for +: 'IndexedSlices' and 'float'", "sparse-as-dense"),
        ("ValueError: The filename must end in `.weights.h5`. Received: w.h5", "old-weights-name"),
        ("TypeError: 'list' object is not callable", "list-called"),
        ("InvalidArgumentError: Incompatible shapes: [2] vs. [3]", "shapes-differ"),
        (
            "InvalidArgumentError: Cannot update variable with shape [6,1] using a Tensor with shape [4,6]",
            "shapes-differ",
        ),
        ("ValueError: Cannot assign value to variable 'v': Shape mismatch.The variable shape (6, 1)", "shapes-differ"),
        ("InvalidArgumentError: Inputs to AddN must have the same size and shape. Input 0: [6,2]", "shapes-differ"),
        ("ValueError: Dimension 0 in both shapes must be equal, but are 6 and 4.", "shapes-differ"),
    ],
)
def test_the_kind_is_read_from_the_text(text: str, kind: str) -> None:
    failure = failure_of(text)

    assert failure is not None
    assert failure.kind is FailureKind(kind)


def test_what_nobody_knows_has_no_kind() -> None:
    failure = failure_of("ResourceExhaustedError: OOM when allocating tensor with shape[2,3]")

    assert failure is not None
    assert (failure.kind, failure.op, failure.argument) == (None, None, None)


@pytest.mark.parametrize(
    "text",
    [
        "LookupError: gradient registry has no entry for: AdjustContrastv2",
        "LookupError: No gradient defined for operation'scan/while/contrast' (op type: AdjustContrastv2). In general",
    ],
)
def test_the_op_without_a_derivative_is_named(text: str) -> None:
    failure = failure_of(text)

    assert failure is not None
    assert failure.op == "AdjustContrastv2"


@pytest.mark.parametrize(
    ("message", "argument", "function"),
    [
        ("SGD.__init__() got an unexpected keyword argument 'lr'", "lr", "__init__"),
        ("Argument(s) not recognized: {'lr': 0.1}", "lr", "__init__"),
        ("Unrecognized keyword arguments passed to Dense: {'weights': []}", "weights", "Dense"),
    ],
)
def test_the_refused_argument_is_named(message: str, argument: str, function: str) -> None:
    failure = classify(Failure(type_name="TypeError", message=message))

    assert (failure.argument, failure.function) == (argument, function)


def test_a_missing_attribute_is_read_from_the_text_where_the_object_is_gone() -> None:
    failure = classify(Failure(type_name="AttributeError", message="'Adam' object has no attribute 'minimize'"))

    assert (failure.object_type, failure.attribute) == ("keras.Adam", "minimize")


def test_a_missing_attribute_of_a_class_of_the_user_is_none_of_ours() -> None:
    failure = classify(Failure(type_name="AttributeError", message="'Agent' object has no attribute 'minimize'"))

    assert failure.attribute is None
