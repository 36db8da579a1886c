from __future__ import annotations

import pytest

from ledger_of_a_decoder import decoder_ledger
from whygrad.errors import UsageError
from whygrad.graph.codec import dump, load
from whygrad.graph.ledger import Ledger, Stretch


@pytest.fixture
def ledger() -> Ledger:
    return decoder_ledger()


def test_which_writers_a_variable_has(ledger: Ledger) -> None:
    assert ledger.writers("decoder/kernel") == ("optimizer adam", "edit ClipWeights", "user set_weights")
    assert ledger.writers("*bias") == ("optimizer adam",)
    assert ledger.writers("encoder/kernel") == ()


def test_a_part_of_a_name_does_not_fit_inside_a_word(ledger: Ledger) -> None:
    assert len(ledger.of("kernel")) == 3
    assert len(ledger.of("coder/kernel")) == 0


def test_at_which_steps(ledger: Ledger) -> None:
    assert [write.writer for write in ledger.of("kernel").at(17)] == ["adam", "set_weights"]
    assert [write.writer for write in ledger.of("kernel").at(20)] == ["adam", "ClipWeights"]
    assert [write.writer for write in ledger.at(0)] == ["set_weights"]
    assert len(ledger.at(201)) == 0


def test_writers_by_kind_and_by_name(ledger: Ledger) -> None:
    assert len(ledger.by("optimizer")) == 2
    assert len(ledger.by("Clip*")) == 1


def test_an_irregular_stretch_may_hold_any_of_its_steps() -> None:
    assert 5 in Stretch(3, 9, 0)
    assert 10 not in Stretch(3, 9, 0)
    assert 6 not in Stretch(3, 9, 2)


def test_a_ledger_survives_being_written_down(ledger: Ledger) -> None:
    assert load(dump(ledger), Ledger) == ledger


def test_a_text_that_is_no_ledger_is_refused() -> None:
    with pytest.raises(UsageError, match="this is not a ledger"):
        load("{}", Ledger)
