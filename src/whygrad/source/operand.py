"""What a product was made of, in the user's own words."""

from __future__ import annotations

import ast

from whygrad.source.module import located
from whygrad.source.text import SourceSpan


def factor_text(span: SourceSpan | None, position: int) -> str | None:
    """The text of the first or second factor of the product at a span; None where the expression is none."""
    match located(span):
        case (_, ast.BinOp(left=left, op=ast.Mult() | ast.MatMult(), right=right)) if position < 2:
            return ast.unparse((left, right)[position])
    return None
