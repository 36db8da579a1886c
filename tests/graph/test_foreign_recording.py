"""A recording may be somebody else's: whatever its text is, it is a recording or a sentence comes of it."""

from __future__ import annotations

import contextlib
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.strategies import programs
from whygrad.errors import UsageError
from whygrad.graph import Recording
from whygrad.graph.codec import dump, load

JUNK: list[Any] = [None, -1, 10**400, 1.5, "x", "nan", [], {}, [[[]]], {"class": []}, True]


def spoil(at: Any, generator: random.Random) -> None:
    """Replace or drop something at a random place."""
    while True:
        key = generator.choice(list(at) if isinstance(at, dict) else list(range(len(at))))
        if isinstance(at[key], dict | list) and at[key] and generator.random() < 0.9:
            at = at[key]
        elif generator.random() < 0.3:
            del at[key]
            return
        else:
            at[key] = generator.choice(JUNK)
            return


@settings(derandomize=True, deadline=None)
@given(programs(), st.randoms(use_true_random=False))
def test_a_spoilt_text_gives_a_recording_or_a_sentence(recording: Recording, generator: random.Random) -> None:
    data = json.loads(dump(recording))
    spoil(data, generator)

    with contextlib.suppress(UsageError):  # anything else is a crash
        load(json.dumps(data), Recording)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"schema_version": 1' + "0" * 5000 + "}"])
def test_text_that_nests_without_end_or_has_giant_numbers_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="this is not a recording: not JSON"):
        load(text, Recording)
