"""Write docs/messages.md: every text that whygrad may show, collected from the source, to be read as a whole.

python tools/message_pages.py [--check]

A text is a string of at least two words that is neither a docstring nor code.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from whygrad.backends.tensorflow.vocabulary import WORDS
from whygrad.diagnostics import Word

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "whygrad"
PAGE = ROOT / "docs" / "messages.md"
HEAD = """<!-- Written by `python tools/message_pages.py`. -->
# Messages

Every text that whygrad may show: messages, labels, notes and helps of findings, titles of fixes, errors, and the help
of commands. They are written in the source only; here they can be read, searched and reviewed as a whole. In braces is
what a text is filled with; `|` stands between two ways to say it. The [rules](rules/README.md) explain the words.
"""
_KINDS = {"message": "message", "help": "help", "notes": "note", "because": "message", "label": "label"}
_TWO_WORDS = re.compile(r"[A-Za-z'-]{2,}[,:;]? [a-z]{2,}|[a-z]{2,} \{\}|\{\} [a-z]{3,}")
_CODE = re.compile(
    r"</?[a-z!][^>]*>|^(SELECT|INSERT|DELETE|CREATE|PRAGMA)\b|::|\\|=\w+\.\w+ |-src |var\(--|^@property"
    r"|^\W*(import|from|for|def|bold) |^[\w{} ]* ?=? ?\[.* for \w+ in "
)
_NAMES = re.compile(r"(?!.*\b(the|a|an|it|of|to|in|is|and|or)\b)[\w\s]+")  # a list of names, to be split
# Patterns of others' texts; checks of our own; what makes pages.
_NOT_SHOWN = ("backends/tensorflow/failures.py", "rules/pages.py", "rules/rule.py")


class Text(NamedTuple):
    """One text, and what it is for: `help`, `note`, `error`, or nothing where the code does not say."""

    line: int
    kind: str
    text: str


def texts(code: str) -> list[Text]:
    """All texts of a module, in its order, each once."""
    tree = ast.parse(code)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found: dict[str, Text] = {}
    seen: set[ast.AST] = set()
    for node in ast.walk(tree):
        if _is_command(node):
            docstring = ast.get_docstring(node) or ""
            found[docstring] = Text(node.lineno, "help", docstring)
        elif _is_text(node) and node not in seen and not isinstance(parents[node], (ast.Expr, ast.Attribute)):
            text, statement = _shown(node, seen), _statement(node, parents)
            is_list = parents.get(statement) is tree and _NAMES.fullmatch(text)
            if _is_said(text) and not is_list:
                found.setdefault(text, Text(node.lineno, _kind(node, parents), text))
    return sorted(found.values())


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_command(node: ast.AST) -> bool:
    """Whether it is a function whose docstring is the help of a command."""
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(each, ast.Call) and ast.unparse(each.func).endswith(("command", "group"))
        for each in node.decorator_list
    )


def _statement(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> ast.AST:
    while not isinstance(node, ast.stmt):
        node = parents[node]
    return node


def _is_said(text: str) -> bool:
    return bool(_TWO_WORDS.search(re.sub(r"\{[^}]*\}|`[^`]*`", "{}", text))) and not _CODE.search(text)


def _kind(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    """What a text is for, by the argument or the statement that it is in."""
    while not isinstance(node, ast.stmt):
        node = parents[node]
        if isinstance(node, ast.keyword) and node.arg in _KINDS:
            return _KINDS[node.arg]
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Label", "label_at"):
            return "label"
    return "error" if isinstance(node, ast.Raise) else ""


def _shown(node: ast.AST, seen: set[ast.AST]) -> str:
    """A text as a reader meets it: values are short names in braces, the framework's words are those of TensorFlow."""
    seen.add(node)
    match node:
        case ast.JoinedStr(values=parts):
            return "".join(_shown(part, seen) for part in parts)
        case ast.FormattedValue(value=ast.Attribute(value=ast.Name(id="Word"), attr=word)):
            return WORDS[Word[word]]
        case ast.FormattedValue(value=value):
            return "{" + _shown(value, seen) + "}"
        case ast.IfExp(body=body, orelse=orelse):
            return " | ".join(filter(None, (_shown(each, seen).strip() for each in (body, orelse))))
        case ast.Constant(value=value):
            return str(value)
    return _name(node)


def _name(node: ast.AST) -> str:
    """A short name for a value: that of the thing it is made from."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_")
        case ast.Call(args=[ast.Name(id="module" | "recording" | "found"), inner, *_]):
            return _name(inner)
        case ast.Call(args=[ast.Name() | ast.Attribute() | ast.Call() | ast.Subscript() as inner, *_]):
            return _name(inner)
        case ast.BinOp(left=ast.Constant(value="s")):
            return "s"
        case ast.Call(func=ast.Attribute(value=inner)) | ast.Subscript(value=inner) | ast.BinOp(left=inner):
            return _name(inner)
        case ast.Call(func=inner):
            return _name(inner)
    return "..."


def page(source: Path = SOURCE) -> str:
    """The whole page."""
    return "\n".join([HEAD, *_sections(source)]).rstrip() + "\n"


def _sections(source: Path) -> Iterator[str]:
    room = ""
    rules = source / "rules"
    for file in sorted(source.rglob("*.py"), key=lambda file: (not file.is_relative_to(rules), file.parent, file)):
        name = file.relative_to(source).as_posix()
        found = texts(file.read_text(encoding="utf-8")) if name not in _NOT_SHOWN else []
        if found:
            if name.rpartition("/")[0] != room:
                room = name.rpartition("/")[0]
                yield f"## {room.replace('/', ': ', 1).replace('/', ', ').replace('_', ' ') or 'whygrad'}\n"
            yield f"### {_title(name)}\n"
            yield "\n".join(f"- {_item(text)}" for text in found) + "\n"


def _title(name: str) -> str:
    """The name of a rule, which leads to its page, or that of the file that the texts are in."""
    rule = Path(name).stem.replace("_", "-")
    is_rule = name.startswith("rules/") and (PAGE.parent / "rules" / f"{rule}.md").exists()
    return f"[{rule}](rules/{rule}.md)" if is_rule else f"`{Path(name).name}`"


def _item(text: Text) -> str:
    kind = f"*{text.kind}* " if text.kind else ""
    parts = re.split(r"(`[^`]*`)", " ".join(text.text.replace("\b", " ").split()))
    return kind + "".join(
        part if part.startswith("`") else re.sub(r"([*_<>|\[\]\\#])", r"\\\1", part) for part in parts
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where it is out of date")
    new = page()
    if parser.parse_args().check:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == new else "docs/messages.md is out of date: run `make docs`")
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
