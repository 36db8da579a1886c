"""The page of all messages is written from the source, and its language is plain."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("message_pages", ROOT / "tools" / "message_pages.py")
assert SPEC is not None
assert SPEC.loader is not None
message_pages = importlib.util.module_from_spec(SPEC)
sys.modules["message_pages"] = message_pages
SPEC.loader.exec_module(message_pages)

# Words that a reader of today must read twice, and what to write instead.
OLD_WORDS = {
    r"\banew\b": "again",
    r"\bmend(s|ed)?\b": "fix",
    r"\btold\b|\btells? (it|of)\b": "says, reports",
    r"\bbeside\b": "next to",
    r"\blaid at\b|\blays\b": "traced to",
    r"\bfor ever\b": "forever",
    r"\bhand(s|ed)? (it |them )?(in|on|over)\b|\bhanded\b": "pass",
    r"\bwhilst\b|\bthereof\b|\bhence\b|\bnought\b": "while, of it, so, nothing",
    r"\bturns? of (a|the) loop\b|\bin every turn\b": "iteration",
    r"(?<!there )\b(is|are) no (?!longer|more\b|gradient|way|other)\w+": "is not a",
    r"\bto blame\b": "caused by",
    r"\bbut the last\b": "except the last",
}


def said(code: str) -> list[str]:
    return [f"{each.kind} {each.text}".strip() for each in message_pages.texts(code)]


def test_the_page_of_messages_is_written_from_the_source() -> None:
    page = message_pages.page()

    assert page == (ROOT / "docs" / "messages.md").read_text(encoding="utf-8"), "run `make docs`"
    assert "every path to the loss goes through a `stop_gradient`" in page  # a rule
    assert "`steps` is how many micro-batches make one update" in page  # the toolkit
    assert "Find gradient mistakes without running anything." in page  # a command


@pytest.mark.parametrize("pattern", OLD_WORDS)
def test_no_message_uses_words_of_another_century(pattern: str) -> None:
    page = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    used = [
        line for line in page.splitlines() if line.startswith("- ") and re.search(pattern, re.sub("`.*?`", "", line))
    ]

    assert used == [], f"write: {OLD_WORDS[pattern]}"


def test_a_text_is_shown_with_its_placeholders_and_the_words_of_the_framework() -> None:
    code = """raise Error(f"no gradient of {listing(names)} by {Word.TAPE}", help=f"ask for {'it' if n else 'all'}")"""

    assert said(code) == [
        "error no gradient of {names} by tf.GradientTape",
        "help ask for {it | all}",
    ]


def test_what_is_not_said_is_left_out() -> None:
    code = '''"""A docstring of a module."""
NAMES = "add subtract multiply"
query = "SELECT name FROM track"
html = f"<b>a bold text</b> {x}"
key = "one_word"
'''

    assert said(code) == []


def test_the_docstring_of_a_command_is_its_help() -> None:
    assert said('@click.command("run")\ndef command():\n    """Run a script."""\n') == ["help Run a script."]
