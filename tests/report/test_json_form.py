"""The JSON form, and the schema that is published for it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from report.read_json import from_data
from report.samples import CUT, HELP, TRAIN, diagnostic, span, write
from report.strategies import REPORTS
from whygrad.diagnostics import Label, Steps
from whygrad.report import LossReach, Report, render
from whygrad.report.schema import json_schema, render_schema

PUBLISHED = Path(__file__).parents[2] / "docs" / "report-schema.json"


def _strict(schema: Any) -> Any:
    """The schema with no room for keys it does not name."""
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if "properties" in schema else {}
    return {**{key: _strict(value) for key, value in schema.items()}, **closed}


VALIDATOR = jsonschema.Draft202012Validator(_strict(json_schema()))


def test_columns_are_counted_from_one_and_end_after_the_last() -> None:
    file = write("train.py", TRAIN)
    report = Report(
        run={"script": "train.py"},
        diagnostics=(
            diagnostic(
                span(file, 6, "tf.cast(w * 3.0, tf.int32)"),
                related=(Label(span(file, 3, "w"), "made here"),),
                notes=("an integer has no derivative",),
                help=HELP,
                steps=Steps(3, 4),
            ),
        ),
        gradients=(LossReach(loss="loss", where=None, missing=("w",), seen=4),),
    )

    assert json.loads(render(report, "json")) == {
        "schema_version": 1,
        "run": {"script": "train.py"},
        "diagnostics": [
            {
                "code": "WG101",
                "rule": "non-differentiable-op",
                "severity": "error",
                "message": "no gradient reaches `w`: its path to the loss is cut by a cast",
                "variables": ["w"],
                "location": {"file": file, "line": 6, "column": 14, "end_line": 6, "end_column": 40},
                "label": CUT,
                "related": [
                    {"file": file, "line": 3, "column": 1, "end_line": 3, "end_column": 2, "label": "made here"}
                ],
                "notes": ["an integer has no derivative"],
                "help": HELP,
                "steps": {"seen": 3, "of": 4},
                "certain": True,
                "fixes": [],
            }
        ],
        "gradients": [{"loss": "loss", "location": None, "reached": [], "missing": ["w"], "steps": 4, "terms": []}],
    }


def test_without_a_place_the_location_is_null() -> None:
    (found,) = json.loads(Report(diagnostics=(diagnostic(),)).to_json())["diagnostics"]

    assert found["location"] is None
    assert found["label"] is None


@given(report=REPORTS)
def test_every_report_obeys_the_schema_and_can_be_read_back(report: Report) -> None:
    text = report.to_json()

    assert text.isascii()
    VALIDATOR.validate(json.loads(text))
    assert from_data(json.loads(text)) == report


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.pop("gradients"),
        lambda data: data.update(schema_version=2),
        lambda data: data["diagnostics"][0].update(severity="fatal"),
        lambda data: data["diagnostics"][0].update(unheard_of=1),
        lambda data: data["diagnostics"][0]["location"].update(column=0),
        lambda data: data["diagnostics"][0]["related"][0].pop("label"),
    ],
)
def test_the_schema_can_refuse(spoil: Any) -> None:
    file = write("train.py", TRAIN)
    related = (Label(span(file, 3, "w"), "made here"),)
    data = json.loads(Report(diagnostics=(diagnostic(span(file, 6, "tf"), related=related),)).to_json())
    VALIDATOR.validate(data)

    spoil(data)

    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(data)


def test_the_published_schema_is_the_generated_one() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == render_schema(), "run `make docs`"


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_what_json_has_no_word_for_is_text() -> None:
    run = {"loss": math.nan, "path": Path("train.py"), "versions": {"tf": (2, 21)}, 3: math.inf}

    assert json.loads(Report(run=run).to_json())["run"] == {  # type: ignore[arg-type]
        "loss": "nan",
        "path": "train.py",
        "versions": {"tf": [2, 21]},
        "3": "inf",
    }
