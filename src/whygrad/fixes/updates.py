"""What is done with gradients and optimizers: which list, how often, divided by what, in which order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.diagnostics import Edit, Fix, FixSafety, Word
from whygrad.fixes import rewriting as rw
from whygrad.source import SourceSpan
from whygrad.source.module import Module, last_name, plain_names

_ALL_TO_TRAINABLE = {"variables": "trainable_variables", "weights": "trainable_weights"}


@rw.on_node
def trainable_only(module: Module, asked: ast.AST) -> Iterator[Fix]:
    """The lists of all variables of the object that a request, or an update, names are those of trainable ones."""
    named = {ast.unparse(each.value) for each in _lists(asked)}
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


@rw.on_call
def paired_with(module: Module, update: ast.Call, asked: SourceSpan | None) -> Iterator[Fix]:
    """The gradients are zipped with the list that was asked for; or that list is asked for which they are zipped with.

    The latter where both stand in a loop and only the list of the update goes with it.
    """
    request, wrong = rw.call_at(asked), zipped_variables(module, update)
    sources = None if request is None else rw.argument(request[1], 1, "sources")
    if request is None or sources is None or module is not request[0]:
        return
    if wrong is None or ast.unparse(wrong) == ast.unparse(sources):
        return
    zipped, meant = rw.text_at(module, wrong), rw.text_at(module, sources)
    if plain_names(wrong) & _loopnames_in(module, request[1]) - plain_names(sources):
        yield Fix(title=f"ask for the gradients of `{zipped}`", edits=(rw.replaced(module, sources, zipped),))
    elif not plain_names(wrong) & _loopnames_in(module, update):  # else one gradient goes to several networks
        yield Fix(title=f"zip the gradients with `{meant}`", edits=(rw.replaced(module, wrong, meant),))


def zipped_variables(module: Module, update: ast.Call) -> ast.expr | None:
    """The variables that an update, or the loop that it is in, zips with gradients."""
    around = [each.iter for each in module.ancestors(update) if isinstance(each, ast.For)]
    for node in (update, *around):
        pair = _zipped_in(node)
        if pair is not None:
            first, second = pair
            return first if any("grad" in name for name in plain_names(second)) else second
    return None


def _zipped_in(node: ast.AST) -> list[ast.expr] | None:
    """The two lists of the only `zip` of two in a node."""
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call) and last_name(n.func) == "zip" and len(n.args) == 2]
    return calls[0].args if len(calls) == 1 else None


def _loopnames_in(module: Module, node: ast.AST) -> set[str]:
    """What the loops around a node run through."""
    return {name for each in module.ancestors(node) if isinstance(each, ast.For) for name in plain_names(each.target)}


@rw.on_call
def dense(module: Module, call: ast.Call) -> Iterator[Fix]:
    """The gradients of a request are dense tensors."""
    sources = rw.argument(call, 1, "sources")
    if sources is None:
        return
    text = rw.text_at(module, call)
    single = isinstance(sources, ast.Name) and not sources.id.endswith("s")
    new = f"{Word.TO_DENSE}({text})" if single else f"[{Word.TO_DENSE}(gradient) for gradient in {text}]"
    yield Fix(title="make the gradients dense", edits=(rw.replaced(module, call, new),), safety=FixSafety.SAFE)


@rw.on_call
def averaged(module: Module, call: ast.Call, count: int) -> Iterator[Fix]:
    """The sums that are applied are divided by the number of gradients in them."""
    pair, number = _zipped_in(call), _name_of_number(module, count) or str(count)
    if pair is not None:
        sums = pair[0]
        text = f"[gradient / {number} for gradient in {rw.text_at(module, sums)}]"
        yield Fix(title=f"divide the sums by {number}", edits=(rw.replaced(module, sums, text),))


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


@rw.on_expression
def undivided(module: Module, at: ast.expr) -> Iterator[Fix]:
    """`x / n` becomes `x`."""
    match at:
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            found = rw.text_at(module, right)
            edit = rw.replaced(module, at, rw.operand_text(module, left))
            yield Fix(title=f"divide once: leave out `/ {found}`", edits=(edit,))


@rw.on_node
def set_back(module: Module, applied: ast.AST, summed: SourceSpan | None) -> Iterator[Fix]:
    """What gradients were added up in is set back to zero after the update."""
    update, addition = module.statement(applied), rw.statement_at(summed)
    known = addition is not None and addition[0] is module
    adding = addition[1] if known and addition is not None else _adding(module, applied)
    outer = None if update is None else module.parents.get(update)
    while isinstance(outer, ast.For) and adding not in list(ast.walk(outer)):  # a loop that applies them one by one
        update, outer = outer, module.parents.get(outer)
    if update is None or not rw.has_own_lines(module, update):
        return
    text = _reset(module, adding)
    if text is not None:
        yield Fix(title="set the sums back to zero after each update", edits=(rw.inserted_after(module, update, text),))


def _adding(module: Module, applied: ast.AST) -> ast.stmt | None:
    """The statement that adds to the elements of a list which an update names."""
    text = ast.unparse(applied)
    for call in module.calls.get("assign_add", ()):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        held = _zipped(module.around(call, ast.For), owner.id) if isinstance(owner, ast.Name) else None
        if held is not None and held in text:
            return module.statement(call)
    return None


def _reset(module: Module, adding: ast.stmt | None) -> str | None:
    match adding:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=one), attr="assign_add"))):
            held = _zipped(module.around(adding, ast.For), one)
            return None if held is None else f"for {one} in {held}:\n    {one}.{Word.ASSIGN}({Word.ZEROS_LIKE}({one}))"
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Subscript(value=held_in), attr="assign_add"))):
            name = rw.text_at(module, held_in)
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


@rw.on_statement
def after(module: Module, write: ast.stmt, asked: SourceSpan | None) -> Iterator[Fix]:
    """A statement that writes runs after the one that asks for gradients."""
    request = rw.statement_at(asked)
    if request is None or module is not request[0]:
        return
    asking = request[1]
    siblings = getattr(module.parents.get(asking), "body", [])
    mine = next((each for each in (write, *module.ancestors(write)) if each in siblings), None)
    if mine is None:  # a function that is called before
        calls = module.calls.get(getattr(module.scope(write), "name", ""), [])
        mine = next((each for each in map(module.statement, calls) if each in siblings), None)
    if not isinstance(mine, ast.stmt) or mine.lineno >= asking.lineno:
        return
    if not rw.has_own_lines(module, mine) or not rw.has_own_lines(module, asking):
        return
    line = (asking.end_lineno or asking.lineno) + 1
    edits = (
        rw.deleted(module, mine),
        rw.inserted_at(module, line, rw.moved_lines(module, [mine], rw.indent_of(module, asking))),
    )
    yield Fix(title="take the gradient before anything is written", edits=edits)


@rw.on_statement
def repeated_before(module: Module, statement: ast.stmt, at: SourceSpan | None) -> Iterator[Fix]:
    """A statement, such as one that compiles a model, is run once more before another."""
    place = rw.statement_at(at)
    if place is not None and place[0] is module and isinstance(statement, ast.Expr) and rw.has_own_lines(*place):
        edit = rw.inserted_before(*place, rw.text_at(module, statement))
        yield Fix(title=f"run `{rw.on_one_line(module, statement)[:50]}` again", edits=(edit,))


@rw.on_call
def flag_set(module: Module, call: ast.Call, owner: str) -> Iterator[Fix]:
    """A model is trainable while a statement runs."""
    statement = module.statement(call)
    if isinstance(call.func, ast.Attribute) and statement is not None and rw.has_own_lines(module, statement):
        name = rw.text_at(module, call.func.value)
        before = rw.inserted_before(module, statement, f"{name}.trainable = True")
        after = rw.inserted_after(module, statement, f"{name}.trainable = False")
        yield Fix(title=f"make `{owner}` trainable while it is trained itself", edits=(before, after))


@rw.on_statement
def frozen_by_layers(module: Module, statement: ast.stmt) -> Iterator[Fix]:
    """`model.trainable = False` is said of each of its layers, so that one of them may be thawed."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=owner, attr="trainable")], value=ast.Constant(value=False)):
            line = f"for layer in {rw.text_at(module, owner)}.layers:"
            text = f"{line}\n{rw.indent_of(module, statement)}{rw.INDENT}layer.trainable = False"
            yield Fix(title="freeze the layers one by one", edits=(rw.replaced(module, statement, text),))


