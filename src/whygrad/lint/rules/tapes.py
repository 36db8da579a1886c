"""Tapes that are asked too often, or for what cannot be asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.backends.api import Does, Role
from whygrad.diagnostics import Severity, Word
from whygrad.lint.flow.facts import Request
from whygrad.lint.rules.check import Case, Finding, rules
from whygrad.lint.values.reach import Reach, behind
from whygrad.lint.values.value import Kind, Node, Object

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@rules(tape_not_persistent="WL115")
def asked_twice(case: Case) -> Iterator[Finding]:
    """A second gradient asked of a tape that the first one used up."""
    for tape in case.facts.tapes:
        asked = [each for each in tape.requests if isinstance(each, Request) and not each.inside]
        if tape.persistent is not False or tape.kept:
            continue
        pair = next(((a, b) for i, b in enumerate(asked) for a in asked[:i] if not _exclude(case, a, b)), None)
        if pair is not None:
            first, second = pair
            yield Finding(
                rule="tape-not-persistent",
                message="a second gradient is asked of a tape that the first one used up",
                primary=case.label(second.where, "raises: the tape is empty"),
                related=(case.label(first.where, "the first gradient uses the tape up"),)
                if first.where is not second.where
                else (),
                help=f"ask for both in one call, or make the tape with `{Word.TAPE}(persistent=True)`",
                tape=case.span(tape.where),
            )
        elif asked and any(loop not in tape.place.loops for loop in asked[0].place.loops):
            yield Finding(
                rule="tape-not-persistent",
                message="this tape is likely asked for a gradient in every iteration of a loop, but the first one uses it up",
                primary=case.label(asked[0].where, "raises in the second iteration"),
                help=f"ask for all in one call, or make the tape with `{Word.TAPE}(persistent=True)`",
                certain=False,
                severity=Severity.WARNING,
            )


def _exclude(case: Case, first: Request, second: Request) -> bool:
    """Whether at most one of two calls is made."""
    if first.where is second.where:
        return False
    above = {id(each): each for each in case.module.ancestors(second.where)}
    node: ast.AST = first.where
    for parent in case.module.ancestors(first.where):
        if id(parent) in above:
            return _apart(parent, node, second.where)
        for block in (getattr(parent, "body", None), getattr(parent, "orelse", None)):
            if isinstance(block, list) and node in block and isinstance(block[-1], _ENDS):
                return True
        node = parent
    return False


def _apart(parent: ast.AST, node: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes are in different branches of what holds both, or the first ends its block."""
    if isinstance(parent, (ast.If, ast.IfExp, ast.Try, ast.Match)):
        return True
    if isinstance(node, (ast.If, ast.Try, ast.With, ast.For)):
        return _always_ends(node)
    return isinstance(node, ast.Return) or other is node


def _always_ends(node: ast.stmt) -> bool:
    body = getattr(node, "body", [])
    return bool(body) and (isinstance(body[-1], _ENDS) or _always_ends(body[-1]))


@rules(tensorarray_not_stacked="WL116", wrong_source_object="WL109")
def asked_of_the_wrong_thing(case: Case) -> Iterator[Finding]:
    """Gradients of an array of tensors, or of a tensor that only looks like what went into the loss."""
    for request in case.facts.requests:
        if request.method == "fit":
            continue
        target = request.target
        if isinstance(target, Object) and target.role is Role.ARRAY_OF_TENSORS:
            yield Finding(
                rule="tensorarray-not-stacked",
                message="a gradient is asked of an array of tensors, which is not a tensor",
                primary=case.label(request.where, "its target is the array itself"),
                asked=case.span(request.where),
                help="stack the array inside the tape, and take the gradient of that: `array.stack()`",
            )
        elif request.tape is not None:
            yield from _looks_alike(case, request)


