"""Whether two arrays whose rows belong together are put into another order apart from one another, by the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from whygrad.source.module import Module, is_before, last_name, located
from whygrad.source.origin import Hop, targets
from whygrad.source.text import SourceSpan

_MIXING: Final = ("shuffle", "permutation")
_SEEDS: Final = ("seed", "set_seed", "set_random_seed", "default_rng", "RandomState", "set_state")


def shuffled_apart(inputs: list[Hop], labels: list[Hop]) -> SourceSpan | None:
    """Where one of two arrays whose rows belong together is put into another order, and the other is not."""
    mixed = list(_shuffles(inputs)), list(_shuffles(labels))
    ours, theirs = ([e for e in one if e not in other] for one, other in (mixed, reversed(mixed)))
    if ours and theirs:
        return None if _is_seeded_anew(ours[0], theirs[0]) else theirs[0]
    if not (ours or theirs) or not inputs or not labels:
        return None
    where, beside, own = (ours[0], labels, inputs) if ours else (theirs[0], inputs, labels)
    return where if all(is_before(hop.made, where) for hop in beside if hop not in own) else None


def zipped(trail: list[Hop]) -> SourceSpan | None:
    """The statement of a trail that combines two data sets row by row."""
    return next((hop.made for hop in trail if _calls(hop, ("zip",))), None)


def mixes(hop: Hop) -> bool:
    """Whether the statement that made a value puts it into another order."""
    return _calls(hop, _MIXING)


def _calls(hop: Hop, names: tuple[str, ...]) -> bool:
    found = located(hop.made)
    calls = () if found is None else (node for node in ast.walk(found[1]) if isinstance(node, ast.Call))
    return any(last_name(call.func) in names for call in calls)


def _shuffles(trail: list[Hop]) -> Iterator[SourceSpan]:
    """Calls that put data into another order by themselves: `rng.shuffle(x)`, `x = rng.permutation(x)`.

    What is shuffled after the next name was made of it is not shuffled under that name.
    """
    for later, hop in zip([None, *trail], trail, strict=False):
        found = located(hop.made)
        if found is None:
            continue
        module, made = found
        for call in (each for name in _MIXING for each in module.calls.get(name, ())):
            until = None if later is None else module.line(later.made.file, later.made.line)
            in_time = made.lineno <= call.lineno and (until is None or call.lineno < until)
            if in_time and module.scope(call) is module.scope(made) and _reorders(module, call, hop.name):
                yield module.span(call)


def _reorders(module: Module, call: ast.Call, name: str) -> bool:
    """Whether a call shuffles this alone, in place or for the same name."""
    statement = module.statement(call)
    alone = len(call.args) == 1 and isinstance(call.args[0], ast.Name) and call.args[0].id == name
    again = isinstance(statement, ast.Assign) and name in targets(statement)
    return alone and (again or isinstance(statement, ast.Expr)) and getattr(statement, "value", None) is call


def _is_seeded_anew(one: SourceSpan | None, other: SourceSpan | None) -> bool:
    """Whether the second of two shuffles follows a seed of its own: then both orders are the same."""
    found = located(other)
    if found is None or one is None or other is None:
        return True
    first, last = sorted(found[0].line(each.file, each.line) for each in (one, other))
    lines = range(first, last + 1)
    return any(call.lineno in lines for name in _SEEDS for call in found[0].calls.get(name, ()))
