"""The words of a framework in a fix, as the user's file names its modules; an import that is missing is added."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from whygrad.diagnostics import Edit, Fix, Word, Words, worded
from whygrad.fixes.rewriting import inserted_at
from whygrad.source import is_on_disk
from whygrad.source.module import Module, module_of


@dataclass(frozen=True, slots=True)
class Modules:
    """What the first names in words stand for, and other words for files that know one module and not the other."""

    names: Mapping[str, str]  # `tf` -> `tensorflow`
    others: Words = field(default_factory=dict)


def spelled(fixes: Iterable[Fix], words: Words, modules: Modules) -> Iterator[Fix]:
    """The fixes whose words the user's files can say; a file that uses a module's usual name otherwise cannot."""
    for fix in fixes:
        edits = list[Edit]()
        for file in dict.fromkeys(edit.span.file for edit in fix.edits):
            own = [edit for edit in fix.edits if edit.span.file == file]
            said = _spelled_in(file, own, words, modules)
            if said is None:
                break
            edits += said
        else:
            yield replace(fix, title=worded(fix.title, words), edits=tuple(edits))


def _spelled_in(file: str, edits: list[Edit], words: Words, modules: Modules) -> list[Edit] | None:
    module = module_of(file)
    if module is None:
        return None
    spelling = _Spelling(module, modules)
    needed = [word for word in words if any(f"{word}" in edit.text for edit in edits)]
    if all(word in modules.others or "." not in words[word] for word in needed) and spelling.prefers_others(
        words, needed
    ):
        words = {**words, **modules.others}
    own = {word: spelling.said(words[word]) for word in needed}
    if None in own.values():
        return None
    known = {**words, **{word: text for word, text in own.items() if text is not None}}
    return [*spelling.imports(), *(replace(edit, text=worded(edit.text, known)) for edit in edits)]


class _Spelling:
    """How one file names modules, and what it lacks."""

    def __init__(self, module: Module, modules: Modules) -> None:
        self._module = module
        self._modules = modules
        self._missing: dict[str, str] = {}

    def prefers_others(self, words: Words, needed: list[Word]) -> bool:
        """Whether the file imports the modules of other words, and not those of the usual ones."""
        usual, others = words, self._modules.others
        return any(self._known(usual[word]) is None and self._known(others.get(word, "")) for word in needed)

    def _known(self, word: str) -> str | None:
        """A word by a name that the file has imported: the longest part of it that has one."""
        parts = word.split(".")
        target = self._modules.names.get(parts[0])
        for count in range(len(parts) - 1, 0, -1) if target is not None else ():
            name = _name_of(self._module, ".".join([target or "", *parts[1:count]]))
            if name is not None:
                return ".".join([name, *parts[count:]])
        return None

    def said(self, word: str) -> str | None:
        """A word as this file says it; None where its usual name stands for something else here."""
        head, dot, _ = word.partition(".")
        target = self._modules.names.get(head)
        if not dot or target is None:
            return word
        known = self._known(word)
        if known is None and _is_bound(self._module, head):
            return None
        if known is None and is_on_disk(self._module.file):  # a cell of a notebook sees the imports of the others
            self._missing[head] = target
        return known or word

    def imports(self) -> Iterator[Edit]:
        lines = [
            f"import {target}" if name == target else f"import {target} as {name}"
            for name, target in self._missing.items()
        ]
        if lines:
            yield inserted_at(self._module, _place_of_imports(self._module), "\n".join(lines))


def _name_of(module: Module, target: str) -> str | None:
    """The name that a module goes by in a file: `import a.b as c`, `from a import b`."""
    package, _, last = target.rpartition(".")
    for node in module.tree.body:
        for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            of = node.module if isinstance(node, ast.ImportFrom) else None
            if isinstance(node, ast.Import) and alias.name == target:
                return alias.asname or alias.name
            if of is not None and alias.name == last and (of == package or not package):
                return alias.asname or alias.name
    return None


def _is_bound(module: Module, name: str) -> bool:
    for node in ast.walk(module.tree):
        match node:
            case ast.Name(id=found, ctx=ast.Store()) if found == name:
                return True
            case ast.arg(arg=found) | ast.FunctionDef(name=found) | ast.ClassDef(name=found) if found == name:
                return True
            case ast.alias(name=found, asname=other) if name == (other or found):
                return True
    return False


def _place_of_imports(module: Module) -> int:
    """The line after the imports at the top of a file; where there are none, after its docstring."""
    line = 1
    for number, node in enumerate(module.tree.body):
        is_text = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_text and not isinstance(node, (ast.Import, ast.ImportFrom)):
            break
        line = (node.end_lineno or node.lineno) + 1
    return line