@rw.on_expression
def read_when_used(module: Module, read: ast.expr) -> Iterator[Fix]:
    """A list that was read too early is read where it is used."""
    statement = module.statement(read)
    if not isinstance(statement, ast.Assign) or statement.value is not read:
        return
    target = statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name) or not rw.has_own_lines(module, statement):
        return
    uses = [n for n in ast.walk(module.tree) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    if uses and all(isinstance(use.ctx, ast.Load) for use in uses):
        text = rw.operand_text(module, read)
        edits = [rw.deleted(module, statement)]
        edits += (rw.replaced(module, use, text) for use in uses)
        yield Fix(title=f"read `{text}` where it is used", edits=tuple(edits), safety=FixSafety.SAFE)


@rw.on_node
def lists_read_when_used(module: Module, applied: ast.AST) -> Iterator[Fix]:
    """The lists of variables that an update names, and that were read before, are read there."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr=attribute) as value):
                if name in plain_names(applied) and "variables" in attribute:
                    yield from read_when_used(module.span(value))


@rw.on_call
def option_changed(module: Module, call: ast.Call, option: str, value: str) -> Iterator[Fix]:
    """An argument of a call by its name, changed or added."""
    yield Fix(title=f"give it `{option}={value}`", edits=(rw.with_option(module, call, option, value),))


@rw.on_statement
def attribute_renamed(module: Module, statement: ast.stmt, old: str, new: str) -> Iterator[Fix]:
    """`optimizer.lr` becomes `optimizer.learning_rate`."""
    nodes = [n for n in ast.walk(statement) if isinstance(n, ast.Attribute) and n.attr == old]
    if nodes:
        yield Fix(title=f"write `{new}`", edits=tuple(_renamed(module, node, new) for node in nodes))
