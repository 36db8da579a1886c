"""A static rule has the name of the rule that a run asks, and its digits."""

from __future__ import annotations

import pytest

from whygrad.lint.asking import static_rules
from whygrad.lint.pages import static_pages
from whygrad.rules import all_rules

TWINS = {rule.name: rule.code for rule in all_rules()}
OWN = ("WL0", "WL9")  # of lint alone


@pytest.mark.parametrize(("code", "name"), [pair for pair in static_rules().items() if not pair[0].startswith(OWN)])
def test_the_code_is_that_of_its_twin(code: str, name: str) -> None:
    assert TWINS[name] == code.replace("WL", "WG")


def test_every_rule_of_lint_alone_has_a_page() -> None:
    pages = {rule.code: rule for rule in static_pages()}

    for code in (each for each in static_rules() if each.startswith(("WL0", "WL9"))):
        assert pages[code].name == static_rules()[code]
        assert pages[code].summary


def test_pages_are_shared_with_the_twin() -> None:
    (page,) = [rule.page for rule in static_pages() if rule.name == "outside-tape"]

    assert page == next(rule.page for rule in all_rules() if rule.name == "outside-tape")
