"""The pages hang together: links lead somewhere, and every public name is in the reference."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")


def _prose(page: Path) -> str:
    return re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def _anchors(page: Path) -> set[str]:
    """What a link can name in a page: its headings, as MkDocs spells them."""
    headings = re.findall(r"^#+ (.*)$", _prose(page), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", each).strip().lower()) for each in headings}


def broken_links(page: Path) -> list[str]:
    """Those to files and headings that are not there; blocks of code are left out."""
    found = []
    for link, anchor in LINK.findall(_prose(page)):
        file = page.parent / link if link else page
        if "://" not in link and not (file.exists() and (not anchor or anchor in _anchors(file))):
            found.append(f"{link}#{anchor}" if anchor else link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# At the top\n[there](page.md#at-the-top) [gone](other.md) [web](https://example.org) [lost](#end)"
    )

    assert broken_links(page) == ["other.md", "#end"]


def test_every_page_is_in_the_site() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES[2:] if page.parent.name != "rules"}

    assert {page for page in pages if page not in settings} == set()


@pytest.mark.parametrize(
    ("module", "page"),
    [
        ("__init__.py", "index.md"),
        ("training/edit/__init__.py", "edit.md"),
        ("training/sampling/__init__.py", "sampling.md"),
    ],
)
def test_every_public_name_is_in_the_reference(module: str, page: str) -> None:
    reference = set(re.findall(r"\w+", (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")))
    names = public_names((ROOT / "src" / "whygrad" / module).read_text(encoding="utf-8"))

    assert names - reference - {"edit", "sampling", "__version__"} == set()
    assert len(names) > 10


def public_names(text: str) -> set[str]:
    """What a package exports: by `__all__`, or by importing a name as itself."""
    found: set[str] = set()
    for node in ast.parse(text).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=names)):
                found |= {str(ast.literal_eval(name)) for name in names}
            case ast.ImportFrom(names=names):
                found |= {alias.name for alias in names if alias.asname == alias.name}
    return found
