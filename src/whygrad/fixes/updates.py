"""What is done with gradients and optimizers: which list, how often, divided by what, in which order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.diagnostics import Edit, Fix, FixSafety, Word
from whygrad.fixes.rewriting import (
    INDENT,
    argument,
    call_at,
    deleted_lines,
    expression_at,
    has_own_lines,
    indent_of,
    inserted_after,
    inserted_at,
    inserted_before,
    moved_lines,
    operand_text,
    replaced,
    text_at,
    with_argument,
)
from whygrad.source import SourceSpan
from whygrad.source.module import Module, last_name, located

_ALL_TO_TRAINABLE = {"variables": "trainable_variables", "weights": "trainable_weights"}


def trainable_only(asked: SourceSpan | None) -> Iterator[Fix]:
    """The lists of all variables of the object that a request, or an update, names are those of trainable ones."""
    found = located(asked)
    if found is None:
        return
    module, node = found
    named = {ast.unparse(each.value) for each in _lists(node)}
    edits = tuple(
        _renamed(module, each, _ALL_TO_TRAINABLE[each.attr])
        for each in _lists(module.tree)
        if ast.unparse(each.value) in named
    )
    if edits:
        yield Fix(title="ask for, and apply to, the trainable variables only", edits=edits)


def _lists(node: ast.AST) -> Iterator[ast.Attribute]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr in _ALL_TO_TRAINABLE)


def _renamed(module: Module, attribute: ast.Attribute, name: str) -> Edit:
    """Another attribute of the same object."""
    span = module.span(attribute)
    end = span.end_column or 0
    return Edit(SourceSpan(span.file, span.last_line, end - len(attribute.attr), span.last_line, end), name)


def paired_with(applied: SourceSpan | None, asked: SourceSpan | None) -> Iterator[Fix]:
    """The gradients are zipped with the list that was asked for; or that list is asked for which they are zipped with.

    The latter where both stand in a loop and only the list of the update goes with it.
    """
    found, request = call_at(applied), call_at(asked)
    sources = None if request is None else argument(request[1], 1, "sources")
    if found is None or request is None or sources is None or found[0] is not request[0]:
        return
    module = found[0]
    wrong = zipped_variables(module, found[1])
    if wrong is None or ast.unparse(wrong) == ast.unparse(sources):
        return
    zipped, meant = text_at(module, wrong), text_at(module, sources)
    if names_in(wrong) & _loopnames_in(module, request[1]) - names_in(sources):
        yield Fix(title=f"ask for the gradients of `{zipped}`", edits=(replaced(module, sources, zipped),))
    elif not names_in(wrong) & _loopnames_in(module, found[1]):  # else one gradient goes to several networks
        yield Fix(title=f"zip the gradients with `{meant}`", edits=(replaced(module, wrong, meant),))


def zipped_variables(module: Module, update: ast.Call) -> ast.expr | None:
    """The variables that an update, or the loop that it is in, zips with gradients."""
    around = [each.iter for each in module.ancestors(update) if isinstance(each, ast.For)]
    for node in (update, *around):
        zips = [
            n for n in ast.walk(node) if isinstance(n, ast.Call) and last_name(n.func) == "zip" and len(n.args) == 2
        ]
        if len(zips) == 1:
            first, second = zips[0].args
            return first if any("grad" in name for name in names_in(second)) else second
    return None


def names_in(node: ast.AST) -> set[str]:
    """The plain names in an expression or a statement."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _loopnames_in(module: Module, node: ast.AST) -> set[str]:
    """What the loops around a node run through."""
    return {name for each in module.ancestors(node) if isinstance(each, ast.For) for name in names_in(each.target)}


def dense(asked: SourceSpan | None) -> Iterator[Fix]:
    """The gradients of a request are dense tensors."""
    found = call_at(asked)
    sources = None if found is None else argument(found[1], 1, "sources")
    if found is None or sources is None:
        return
    module, call = found
    text = text_at(module, call)
    single = isinstance(sources, ast.Name) and not sources.id.endswith("s")
    new = f"{Word.TO_DENSE}({text})" if single else f"[{Word.TO_DENSE}(gradient) for gradient in {text}]"
    yield Fix(title="make the gradients dense", edits=(replaced(module, call, new),), safety=FixSafety.SAFE)


