"""Findings -> the same fixes that a run offers, made from what the source tells."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from whygrad.backends.api import Does
from whygrad.diagnostics import Edit, Fix, FixSafety
from whygrad.fixes.array_calls import without_arrays
from whygrad.fixes.blocks import into_block
from whygrad.fixes.finite import inside_range, logarithm, power, root, safe_where
from whygrad.fixes.losses import exchanged, in_training_mode, stacked, with_own_terms
from whygrad.fixes.making import made_once
from whygrad.fixes.straight_through import compared, positions, rounded, uncast, unstopped
from whygrad.fixes.tapes import persistent, watched
from whygrad.fixes.updates import after, paired_with, read_when_used, set_back, trainable_only
from whygrad.fixes.variables import assigned_in_place, floating, tracked
from whygrad.lint.rules.check import Finding
from whygrad.source import SourceSpan
from whygrad.source.module import LOOPS, located

_SMALL: Final = "1e-7"


def fixes_of(finding: Finding) -> Iterable[Fix]:
    """What may mend a finding, the least intrusive first; none where nothing is known."""
    make = _MAKERS.get(finding.rule)
    return () if make is None else make(finding)


def _not_differentiable(finding: Finding) -> Iterable[Fix]:
    make = _SMOOTHED.get(finding.does) if finding.does is not None else None
    return () if make is None else make(finding.primary.span)


_SMOOTHED: Final = {
    Does.ROUND: rounded,
    Does.CAST: uncast,
    Does.COMPARE: compared,
    Does.INDEX: positions,
    Does.ONE_HOT: positions,
}


def _watched(finding: Finding) -> Iterator[Fix]:
    if finding.variables:
        late = finding.primary.span if finding.late else None
        yield from watched(finding.tape, finding.variables[0], late)


def _once(finding: Finding) -> Iterable[Fix]:
    """Made before the loop, where nothing of what it is made from belongs to the loop."""
    found = located(finding.primary.span)
    statement = None if found is None else found[0].statement(found[1])
    if found is None or statement is None:
        return ()
    loop = next((each for each in found[0].ancestors(statement) if isinstance(each, LOOPS)), None)
    inside = {each.id for each in ast.walk(loop or statement) if isinstance(each, ast.Name) and _is_stored(each)}
    read = {each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and not _is_stored(each)}
    return () if loop is None or inside & read else made_once(finding.primary.span)


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _renamed(finding: Finding) -> Iterator[Fix]:
    """Another name in place of the old one, or of the keyword before the value."""
    new, found = finding.rename, located(finding.primary.span)
    if new is None or found is None:
        return
    module, node = found
    parent = module.parents.get(node)
    if isinstance(parent, ast.keyword) and parent.arg is not None and "." not in new:
        end = parent.col_offset + len(parent.arg)
        span = SourceSpan(module.file, parent.lineno, parent.col_offset, parent.lineno, end)
        yield Fix(title=f"write `{new}=`", edits=(Edit(span, new),), safety=FixSafety.SAFE)
    elif isinstance(node, ast.Attribute) and node.end_lineno is not None and node.end_col_offset is not None:
        start = node.end_col_offset - len(node.attr)
        span = SourceSpan(module.file, node.end_lineno, start, node.end_lineno, node.end_col_offset)
        first, _, rest = new.partition(".")
        if not rest:
            yield Fix(title=f"write `{new}`", edits=(Edit(span, new),), safety=FixSafety.SAFE)
        elif isinstance(node.value, ast.Name) and node.value.id == first:
            yield Fix(title=f"write `{new}`", edits=(Edit(span, rest),), safety=FixSafety.SAFE)


_MAKERS: Final[dict[str, Callable[[Finding], Iterable[Fix]]]] = {
    "non-differentiable-op": _not_differentiable,
    "stop-gradient": lambda f: unstopped(f.primary.span),
    "numpy-escape": lambda f: without_arrays(f.primary.span),
    "outside-tape": lambda f: into_block(f.primary.span, f.tape, f.asked),
    "unwatched-source": _watched,
    "int-variable": lambda f: floating([f.primary.span]),
    "tape-not-persistent": lambda f: persistent(f.tape),
    "tensorarray-not-stacked": lambda f: stacked(f.asked),
    "untracked-variable": lambda f: tracked(f.primary.span) if f.asked is None else (),
    "variable-rebound": lambda f: assigned_in_place(f.primary.span),
    "loss-arguments-swapped": lambda f: exchanged(f.primary.span),
    "training-flag": lambda f: in_training_mode([f.primary.span]),
    "missing-loss-term": lambda f: with_own_terms(f.asked, f.called, None),
    "nan-log": lambda f: logarithm(f.primary.span, _SMALL),
    "nan-sqrt": lambda f: root(f.primary.span, _SMALL, negative=False),
    "nan-pow": lambda f: power(f.primary.span),
    "nan-acos": lambda f: inside_range(f.primary.span),
    "nan-where": lambda f: safe_where(f.inner or f.primary.span, f.primary.span),
    "keras3-api-change": _renamed,
    "non-trainable-in-list": lambda f: trainable_only(f.asked or f.primary.span),
    "misrouted-gradient": lambda f: paired_with(f.primary.span, f.asked),
    "accumulation-not-reset": lambda f: set_back(f.called, f.primary.span),
    "optimizer-recreated": _once,
    "variable-recreated": _once,
    "assign-between-forward-and-gradient": lambda f: after(f.primary.span, f.asked),
    "unbuilt-model": lambda f: read_when_used(f.primary.span),
}
