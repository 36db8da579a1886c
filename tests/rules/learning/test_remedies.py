"""What is changed where a layer, a loss and its targets do not fit: text in, text out."""

from __future__ import annotations

from typing import Any

import pytest

from fixes.rewritten import rewritten
from whygrad.graph import Recording
from whygrad.graph.learning import Activation, LayerFacts, LayerKind, LossKind, Objective, Values
from whygrad.graph.questions.misfit import Found, Misfit
from whygrad.rules.learning.remedies import remedies

CLASSES = Values(shape=(8,), rows=8, minimum=0, maximum=3, whole=True, distinct=4)
YES_OR_NO = Values(shape=(8,), rows=8, minimum=0, maximum=1, whole=True, distinct=2)


def changed(code: str, misfit: Misfit, **facts: Any) -> list[str]:
    layer = LayerFacts(name="out", kind=LayerKind.DENSE)
    options = {"loss": LossKind.BINARY, "name": "loss", "layers": (layer,), "targets": YES_OR_NO, **facts}
    found = Found(Objective(**options), misfit, layer, Recording())
    return rewritten(code, lambda at, loss: remedies(found, at, loss))


@pytest.mark.parametrize(
    ("misfit", "before", "after"),
    [
        (Misfit.ONE_UNIT_SOFTMAX, '«Dense(1, "softmax")»; «"bce"»', 'Dense(1, "sigmoid"); "bce"'),
        (Misfit.UNREACHABLE, '«Dense(1, "sigmoid")»; «"mse"»', 'Dense(1, None); "mse"'),
        (Misfit.BINARY_OVER_CLASSES, '«Dense(6)»; «"bce"»', 'Dense(6); "categorical_crossentropy"'),
        (Misfit.UNITS_FOR_ONE_TARGET, '«Dense(6)»; «"mse"»', 'Dense(1); "mse"'),
        (Misfit.PROBABILITY_AS_LOGIT, "«Dense(6)»; «B(from_logits=True)»", "Dense(6); B(from_logits=False)"),
    ],
)
def test_a_misfit_is_removed(misfit: Misfit, before: str, after: str) -> None:
    assert changed(before, misfit)[0] == after


def test_class_numbers_get_a_unit_each() -> None:
    [text] = changed('«Dense(1, "sigmoid")»; «"bce"»', Misfit.BINARY_ON_CLASSES, targets=CLASSES)
    assert text == 'Dense(4, "softmax"); "sparse_categorical_crossentropy"'
    [text] = changed('«Dense(2)»; «"scce"»', Misfit.LABEL_TOO_LARGE, targets=CLASSES)
    assert text == 'Dense(4); "scce"'


def test_scores_are_told_to_the_loss_or_made_probabilities() -> None:
    texts = changed("«Dense(1)»; «B()»", Misfit.LINEAR_AS_PROBABILITY, activation=Activation.LINEAR)
    assert texts == ["Dense(1); B(from_logits=True)", 'Dense(1, activation="sigmoid"); B()']


def test_nothing_is_offered_where_the_labels_may_be_wrong() -> None:
    shifted = Values(shape=(8,), rows=8, minimum=1, maximum=5, whole=True, distinct=5)
    assert changed('«Dense(5)»; «"scce"»', Misfit.LABEL_TOO_LARGE, targets=shifted) == []
    assert changed('«Dense(5)»; «"scce"»', Misfit.EMPTY_ROWS) == []