def averaged(applied: SourceSpan | None, count: int) -> Iterator[Fix]:
    """The sums that are applied are divided by the number of gradients in them."""
    found = call_at(applied)
    if found is None:
        return
    module, call = found
    zips = [n for n in ast.walk(call) if isinstance(n, ast.Call) and last_name(n.func) == "zip" and len(n.args) == 2]
    number = _name_of_number(module, count) or str(count)
    if len(zips) == 1:
        sums = zips[0].args[0]
        text = f"[gradient / {number} for gradient in {text_at(module, sums)}]"
        yield Fix(title=f"divide the sums by {number}", edits=(replaced(module, sums, text),))


def _name_of_number(module: Module, count: int) -> str | None:
    """The only name that a file gives to a number."""
    names = [
        node.targets[0].id
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and node.value.value == count
        and type(node.value.value) is int
    ]
    return names[0] if len(names) == 1 else None


def undivided(at: SourceSpan | None) -> Iterator[Fix]:
    """`x / n` becomes `x`."""
    found = expression_at(at)
    match None if found is None else found[1]:
        case ast.BinOp(left=left, op=ast.Div()) as node if found is not None:
            text = operand_text(found[0], left)
            yield Fix(
                title=f"divide once: leave out `/ {text_at(found[0], node.right)}`",
                edits=(replaced(found[0], node, text),),
            )


def set_back(applied: SourceSpan | None, summed: SourceSpan | None) -> Iterator[Fix]:
    """What gradients were added up in is set back to zero after the update."""
    found, addition = located(applied), located(summed)
    if found is None:
        return
    module = found[0]
    update = module.statement(found[1])
    known = addition is not None and addition[0] is module
    adding = module.statement(addition[1]) if known and addition is not None else _adding(module, found[1])
    outer = None if update is None else module.parents.get(update)
    while isinstance(outer, ast.For) and adding not in list(ast.walk(outer)):  # a loop that applies them one by one
        update, outer = outer, module.parents.get(outer)
    if update is None or not has_own_lines(module, update):
        return
    text = _reset(module, adding)
    if text is not None:
        yield Fix(title="set the sums back to zero after each update", edits=(inserted_after(module, update, text),))


def _adding(module: Module, applied: ast.AST) -> ast.stmt | None:
    """The statement that adds to the elements of a list which an update names."""
    text = ast.unparse(applied)
    for call in module.calls.get("assign_add", ()):
        loop = next((n for n in module.ancestors(call) if isinstance(n, ast.For)), None)
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        held = _zipped(loop, owner.id) if isinstance(owner, ast.Name) else None
        if held is not None and held in text:
            return module.statement(call)
    return None


def _reset(module: Module, adding: ast.stmt | None) -> str | None:
    match adding:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=one), attr="assign_add"))):
            loop = next((n for n in module.ancestors(adding) if isinstance(n, ast.For)), None)
            held = _zipped(loop, one)
            return None if held is None else f"for {one} in {held}:\n    {one}.{Word.ASSIGN}({Word.ZEROS_LIKE}({one}))"
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Subscript(value=held_in), attr="assign_add"))):
            name = text_at(module, held_in)
            return f"for total in {name}:\n    total.{Word.ASSIGN}({Word.ZEROS_LIKE}(total))"
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp()):
            return f"{name} = [{Word.ZEROS_LIKE}(total) for total in {name}]"
    return None


def _zipped(loop: ast.AST | None, name: str) -> str | None:
    """The list that a name runs through in a loop over `zip`."""
    match loop:
        case ast.For(target=ast.Tuple(elts=names), iter=ast.Call(args=lists)) if len(names) == len(lists):
            for each, held in zip(names, lists, strict=True):
                if isinstance(each, ast.Name) and each.id == name:
                    return ast.unparse(held)
        case ast.For(target=ast.Name(id=only), iter=held) if only == name:
            return ast.unparse(held)
    return None


def after(written: SourceSpan | None, asked: SourceSpan | None) -> Iterator[Fix]:
    """A statement that writes runs after the one that asks for gradients."""
    found, request = located(written), located(asked)
    if found is None or request is None or found[0] is not request[0]:
        return
    module = found[0]
    write, asking = module.statement(found[1]), module.statement(request[1])
    siblings = getattr(module.parents.get(asking) if asking is not None else None, "body", [])
    mine = next((each for each in (write, *(module.ancestors(write) if write else ())) if each in siblings), None)
    if mine is None and write is not None:  # a function that is called before
        calls = module.calls.get(getattr(module.scope(write), "name", ""), [])
        mine = next((each for each in map(module.statement, calls) if each in siblings), None)
    if not isinstance(mine, ast.stmt) or asking is None or mine.lineno >= asking.lineno:
        return
    if not has_own_lines(module, mine) or not has_own_lines(module, asking):
        return
    line = (asking.end_lineno or asking.lineno) + 1
    edits = (
        deleted_lines(module, mine.lineno, mine.end_lineno or mine.lineno),
        inserted_at(module, line, moved_lines(module, [mine], indent_of(module, asking))),
    )
    yield Fix(title="take the gradient before anything is written", edits=edits)


