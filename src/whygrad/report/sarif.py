"""SARIF 2.1.0, for code scanning services and editors."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from whygrad.diagnostics import Diagnostic, Fix, Label, Severity
from whygrad.report.remarks import headline, remarks
from whygrad.report.report_data import ReportData
from whygrad.source import SourceSpan, is_on_disk, notebook_of, shown_file, source_text, texts_of

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


class RuleInfo(Protocol):
    """What is said about a rule; `whygrad.rules.Rule` has it."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def severity(self) -> Severity: ...
    @property
    def summary(self) -> str: ...
    @property
    def page(self) -> str: ...


def render_sarif(report: ReportData, *, rules: Iterable[RuleInfo] = ()) -> str:
    """One run; `rules` describe the rules that could have fired, whether or not they did."""
    described = _describe_rules(report.diagnostics, rules)
    index = {rule["id"]: number for number, rule in enumerate(described)}
    driver = {"name": "whygrad", **_version(), "rules": described}
    with texts_of(report.sources):
        fingerprints = list(_fingerprints(report.diagnostics))
    results = [
        _result(diagnostic, index[diagnostic.code], fingerprint)
        for diagnostic, fingerprint in zip(report.diagnostics, fingerprints, strict=True)
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _version() -> dict[str, str]:
    try:
        return {"semanticVersion": metadata.version("whygrad")}
    except metadata.PackageNotFoundError:  # run from its source, not installed
        return {}


def _describe_rules(diagnostics: Sequence[Diagnostic], rules: Iterable[RuleInfo]) -> list[dict[str, Any]]:
    known = {
        rule.code: {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": {"text": rule.summary or rule.name},
            "fullDescription": {"text": rule.summary or rule.name},
            "helpUri": f"urn:whygrad:rule:{rule.name}",
            "help": {"text": rule.page or rule.name, "markdown": rule.page or rule.name},
            "defaultConfiguration": {"level": rule.severity.label},
        }
        for rule in rules
    }
    unknown = {d.code: {"id": d.code, "name": d.rule} for d in diagnostics if d.code not in known}
    return [*known.values(), *unknown.values()]


def _result(diagnostic: Diagnostic, rule_index: int, fingerprint: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule_index,
        "level": diagnostic.severity.label,
        "message": {"text": _message(diagnostic)},
        "partialFingerprints": {"whygradCause/v1": fingerprint},
        "properties": {
            "certain": diagnostic.certain,
            "variables": list(diagnostic.variables),
            "steps": {"seen": diagnostic.steps.seen, "of": diagnostic.steps.of},
        },
    }
    if diagnostic.primary is not None:
        result["locations"] = [_location(diagnostic.primary)]
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": number, **_location(label)} for number, label in enumerate(diagnostic.related, start=1)
        ]
    fixes = [each for each in diagnostic.fixes if not any(notebook_of(edit.span.file) for edit in each.edits)]
    if fixes:
        result["fixes"] = [_fix(fix) for fix in fixes]
    return result


def _message(diagnostic: Diagnostic) -> str:
    said = [remark for remark in remarks(diagnostic) if remark.kind in ("note", "help")]
    return "\n".join([headline(diagnostic), *(f"{remark.kind}: {remark.text}" for remark in said)])


def _location(label: Label) -> dict[str, Any]:
    notebook = notebook_of(label.span.file)
    if notebook is not None:  # the lines of a cell are not those of the file
        said = f"cell {notebook[1]}, line {label.span.line}: {label.text}"
        return {"physicalLocation": {"artifactLocation": _artifact(notebook[0])}, "message": {"text": said}}
    place = {"artifactLocation": _artifact(label.span.file), "region": _region(label.span)}
    message = {"message": {"text": label.text}} if label.text else {}
    return {"physicalLocation": place, **message}


def _artifact(file: str) -> dict[str, str]:
    shown = shown_file(file)
    if not is_on_disk(file):
        return {"uri": quote(shown)}
    if os.path.isabs(shown):
        return {"uri": Path(shown).as_uri()}
    return {"uri": quote(Path(shown).as_posix()), "uriBaseId": "%SRCROOT%"}


def _region(span: SourceSpan) -> Mapping[str, int]:
    region = {"startLine": span.line, "endLine": max(span.last_line, span.line)}
    if span.column is None:
        return region
    region["startColumn"] = span.column + 1
    if span.end_column is not None:
        region["endColumn"] = span.end_column + 1
    return region


def _fix(fix: Fix) -> dict[str, Any]:
    by_file: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for edit in fix.edits:
        by_file[edit.span.file].append({"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}})
    changes = [{"artifactLocation": _artifact(file), "replacements": edits} for file, edits in by_file.items()]
    return {"description": {"text": f"{fix.title} ({fix.safety.value})"}, "artifactChanges": changes}


def _fingerprints(diagnostics: Iterable[Diagnostic]) -> Iterable[str]:
    """Stable while lines move: made of the rule, the file and the expression, not of its line."""
    seen: Counter[str] = Counter()
    for diagnostic in diagnostics:
        span = None if diagnostic.primary is None else diagnostic.primary.span
        place = ("", "") if span is None else (shown_file(span.file), source_text(span) or "")
        key = "\0".join((diagnostic.code, *place))
        seen[key] += 1
        yield hashlib.sha256(f"{key}\0{seen[key]}".encode(errors="replace")).hexdigest()[:32]
