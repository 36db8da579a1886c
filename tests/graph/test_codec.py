"""What is written is read back as it was; what cannot be read says why."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.strategies import RECORDINGS, anything, programs
from graph_builder import GraphBuilder
from whygrad.errors import UsageError
from whygrad.graph import Event, Graph, OpKind, Pairing, Recording, Tensor, TensorId, Update, VariableId
from whygrad.graph.codec import SCHEMA_VERSION, codec_of, dump, load
from whygrad.source import SourceSpan


def fields_of(recording: Recording) -> dict[str, object]:
    """A recording is not equal to its copy, but what it holds is."""
    return {field.name: getattr(recording, field.name) for field in dataclasses.fields(recording)}


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(RECORDINGS)
def test_recording_comes_back_whole(recording: Recording) -> None:
    assert fields_of(load(dump(recording), Recording)) == fields_of(recording)


@given(programs())
def test_program_comes_back_whole(recording: Recording) -> None:
    again = load(dump(recording), Recording)

    assert fields_of(again) == fields_of(recording)
    assert load(dump(recording.requests[0].graph), Graph) == recording.requests[0].graph


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_event_comes_back_as_what_it_was(kind: type, data: st.DataObject) -> None:
    event = data.draw(anything(kind))
    [again] = load(dump(Recording(events=(event,))), Recording).events

    assert type(again) is kind
    assert again == event


def test_order_and_types_of_tables_are_kept() -> None:
    tensors = {TensorId(n): Tensor(id=TensorId(n), dtype="float32", shape=(None, 2)) for n in (30, -1, 4)}
    again = load(dump(Graph(tensors=tensors)), Graph)

    assert list(again.tensors.items()) == list(tensors.items())


def test_a_number_that_is_none_comes_back_and_the_text_stays_json() -> None:
    pairs = tuple(Pairing(variable=VariableId(1), gradient_of=None, scale=n) for n in (math.nan, math.inf, -math.inf))
    text = dump(Recording(updates=(Update(optimizer="sgd", optimizer_id=1, pairs=pairs),)))
    scales = [pair.scale for pair in load(text, Recording).updates[0].pairs]

    json.loads(text, parse_constant=pytest.fail)
    assert [str(scale) for scale in scales] == ["nan", "inf", "-inf"]


def test_text_is_plain_json_and_says_what_it_is() -> None:
    g = GraphBuilder()
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("w"),), where=SourceSpan("träin.py", 3, 0, 3, 5)))
    outer = json.loads(dump(recording))

    assert (outer["schema_version"], outer["kind"]) == (SCHEMA_VERSION, "recording")
    assert outer["data"]["requests"][0]["graph"]["ops"][1] == {
        "id": 2,
        "kind": "smooth",
        "name": "smooth",
        "inputs": [1],
        "outputs": [2],
        "flows": ["carried"],
        "where": {"file": "träin.py", "line": 3, "column": 0, "end_line": 3, "end_column": 5},
        "tapes": [1],
    }


def written(**changes: Any) -> str:
    return json.dumps({"schema_version": SCHEMA_VERSION, "kind": "recording", "data": {}, **changes})


def test_the_text_that_the_next_tests_spoil_is_sound() -> None:
    assert fields_of(load(written(), Recording)) == fields_of(Recording())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is not a recording: not JSON (Expecting value: line 1 column 1 (char 0))"),
        ("[]", "this is not a recording: it has no schema version"),
        (written(schema_version="1"), "this is not a recording: it has no schema version"),
        (written(kind="graph"), "this is not a recording but a 'graph'"),
        (written(data=None), "this recording is damaged: None is not of type dict"),
        (written(data={"colour": 1}), "this recording is damaged: Recording has no colour"),
        (written(data={"requests": "abc"}), "this recording is damaged: 'abc' is not of type list"),
        (written(data={"tapes": [[1, {"id": "1"}]]}), "this recording is damaged: '1' is not of type int"),
        (written(data={"tapes": [[1, {"id": True}]]}), "this recording is damaged: True is not of type int"),
        (written(data={"tapes": [[1, {"id": None}]]}), "this recording is damaged: None is not of type int"),
        (written(data={"events": [{"class": "Recording"}]}), "this recording is damaged: 'Recording' is none of "),
        (written(data={"events": [None]}), "this recording is damaged: null where a value is needed"),
    ],
)
def test_text_that_is_none_says_why(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(text, Recording)

    assert caught.value.message.startswith(message)


def test_missing_field_is_named() -> None:
    with pytest.raises(UsageError, match=r"this graph is damaged: .*'dtype'"):
        load(written(kind="graph", data={"tensors": [[1, {"id": 1}]]}), Graph)


def test_newer_schema_asks_for_a_newer_whygrad() -> None:
    with pytest.raises(UsageError) as caught:
        load(written(schema_version=SCHEMA_VERSION + 1), Recording)

    assert str(caught.value) == (
        f"this recording has schema version {SCHEMA_VERSION + 1}, and this whygrad reads up to {SCHEMA_VERSION}\n"
        "help: read it with a newer whygrad"
    )


def test_a_type_without_a_json_form_is_refused_when_it_is_met() -> None:
    with pytest.raises(TypeError, match="no JSON form for <class 'complex'>"):
        codec_of(complex)
    with pytest.raises(TypeError, match="no JSON form for a choice of"):
        codec_of(int | str)