def repeated_before(original: SourceSpan | None, at: SourceSpan | None) -> Iterator[Fix]:
    """A statement, such as one that compiles a model, is run once more before another."""
    found, place = located(original), located(at)
    if found is None or place is None or found[0] is not place[0]:
        return
    module = found[0]
    statement, before = module.statement(found[1]), module.statement(place[1])
    if isinstance(statement, ast.Expr) and before is not None and has_own_lines(module, before):
        edit = inserted_before(module, before, text_at(module, statement))
        yield Fix(title=f"run `{' '.join(text_at(module, statement).split())[:50]}` again", edits=(edit,))


def flag_set(at: SourceSpan | None, owner: str) -> Iterator[Fix]:
    """A model is trainable while a statement runs."""
    found = located(at)
    statement = None if found is None else found[0].statement(found[1])
    call = None if found is None or not isinstance(found[1], ast.Call) else found[1]
    if found is None or statement is None or call is None or not isinstance(call.func, ast.Attribute):
        return
    name = text_at(found[0], call.func.value)
    if has_own_lines(found[0], statement):
        before = inserted_before(found[0], statement, f"{name}.trainable = True")
        after = inserted_after(found[0], statement, f"{name}.trainable = False")
        yield Fix(title=f"make `{owner}` trainable while it is trained itself", edits=(before, after))


def frozen_by_layers(at: SourceSpan | None) -> Iterator[Fix]:
    """`model.trainable = False` is said of each of its layers, so that one of them may be thawed."""
    found = located(at)
    statement = None if found is None else found[0].statement(found[1])
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=owner, attr="trainable")], value=ast.Constant(value=False)) if (
            found
        ):
            line = f"for layer in {text_at(found[0], owner)}.layers:"
            text = f"{line}\n{indent_of(found[0], statement)}{INDENT}layer.trainable = False"
            yield Fix(title="freeze the layers one by one", edits=(replaced(found[0], statement, text),))


def read_when_used(read: SourceSpan | None) -> Iterator[Fix]:
    """A list that was read too early is read where it is used."""
    found = expression_at(read)
    statement = None if found is None else found[0].statement(found[1])
    if found is None or not isinstance(statement, ast.Assign) or statement.value is not found[1]:
        return
    module, target = found[0], statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name) or not has_own_lines(module, statement):
        return
    uses = [n for n in ast.walk(module.tree) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    if uses and all(isinstance(use.ctx, ast.Load) for use in uses):
        text = operand_text(module, found[1])
        edits = [deleted_lines(module, statement.lineno, statement.end_lineno or statement.lineno)]
        edits += (replaced(module, use, text) for use in uses)
        yield Fix(title=f"read `{text}` where it is used", edits=tuple(edits), safety=FixSafety.SAFE)


def lists_read_when_used(applied: SourceSpan | None) -> Iterator[Fix]:
    """The lists of variables that an update names, and that were read before, are read there."""
    found = located(applied)
    if found is None:
        return
    module = found[0]
    for node in ast.walk(module.tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr=attribute) as value):
                if name in names_in(found[1]) and "variables" in attribute:
                    yield from read_when_used(module.span(value))


def option_changed(made: SourceSpan | None, option: str, value: str) -> Iterator[Fix]:
    """An argument of a call by its name, changed or added."""
    found = call_at(made)
    if found is None:
        return
    module, call = found
    known = argument(call, None, option)
    edit = with_argument(module, call, f"{option}={value}") if known is None else replaced(module, known, value)
    yield Fix(title=f"give it `{option}={value}`", edits=(edit,))


def attribute_renamed(at: SourceSpan | None, old: str, new: str) -> Iterator[Fix]:
    """`optimizer.lr` becomes `optimizer.learning_rate`."""
    found = located(at)
    statement = None if found is None else found[0].statement(found[1])
    if found is None or statement is None:
        return
    nodes = [n for n in ast.walk(statement) if isinstance(n, ast.Attribute) and n.attr == old]
    if nodes:
        yield Fix(title=f"write `{new}`", edits=tuple(_renamed(found[0], node, new) for node in nodes))
