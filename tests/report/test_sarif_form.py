"""SARIF 2.1.0, held against what the standard asks of the parts that are written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import given

from report.samples import CUT, HELP, TRAIN, diagnostic, span, write
from report.strategies import REPORTS
from whygrad.diagnostics import Edit, Fix, FixSafety, Label, Severity, Steps
from whygrad.report import Report, render
from whygrad.source import SourceSpan, refresh_sources


def _closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


POSITION = {"type": "integer", "minimum": 1}
MESSAGE = _closed(["text"], text={"type": "string", "minLength": 1})
ARTIFACT = _closed(["uri"], uri={"type": "string", "pattern": r"^[!#-;=?-\[\]_a-z~]+$"}, uriBaseId={"type": "string"})
REGION = _closed(["startLine"], startLine=POSITION, startColumn=POSITION, endLine=POSITION, endColumn=POSITION)
PHYSICAL = _closed(["artifactLocation"], artifactLocation=ARTIFACT, region=REGION)
LOCATION = _closed([], id={"type": "integer", "minimum": 0}, physicalLocation=PHYSICAL, message=MESSAGE)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
REPLACEMENT = _closed(["deletedRegion"], deletedRegion=REGION, insertedContent=_closed([], text={"type": "string"}))
CHANGE = _closed(
    ["artifactLocation", "replacements"],
    artifactLocation=ARTIFACT,
    replacements={"type": "array", "minItems": 1, "items": REPLACEMENT},
)
RULE = _closed(
    ["id"],
    id={"type": "string"},
    name={"type": "string"},
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    helpUri={"type": "string", "format": "uri"},
    help=_closed(["text"], text={"type": "string", "minLength": 1}, markdown={"type": "string"}),
    defaultConfiguration=_closed([], level=LEVEL),
)
RESULT = _closed(
    ["message"],
    ruleId={"type": "string"},
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations={"type": "array", "items": LOCATION},
    relatedLocations={"type": "array", "items": LOCATION, "uniqueItems": True},
    partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}},
    fixes={
        "type": "array",
        "items": _closed(["artifactChanges"], description=MESSAGE, artifactChanges={"items": CHANGE}),
    },
    properties={"type": "object"},
)
DRIVER = _closed(
    ["name"],
    name={"type": "string"},
    semanticVersion={"type": "string"},
    rules={"type": "array", "items": RULE, "uniqueItems": True},
)
RUN = _closed(
    ["tool"],
    tool=_closed(["driver"], driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results={"type": "array", "items": RESULT},
)
LOG = _closed(
    ["version", "runs"],
    **{"$schema": {"type": "string"}, "version": {"const": "2.1.0"}, "runs": {"type": "array", "items": RUN}},
)


@dataclass(frozen=True)
class ARule:
    code: str = "WG101"
    name: str = "non-differentiable-op"
    severity: Severity = Severity.ERROR
    summary: str = "Detects it."
    page: str = "Detects it.\n\n## Why it matters\n"


def _log(report: Report, **options: Any) -> Any:
    return json.loads(render(report, "sarif", **options))


def _results(*diagnostics: Any) -> Any:
    return _log(Report(diagnostics=diagnostics))["runs"][0]["results"]


@given(report=REPORTS)
def test_every_report_is_valid(report: Report) -> None:
    log = _log(report, rules=[ARule()])

    jsonschema.Draft202012Validator(LOG).validate(log)
    (run,) = log["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_result_says_what_where_and_how_sure(project: Path) -> None:
    file = write("train step.py", TRAIN)
    (result,) = _results(
        diagnostic(
            span(file, 6, "tf.cast(w * 3.0, tf.int32)"),
            severity=Severity.WARNING,
            certain=False,
            related=(Label(SourceSpan("/elsewhere/model.py", 2), "a second cut"),),
            help=HELP,
            steps=Steps(3, 4),
            fixes=(
                Fix(
                    title="keep it in floating point",
                    edits=(Edit(span(file, 6, "tf.int32"), "tf.float32"),),
                    safety=FixSafety.UNSAFE,
                ),
            ),
        )
    )

    here = {"uri": "train%20step.py", "uriBaseId": "%SRCROOT%"}
    assert len(result.pop("partialFingerprints")["whygradCause/v1"]) == 32
    assert result == {
        "ruleId": "WG101",
        "ruleIndex": 0,
        "level": "warning",
        "message": {
            "text": "no gradient reaches `w`: its path to the loss is cut by a cast\n"
            f"note: in 3 of 4 steps\nhelp: {HELP}"
        },
        "properties": {"certain": False, "variables": ["w"], "steps": {"seen": 3, "of": 4}},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": here,
                    "region": {"startLine": 6, "endLine": 6, "startColumn": 14, "endColumn": 40},
                },
                "message": {"text": CUT},
            }
        ],
        "relatedLocations": [
            {
                "id": 1,
                "physicalLocation": {
                    "artifactLocation": {"uri": "file:///elsewhere/model.py"},
                    "region": {"startLine": 2, "endLine": 2},
                },
                "message": {"text": "a second cut"},
            }
        ],
        "fixes": [
            {
                "description": {"text": "keep it in floating point (unsafe)"},
                "artifactChanges": [
                    {
                        "artifactLocation": here,
                        "replacements": [
                            {
                                "deletedRegion": {"startLine": 6, "endLine": 6, "startColumn": 31, "endColumn": 39},
                                "insertedContent": {"text": "tf.float32"},
                            }
                        ],
                    }
                ],
            }
        ],
    }


def test_rules_describe_themselves() -> None:
    driver = _log(Report(), rules=[ARule()])["runs"][0]["tool"]["driver"]

    assert driver["name"] == "whygrad"
    assert driver["rules"] == [
        {
            "id": "WG101",
            "name": "non-differentiable-op",
            "shortDescription": {"text": "Detects it."},
            "fullDescription": {"text": "Detects it."},
            "helpUri": "urn:whygrad:rule:non-differentiable-op",
            "help": {"text": ARule.page, "markdown": ARule.page},
            "defaultConfiguration": {"level": "error"},
        }
    ]


def test_a_fingerprint_survives_lines_that_move(project: Path) -> None:
    file = write("train.py", TRAIN)
    before = _results(diagnostic(span(file, 6, "tf.cast(w * 3.0, tf.int32)")))
    write("train.py", f"# one more line\n{TRAIN}")
    refresh_sources()
    after = _results(diagnostic(span(file, 7, "tf.cast(w * 3.0, tf.int32)")))

    assert after[0]["locations"] != before[0]["locations"]
    assert after[0]["partialFingerprints"] == before[0]["partialFingerprints"]


def test_two_findings_never_share_a_fingerprint() -> None:
    file = write("train.py", TRAIN)
    cast = span(file, 6, "tf.cast(w * 3.0, tf.int32)")
    same, other_rule, other_code = diagnostic(cast), diagnostic(cast, code="WG102"), diagnostic(span(file, 3, "w"))

    found = _results(same, same, other_rule, other_code, diagnostic())

    assert len({result["partialFingerprints"]["whygradCause/v1"] for result in found}) == 5
