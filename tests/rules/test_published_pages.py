"""The pages that are published are those of the rules; the generator itself, on a folder of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from whygrad.rules import all_rules
from whygrad.rules.pages import differences, main, render_pages, write_pages

PUBLISHED = Path(__file__).parents[2] / "docs" / "rules"


def test_the_published_pages_are_the_generated_ones() -> None:
    assert differences(PUBLISHED) == [], "run `make docs`"


def test_every_rule_has_a_page_with_all_it_says() -> None:
    pages = render_pages()

    for rule in all_rules():
        assert f"# {rule.code} {rule.name}\n\n{rule.page}\n" in pages[f"{rule.name}.md"]


def test_index_links_every_page_once() -> None:
    pages = render_pages()
    links = re.findall(r"\]\((.*?)\)", pages["README.md"])

    assert sorted(links) == sorted(pages.keys() - {"README.md"})


def test_index_groups_by_family_in_order_of_code() -> None:
    codes = re.findall(r"^(?:## |\| )(WG\d+)", render_pages()["README.md"], re.MULTILINE)

    families = dict.fromkeys(rule.code[:3] for rule in all_rules())
    expected = [c for family in families for c in (family, *(r.code for r in all_rules() if r.code[:3] == family))]
    assert codes == expected


def test_what_is_written_is_up_to_date(tmp_path: Path) -> None:
    write_pages(tmp_path / "docs" / "rules")

    assert differences(tmp_path / "docs" / "rules") == []


def test_check_names_what_differs_and_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pages(tmp_path)
    (tmp_path / "stop-gradient.md").write_text("by hand")
    (tmp_path / "outside-tape.md").unlink()
    (tmp_path / "old-rule.md").write_text("gone")

    assert main(["--check", str(tmp_path)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"{tmp_path}: outside-tape.md is missing",
        f"{tmp_path}: stop-gradient.md is out of date",
        f"{tmp_path}: old-rule.md belongs to no rule",
    ]
    assert (tmp_path / "stop-gradient.md").read_text() == "by hand"


def test_writing_brings_everything_up_to_date(tmp_path: Path) -> None:
    (tmp_path / "old-rule.md").write_text("gone")

    assert main([str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0
    assert not (tmp_path / "old-rule.md").exists()