def _looks_alike(case: Case, request: Request) -> Iterator[Finding]:
    used = behind(request.target)
    if used.unknown or request.tape is None or request.is_lenient:
        return
    found = case.reach(request)
    for source in request.sources:
        if not isinstance(source, Node) or id(source) in used.nodes or found.has(source):
            continue
        watched = any(value is source for value, _ in request.tape.watched)
        symbolic = source.name in ("input", "output", "inputs", "outputs") and isinstance(source.parent, Object)
        made = source.does not in (None, Does.EITHER, Does.GRADIENTS, Does.CAST)  # a cast may give the tensor itself
        computed = source.kind is Kind.TENSOR and made and not _is_conversion(source)
        computed = computed and bool(source.inputs or source.callee) and not watched
        computed = computed or source.kind is Kind.ARRAY
        if symbolic or computed:
            text = "a symbolic tensor, which no call goes through" if symbolic else "made here, not what the loss used"
            where = source.where if isinstance(source.where, ast.expr) else request.where
            inside = any(each is where for each in ast.walk(request.where))
            yield Finding(
                rule="wrong-source-object",
                message=f"no gradient reaches `{case.named(source)}`: the loss was computed from another tensor",
                primary=case.label(where if inside else request.where, text if inside else "not what the loss used"),
                help="hold the tensor in a name, watch it, and use the same name in the loss and in the list of sources",
            )


def _is_conversion(source: Node) -> bool:
    """Whether it may be the very tensor that it was made from."""
    where = source.where
    return isinstance(where, ast.Call) and ast.unparse(where.func).endswith(("convert_to_tensor", "identity"))


@rules(variable_not_in_loss="WL107", constant_target="WL111")
def not_in_the_loss(case: Case) -> Iterator[Finding]:
    """Variables that the target does not depend on by any way."""
    for request in case.facts.requests:
        used = behind(request.target)
        if used.unknown or any(_is_guess(node) for node in used.nodes.values()) or _is_custom(case):
            continue
        if isinstance(request.target, Object) or any(node.does is Does.TO_ARRAY for node in used.nodes.values()):
            continue
        if request.is_lenient or any(_is_written(write.variable, used) for write in case.facts.writes):
            continue
        if any(use.method == "set_weights" for use in case.facts.uses):
            continue
        missing = [
            each for each in request.sources if isinstance(each, Node) and _is_wanted(each) and not used.has(each)
        ]
        names = tuple(dict.fromkeys(case.named(each) for each in missing))
        if missing and not used.is_learned:
            yield Finding(
                rule="constant-target",
                message="the target of this gradient depends on no variable and no watched tensor",
                primary=case.label(request.where, "every gradient of it is missing"),
                variables=names,
                help="take the gradient of the loss that was computed from the variables",
            )
        elif missing:
            yield Finding(
                rule="variable-not-in-loss",
                message=f"no gradient reaches `{names[0]}`: the loss does not depend on it",
                primary=case.label(request.where, "asked for here"),
                variables=names,
                help="use it in the loss, or leave it out of the list",
            )


def _is_written(variable: Node, used: Reach) -> bool:
    """Whether a variable that the target depends on is written, all of it or a slice."""
    whole = variable.inputs[0] if variable.does in (Does.GATHER, Does.MOVE) and variable.inputs else variable
    if id(whole) in used.nodes:
        return True
    return used.calls(variable.parent)


def _is_custom(case: Case) -> bool:
    """Whether the file has gradients of its own, which may lead anywhere."""
    functions = (each for same_name in case.module.functions.values() for each in same_name)
    decorators = (each for function in functions for each in getattr(function, "decorator_list", ()))
    return (
        any("custom_gradient" in use.dotted for use in case.facts.uses)
        or "custom_gradient" in case.module.calls
        or any("custom_gradient" in ast.unparse(each) for each in decorators)
    )


def _is_wanted(source: Node) -> bool:
    if source.group is not None:
        return not source.group.some and isinstance(source.group.owner, Object) and source.group.owner.klass is None
    return (
        source.kind is Kind.VARIABLE
        and source.does is not Does.EITHER
        and source.parent is None
        and source.dtype != "int"
    )


def _is_guess(node: Node) -> bool:
    return node.kind is Kind.UNKNOWN and node.does is not Does.EITHER
