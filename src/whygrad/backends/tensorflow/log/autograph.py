"""Where the user wrote what a frame runs; from AutoGraph's generated code back to the expression it was made of."""

from __future__ import annotations

import ast
import functools
from types import CodeType, FrameType
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.observe.place import Place
from whygrad.source import SourceSpan
from whygrad.source.module import located, module_of
from whygrad.source.position import CodeOwner, Position, file_owner, position_in, span_of, user_frame

KEPT_CODES: Final = 20_000  # functions whose positions are kept


class Places:
    """Where frames are; each position is looked up once."""

    def __init__(self) -> None:
        self._known: dict[int, dict[int, Position]] = {}  # by the id of the code and the instruction

    def at(self, frame: FrameType) -> Place:
        """The user's expression that runs a frame."""
        return self.of(user_frame(frame))

    def below(self, frame: FrameType, above: FrameType | None) -> Place:
        """The user's expression, if one runs below the given frame."""
        found = user_frame(frame)
        outer = above
        while outer is not None:
            if outer is found:
                return None
            outer = outer.f_back
        return self.of(found)

    def of(self, found: FrameType | None) -> Place:
        """The expression that one of the user's frames is at."""
        if found is None:
            return None
        if not is_generated(found.f_code):
            return self.position(found)
        where = original_span(position_in(found))
        if file_owner(where.file) is CodeOwner.MACHINERY:  # tf_keras has its own training step converted
            outer = user_frame(found.f_back)
            return where if outer is None else self.of(outer)
        return where

    def position(self, frame: FrameType) -> Position:
        """Where a frame is; a position that is kept keeps its code, whose id can thus be no other's."""
        known = self._known.get(id(frame.f_code))
        place = None if known is None else known.get(frame.f_lasti)
        if place is None:
            if len(self._known) >= KEPT_CODES:
                self._known.clear()
            place = position_in(frame)
            self._known.setdefault(id(place.code), {})[place.instruction] = place
        return place


def caller_of(frame: FrameType) -> FrameType:
    """The frame that asked for a call; AutoGraph puts its own between."""
    while compat.AUTOGRAPH in frame.f_code.co_filename and frame.f_back is not None:
        frame = frame.f_back
    return frame


def is_generated(code: CodeType) -> bool:
    return is_generated_file(code.co_filename)


def is_generated_file(path: str) -> bool:
    return compat.GENERATED in path


def original_span(position: Position) -> SourceSpan:
    """The user's line from AutoGraph's source map; the columns by finding the same expression there."""
    generated = span_of(position)
    for mapping in compat.source_maps():
        for line in range(generated.line, generated.last_line + 1):
            origin = mapping.get((generated.file, line))
            if origin is not None:
                return _with_columns(generated, origin[0], origin[1])
    return generated


def owner_of(frame: FrameType) -> CodeOwner:
    """Whose code a frame runs; generated code belongs to whom it was made from."""
    code = frame.f_code
    return file_owner(original_span(position_in(frame)).file if is_generated(code) else code.co_filename)


@functools.lru_cache(maxsize=4096)  # a function that is converted anew gets another generated file
def _with_columns(generated: SourceSpan, file: str, line: int) -> SourceSpan:
    wanted, module = _expression_at(generated), module_of(file)
    statement = None if module is None else module.at(SourceSpan(file, line))
    if wanted is not None and module is not None and statement is not None:
        for node in ast.walk(statement):
            if isinstance(node, ast.expr) and ast.dump(node) == wanted:
                return module.span(node)
    return SourceSpan(file, line)


def _expression_at(generated: SourceSpan) -> str | None:
    """The generated expression with AutoGraph's wrappers taken off, in comparable form."""
    found = located(generated)
    if found is None or not isinstance(found[1], ast.expr) or found[0].span(found[1]) != generated:
        return None
    return ast.dump(_Unwrap().visit(_copy(found[1])))


def _copy(node: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(node), mode="eval").body


class _Unwrap(ast.NodeTransformer):
    """`ag__.ld(x)` -> `x`; `ag__.converted_call(f, (a,), dict(k=b), scope)` -> `f(a, k=b)`."""

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        name = _autograph_name(node.func)
        if name == "ld" and len(node.args) == 1:
            return node.args[0]
        if name == "converted_call" and len(node.args) >= 3:
            function, arguments, keywords = node.args[:3]
            return ast.Call(func=function, args=_elements(arguments), keywords=_keywords(keywords))
        if name in _OPERATORS and len(node.args) == 2:
            return ast.Compare(left=node.args[0], ops=[_OPERATORS[name]()], comparators=[node.args[1]])
        return node


_OPERATORS: dict[str, type[ast.cmpop]] = {"eq": ast.Eq, "not_eq": ast.NotEq}


def _autograph_name(function: ast.expr) -> str | None:
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "ag__":
        return function.attr
    return None


def _elements(arguments: ast.expr) -> list[ast.expr]:
    if isinstance(arguments, ast.Tuple):
        return list(arguments.elts)
    return [ast.Starred(value=arguments, ctx=ast.Load())]


def _keywords(keywords: ast.expr) -> list[ast.keyword]:
    if isinstance(keywords, ast.Call):
        return list(keywords.keywords)
    return []
