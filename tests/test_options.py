"""Every option is documented: of each command, of each public function, and of `[tool.whygrad]`."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from test_pages import public_names
from whygrad import config
from whygrad.cli.commands import whygrad

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "whygrad"
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
# Where the names of each package are defined, and the page whose own words hold for all of them.
HOMES = {
    "__init__.py": (("watch.py", "report", "training"), "index.md"),
    "training/edit/__init__.py": (("training/edit",), "edit.md"),
    "training/sampling/__init__.py": (("training/sampling",), "sampling.md"),
    "testing/__init__.py": (("testing",), "testing.md"),
}


def commands(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    yield command, context
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        inner = command.get_command(context, name)
        assert inner is not None
        yield from commands(inner, click.Context(inner, info_name=name, parent=context))


@pytest.mark.parametrize(
    ("command", "context"),
    [
        pytest.param(*each, id=each[1].command_path)
        for each in commands(whygrad, click.Context(whygrad, info_name="whygrad"))
    ],
)
def test_every_option_of_a_command_is_on_its_page(command: click.Command, context: click.Context) -> None:
    options = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    section = COMMANDS.split(f"## `{context.command_path}`\n")[-1].partition("\n## ")[0]

    assert [each.opts[0] for each in options if not each.help] == []
    if context.parent is not None:
        names = [name for each in options for name in (*each.opts, *each.secondary_opts)]
        assert {name for name in names if name not in section} <= {"-h", "--help"}


def test_every_setting_of_a_project_is_on_the_page_and_no_other() -> None:
    section = COMMANDS.partition("## `[tool.whygrad]`")[2]

    assert tuple(re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)) == config.KEYS


def test_every_option_of_pytest_is_in_the_guide() -> None:
    plugin = (SOURCE / "integrations" / "pytest_plugin.py").read_text(encoding="utf-8")
    guide = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    options = set(re.findall(r'"(--whygrad[\w-]*)"', plugin))

    assert len(options) == 2
    assert [option for option in options if option not in guide] == []


def undocumented(tree: ast.Module, names: set[str], page: str) -> list[str]:
    """Public things without a docstring, and options that neither their docstring nor the page names."""
    found = []
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name not in names:
            continue
        outer = ast.get_docstring(node) or ""
        inner = (
            [each for each in node.body if isinstance(each, ast.FunctionDef)]
            if isinstance(node, ast.ClassDef)
            else [node]
        )
        for function in inner:
            if function.name.startswith("_") and function.name != "__init__":
                continue
            text = f"{outer} {ast.get_docstring(function) or ''} {page}"
            found += [
                f"{node.name}: {each.arg}"
                for each in function.args.kwonlyargs
                if not re.search(rf"\b{each.arg}\b", text)
            ]
        if not outer:
            found.append(f"{node.name} has no docstring")
    return found


@pytest.mark.parametrize("package", HOMES)
def test_every_option_of_a_public_function_is_documented(package: str) -> None:
    homes, page = HOMES[package]
    names = public_names((SOURCE / package).read_text(encoding="utf-8"))
    text = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8").partition(":::")[0]
    files = [file for home in homes for file in (sorted((SOURCE / home).rglob("*.py")) or [SOURCE / home])]

    assert [
        each for file in files for each in undocumented(ast.parse(file.read_text(encoding="utf-8")), names, text)
    ] == []


def test_an_option_without_a_word_is_seen() -> None:
    code = ast.parse(
        inspect.cleandoc('''
        def shown(*, wanted=1, forgotten=2):
            """Has `wanted`."""
        class Bare:
            pass
    ''')
    )

    assert undocumented(code, {"shown", "Bare"}, "") == ["shown: forgotten", "Bare has no docstring"]
