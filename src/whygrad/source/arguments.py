"""Where an argument of a call stands in the user's code."""

from __future__ import annotations

import ast

from whygrad.source.module import located
from whygrad.source.text import SourceSpan


def argument_span(call: SourceSpan | None, name: str, position: int) -> SourceSpan | None:
    """The expression of an argument, given by name or by position; None where the span holds no call that has it."""
    match located(call):
        case (module, ast.Call() as node):
            named = next((word.value for word in node.keywords if word.arg == name), None)
            plain = len(node.args) > position and not any(isinstance(arg, ast.Starred) for arg in node.args)
            value = named if named is not None else node.args[position] if plain else None
            return None if value is None else module.span(value)
    return None
