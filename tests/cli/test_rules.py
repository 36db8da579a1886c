"""`whygrad rules` and `whygrad explain`, which say what the registry says."""

from __future__ import annotations

import json

import pytest

from whygrad.cli.commands import parse
from whygrad.rules import FAMILIES, Rule, all_rules


def output_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert parse(words) == 0
    return capsys.readouterr().out


def test_every_rule_is_listed_once_under_its_family(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output_of(["rules"], capsys).splitlines()

    family, listed = "", []
    for line in lines:
        if line and not line.startswith(" "):
            family = line.split()[0]
            assert line == f"{family} {FAMILIES[family]}"
        elif line:
            code, name, severity = line.split()[:3]
            assert code.startswith(family)
            listed.append((code, name, severity))
    assert listed == [(rule.code, rule.name, rule.severity.label) for rule in all_rules()]


def test_json_has_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(output_of(["rules", "--output-format", "json"], capsys))

    assert [row["code"] for row in rows] == [rule.code for rule in all_rules()]
    assert all(row.keys() == {"code", "name", "family", "severity", "since", "summary"} for row in rows)
    assert all(row["family"] and row["summary"] for row in rows)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_page_is_found_by_code_and_by_name(rule: Rule, capsys: pytest.CaptureFixture[str]) -> None:
    by_code = output_of(["explain", rule.code.lower()], capsys)

    assert by_code == output_of(["explain", rule.name], capsys)
    assert by_code.startswith(f"# {rule.code} {rule.name}\n\n{rule.page}\n")


def test_table_on_a_terminal_has_every_rule(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "300")

    shown = output_of(["rules"], capsys)

    assert all(rule.code in shown and rule.name in shown for rule in all_rules())


def test_page_on_a_terminal_is_laid_out(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)

    shown = output_of(["explain", all_rules()[0].code], capsys)

    assert "Why it matters" in shown
    assert "## Why it matters" not in shown


def test_a_family_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output_of(["explain", "WG1"], capsys).splitlines()

    assert lines[0] == "WG1 no gradient"
    assert len(lines) == 1 + sum(rule.code.startswith("WG1") for rule in all_rules())
    assert all(line.startswith("  WG1") for line in lines[1:])


def test_a_code_there_is_not_is_not_taken_for_another(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["explain", "WG999"]) == 2
    assert capsys.readouterr().err == (
        "whygrad: error: unknown rule `WG999`\nhelp: `whygrad rules` lists the codes and names\n"
    )
