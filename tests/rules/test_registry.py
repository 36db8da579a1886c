"""Path, name, function and code of a rule follow from one another; its page is complete."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import whygrad.rules
from whygrad.diagnostics import Severity
from whygrad.rules import Rule, all_rules, find_rule
from whygrad.rules.rule import HEADINGS, rule

FOLDER = Path(whygrad.rules.__file__).parent
FAMILIES = {
    "no_gradient": "WG1",
    "wrong_variables": "WG2",
    "odd_gradient": "WG3",
    "nonfinite": "WG4",
    "accumulation": "WG5",
    "edits": "WG6",
    "wrong_loss": "WG7",
    "learning": "WG8",
}
OF_EVERY_FAMILY = "keras"  # the room of rules about Keras objects; what two of them share stands beside them

by_code = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)


def file_of(rule: Rule) -> Path:
    return Path(inspect.getfile(rule.check))


def files_of_families() -> Iterator[Path]:
    folders = (*FAMILIES, OF_EVERY_FAMILY)
    return (path for folder in folders for path in (FOLDER / folder).glob("*.py") if path.name != "__init__.py")


def test_every_file_of_a_family_registers_one_rule_or_is_used_by_those_that_do() -> None:
    rules = list(map(file_of, all_rules()))
    code = "\n".join(path.read_text() for path in files_of_families())
    shared = [path for path in files_of_families() if path not in rules]

    assert len(rules) == len(set(rules))
    assert set(rules) <= set(files_of_families())
    assert [
        path.name for path in shared if f"from whygrad.rules.{path.parent.name}.{path.stem} import" not in code
    ] == []


def test_every_folder_is_a_family_with_a_code() -> None:
    folders = {path.parent.name for path in FOLDER.glob("*/__init__.py")}

    assert folders == {*FAMILIES, OF_EVERY_FAMILY}


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in all_rules()}) == len(all_rules())
    assert len({rule.name for rule in all_rules()}) == len(all_rules())


def test_a_code_that_is_taken_cannot_be_registered_again() -> None:
    taken = all_rules()[0]

    with pytest.raises(ValueError, match=f"rule {taken.code} another-name is registered twice"):
        rule(taken.code, "another-name", severity=Severity.NOTE, since="0.1.0")(lambda recording: ())
    with pytest.raises(ValueError, match="registered twice"):
        rule("WG199", taken.name, severity=Severity.NOTE, since="0.1.0")(lambda recording: ())


@by_code
def test_one_name_in_four_shapes(rule: Rule) -> None:
    path = file_of(rule)

    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.check.__name__ == rule.name.replace("-", "_") == path.stem
    assert path.parent.name == OF_EVERY_FAMILY or rule.code[:3] == FAMILIES[path.parent.name]
    assert re.fullmatch(r"WG\d{3}", rule.code)
    assert ast.get_docstring(ast.parse(path.read_text())) == f"{rule.code} {rule.name}."


@by_code
def test_a_rule_is_found_by_code_and_by_name(rule: Rule) -> None:
    assert find_rule(rule.code) is rule
    assert find_rule(rule.code.lower()) is rule
    assert find_rule(rule.name) is rule


@by_code
def test_page_has_all_headings_in_order_with_text_under_each(rule: Rule) -> None:
    assert tuple(re.findall(r"^## (.*)$", rule.page, re.MULTILINE)) == HEADINGS
    assert all(rule.section(heading) for heading in HEADINGS)
    assert rule.summary.startswith("Detects ")
    assert rule.summary.endswith(".")


@by_code
@pytest.mark.parametrize("heading", ["Example", "Use instead"])
def test_example_is_one_block_of_python(rule: Rule, heading: str) -> None:
    assert rule.section(heading) == f"```python\n{rule.example(heading)}```"
    ast.parse(rule.example(heading))
