"""The JSON schema of a report: `python -m whygrad.report.schema > docs/report-schema.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from whygrad.diagnostics import FixSafety, Severity
from whygrad.report.json import SCHEMA_VERSION

_TEXT: Mapping[str, Any] = {"type": "string"}
_TEXTS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
_COUNT: Mapping[str, Any] = {"type": "integer", "minimum": 0}


def json_schema() -> dict[str, Any]:
    """What `--output-format json` and `Report.to_json()` give. Keys may be added, these will not change."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "whygrad report",
        "description": "Lines and columns are counted from 1, columns in characters (Unicode code points).",
        **_object(
            {
                "schema_version": {"const": SCHEMA_VERSION},
                "run": {"type": "object", "description": "what ran: script, versions, counts"},
                "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
                "gradients": {"type": "array", "items": {"$ref": "#/$defs/gradient"}},
            }
        ),
        "$defs": {
            "location": _object(_LOCATION, "a stretch of the user's code"),
            "related": _object({**_LOCATION, "label": _TEXT}, "another place, and what happens there"),
            "edit": _object(_EDIT, "source to write in place of what is there"),
            "fix": _object(_FIX, "edits that belong together; nothing says here that they were tried"),
            "diagnostic": _object(_DIAGNOSTIC, "one cause, however many variables and steps it touches"),
            "term": _object(_TERM, "one summand of a loss: which variables it reaches"),
            "gradient": _object(_GRADIENT, "one gradient computation: which variables the loss reaches"),
        },
    }


def render_schema() -> str:
    return json.dumps(json_schema(), indent=2) + "\n"


def _object(properties: Mapping[str, Any], description: str | None = None) -> dict[str, Any]:
    says = {} if description is None else {"description": description}
    return {**says, "type": "object", "required": list(properties), "properties": dict(properties)}


def _said(kind: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {**kind, "description": description}


def _or_null(kind: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [kind, {"type": "null"}]}


def _place(description: str) -> dict[str, Any]:
    return {"type": ["integer", "null"], "minimum": 1, "description": description}


_LOCATION = {
    "file": _said(_TEXT, "as Python knows it: usually an absolute path; a made-up name for a notebook cell"),
    "line": {"type": "integer", "minimum": 1},
    "column": _place("of the first character; null where only the line is known"),
    "end_line": _place("of the last character; null: the same line"),
    "end_column": _place("the column after the last character"),
}
_EDIT = {**_LOCATION, "replacement": _TEXT}
_FIX = {
    "title": _said(_TEXT, "what it does, as one action"),
    "safety": {"enum": [safety.value for safety in FixSafety]},
    "edits": {"type": "array", "items": {"$ref": "#/$defs/edit"}},
}
_DIAGNOSTIC = {
    "code": {"type": "string", "pattern": "^W[A-Z]\\d+$"},
    "rule": _said(_TEXT, "the name of the rule"),
    "severity": {"enum": [severity.label for severity in sorted(Severity, reverse=True)]},
    "message": _said(_TEXT, "one line that stands alone; code is in backticks"),
    "variables": _TEXTS,
    "location": _or_null({"$ref": "#/$defs/location"}),
    "label": _said({"type": ["string", "null"]}, "what happens at the location"),
    "related": {"type": "array", "items": {"$ref": "#/$defs/related"}},
    "notes": _said(_TEXTS, "the evidence"),
    "help": _said({"type": ["string", "null"]}, "one action that fixes it"),
    "steps": _object({"seen": _COUNT, "of": _COUNT}, "in how many of the steps that could have shown it"),
    "certain": _said({"type": "boolean"}, "false: inferred from the evidence in the notes"),
    "fixes": {"type": "array", "items": {"$ref": "#/$defs/fix"}, "description": "the least intrusive first"},
}
_GRADIENT = {
    "loss": _said(_TEXT, "the expression in the user's code"),
    "location": _or_null({"$ref": "#/$defs/location"}),
    "reached": _TEXTS,
    "missing": _TEXTS,
    "steps": _said(_COUNT, "in how many steps it was asked for"),
    "terms": {"type": "array", "items": {"$ref": "#/$defs/term"}},
}
_TERM = {
    "term": _said(_TEXT, "the expression in the user's code, or what it is"),
    "location": _or_null({"$ref": "#/$defs/location"}),
    "reached": _TEXTS,
    "missing": _said(_TEXTS, "variables that its value depends on and that get no gradient of it"),
    "penalty": {"type": "boolean", "description": "a function of weights alone"},
    "norms": _said({"type": "object"}, "variable -> norm of what the term gives to it, as a mean over steps"),
    "steps": _said(_COUNT, "that were measured; 0 where nobody asked for it"),
}


if __name__ == "__main__":
    print(render_schema(), end="")
