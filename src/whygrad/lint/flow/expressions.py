"""Expressions, read for their values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from whygrad.backends.api import Does
from whygrad.lint.flow.calls import Calls
from whygrad.lint.flow.machine import BUDGET, SpentError
from whygrad.lint.flow.operations import OPERATORS
from whygrad.lint.values.questions import group_owner
from whygrad.lint.values.value import Function, Items, Kind, Known, Literal, Method, Node, Object, Scope, Table, Value

_PYTHON: Final = (
    "float int bool round str repr len id abs min max sum list tuple sorted reversed set iter zip enumerate range "
    "map filter dict super next getattr isinstance hasattr callable type print vars open"
)
_BUILTINS: Final = frozenset(_PYTHON.split())
UNROLLED: Final = 12  # entries of a list that a loop over it takes one by one


class Expressions(Calls):
    """One method a form of expression."""

    def evaluate(self, node: ast.expr) -> Value:
        self.steps += 1
        if self.steps > BUDGET:
            raise SpentError
        read = _FORMS.get(type(node))
        return read(self, node) if read is not None else self.unknown(node)

    def _name(self, node: ast.Name) -> Value:
        found = self.scope.find(node.id)
        if found is not None:
            return found
        if node.id in _BUILTINS:
            return Known(f"builtins.{node.id}", node)
        made = self.foreign(node.id, node)
        self.module.names[node.id] = made
        return made

    def foreign(self, name: str, node: ast.expr | ast.stmt) -> Node:
        """Something unknown that was there before."""
        made = self.unknown(node, name=name)
        made.under, made.time = frozenset(), 0
        return made

    def _constant(self, node: ast.Constant) -> Value:
        return Literal(node.value, node)

    def _attribute(self, node: ast.Attribute) -> Value:
        owner = self.evaluate(node.value)
        found = self.attribute(owner, node.attr, node)
        return self.child(owner, node.attr, node) if isinstance(found, Method) and isinstance(owner, Object) else found

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            callee = self.attribute(self.evaluate(node.func.value), node.func.attr, node.func)
        else:
            callee = self.evaluate(node.func)
        arguments: list[Value] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                given = self.evaluate(argument.value)
                if isinstance(given, Items) and given.complete:
                    arguments += given.items
                else:
                    arguments.append(self.unknown(argument, (given,), "*"))
            else:
                arguments.append(self.evaluate(argument))
        words: dict[str, Value] = {}
        for word in node.keywords:
            value = self.evaluate(word.value)
            if word.arg is not None:
                words[word.arg] = value
            elif isinstance(value, Table):
                words |= {str(key): each for key, each in value.items.items() if isinstance(key, str)}
            else:
                words["**"] = value
        if isinstance(callee, Node) and callee.kind is Kind.UNKNOWN and isinstance(node.func, ast.Attribute):
            done = self._unknown_method(callee, node.func.attr, arguments, words, node)
            if done is not None:
                return done
        return self.call(callee, arguments, words, node)

    def _unknown_method(
        self, callee: Node, name: str, arguments: list[Value], words: dict[str, Value], node: ast.Call
    ) -> Value | None:
        """A method of something unknown, where its name says enough."""
        owner = callee.parent
        if name == "apply_gradients" and owner is not None:
            return self._applied(owner, arguments, words, node)
        if name in self.api.escapes and isinstance(owner, Node):
            return self.node(Kind.ARRAY, node, Does.TO_ARRAY, (owner,))
        if name in ("assign", "assign_add", "assign_sub") and isinstance(owner, Node):
            return self._written(owner, name, arguments, words, node)
        if name in ("run", "experimental_run_v2") and arguments and isinstance(arguments[0], Function):
            given = words.get("args", arguments[1] if len(arguments) > 1 else None)
            return self.call(arguments[0], list(given.items) if isinstance(given, Items) else [], {}, node)
        if name == "gradient" and len(arguments) > 1:
            return self._gradients(arguments[1], arguments[0], node)
        return None

    def _binary(self, node: ast.BinOp) -> Value:
        operands = self.evaluate(node.left), self.evaluate(node.right)
        return self.operate(OPERATORS.get(type(node.op), Does.SMOOTH), operands, node)

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            if isinstance(value, Literal) and isinstance(value.value, bool):
                return Literal(not value.value, node)
            return self.node(Kind.NUMBER, node, Does.COMPARE, (value,))
        if isinstance(node.op, ast.UAdd):
            return value
        return self.operate(Does.NEGATE if isinstance(node.op, ast.USub) else Does.COMPARE, (value,), node)

    def _compare(self, node: ast.Compare) -> Value:
        operands = tuple(self.evaluate(each) for each in (node.left, *node.comparators))
        if any(isinstance(each, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for each in node.ops):
            return self.node(Kind.NUMBER, node, Does.COMPARE, ())
        return self.node(self.mixed(operands), node, Does.COMPARE, operands, "int")

    def _boolean(self, node: ast.BoolOp) -> Value:
        return self.any_of([self.evaluate(each) for each in node.values], node)

    def _choice(self, node: ast.IfExp) -> Value:
        test = self.evaluate(node.test)
        if isinstance(test, Literal) and isinstance(test.value, bool) and is_plain(node.test):
            return self.evaluate(node.body if test.value else node.orelse)
        return self.join(self.evaluate(node.body), self.evaluate(node.orelse))

    def _list(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        items: list[Value] = []
        complete = True
        for each in node.elts:
            if isinstance(each, ast.Starred):
                value = self.evaluate(each.value)
                complete = complete and isinstance(value, Items) and value.complete
                items += value.items if isinstance(value, Items) else [self.element(value, each)]
            else:
                items.append(self.evaluate(each))
        return Items(items, node, complete=complete)

    def _dictionary(self, node: ast.Dict) -> Value:
        items: dict[object, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            name = plain_key(self.evaluate(key)) if key is not None else None
            held = self.evaluate(value)
            if key is None and isinstance(held, Table):
                items |= held.items
            else:
                items[name] = held
        return Table(items, node)

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.evaluate(node.value)
        if isinstance(node.slice, ast.Slice):
            for part in (node.slice.lower, node.slice.upper, node.slice.step):
                if part is not None:
                    self.evaluate(part)
            if isinstance(owner, Items):
                return self._sliced(owner, node)
            if isinstance(owner, Node) and owner.kind is not Kind.UNKNOWN:
                return self.node(self.mixed((owner,)), node, Does.MOVE, (owner,), owner.dtype)
            return self.unknown(node, (owner,))
        return self.item(owner, self.evaluate(node.slice), node)

    def _sliced(self, owner: Items, node: ast.Subscript) -> Value:
        bounds = node.slice
        assert isinstance(bounds, ast.Slice)
        lower, upper = _integer(bounds.lower), _integer(bounds.upper)
        known = (bounds.lower is None or lower is not None) and (bounds.upper is None or upper is not None)
        whole = any(group_owner(each) for each in owner.items)
        if owner.complete and known and bounds.step is None and not whole:
            return Items(owner.items[lower:upper], node)
        return self.some_of(owner, node)

    def _index(self, node: ast.Slice) -> Value:
        return Literal(None, node)

    def _lambda(self, node: ast.Lambda) -> Value:
        made = Function(node, self.scope)
        self.defined.append(made)
        return made

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Value:
        items, complete = self._turns(node.generators, node.elt)
        return Items(items, node, complete=complete)

    def _mapping(self, node: ast.DictComp) -> Value:
        items, _ = self._turns(node.generators, node.value)
        return Table({None: self.any_of(items, node)}, node)

    def _turns(self, generators: list[ast.comprehension], element: ast.expr) -> tuple[list[Value], bool]:
        """What a comprehension gives, entry by entry where its list is known."""
        first, *rest = generators
        given = self.evaluate(first.iter)
        entries = given.items if isinstance(given, Items) and len(given.items) <= UNROLLED else None
        complete = isinstance(given, Items) and given.complete and entries is not None and not first.ifs
        if entries is None:
            entries = [self.element(given, first.iter)]
        before, self.scope = self.scope, Scope(self.scope)
        found: list[Value] = []
        try:
            with self.inside(self.looping(first)):
                for entry in entries:
                    taken = self.not_all(entry, entry.where) if first.ifs else entry
                    self.bind_target(first.target, taken, None)
                    for test in first.ifs:
                        self.evaluate(test)
                    if rest:
                        more, whole = self._turns(rest, element)
                        found += more
                        complete = complete and whole
                    else:
                        found.append(self.evaluate(element))
        finally:
            self.scope = before
        return found, complete

    def bind_target(self, target: ast.expr, value: Value, statement: ast.stmt | None) -> None:
        raise NotImplementedError

    def _named(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.bind_target(node.target, value, None)
        return value

    def _passing(self, node: Any) -> Value:
        return self.evaluate(node.value)

    def _yielded(self, node: ast.Yield | ast.YieldFrom) -> Value:
        value = self.evaluate(node.value) if node.value is not None else Literal(None, node)
        if self.frames:
            self.frames[-1].yields.append(value)
        return self.unknown(node)

    def _text(self, node: ast.JoinedStr) -> Value:
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                self.evaluate(each.value)
        return Literal(..., node)


def is_plain(test: ast.expr) -> bool:
    """Whether a test is of a local name or a constant: attributes may be set in a branch that was not taken last."""
    return not any(isinstance(each, (ast.Attribute, ast.Subscript, ast.Call)) for each in ast.walk(test))


def plain_key(value: Value) -> str | int | None:
    """The constant that a key is; None where it is another."""
    return value.value if isinstance(value, Literal) and isinstance(value.value, (str, int)) else None


def _integer(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _integer(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


_FORMS: Final[dict[type[ast.expr], Callable[[Expressions, Any], Value]]] = {
    ast.Name: Expressions._name,
    ast.Constant: Expressions._constant,
    ast.Attribute: Expressions._attribute,
    ast.Call: Expressions._call,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare,
    ast.BoolOp: Expressions._boolean,
    ast.IfExp: Expressions._choice,
    ast.List: Expressions._list,
    ast.Tuple: Expressions._list,
    ast.Set: Expressions._list,
    ast.Dict: Expressions._dictionary,
    ast.Subscript: Expressions._subscript,
    ast.Slice: Expressions._index,
    ast.Lambda: Expressions._lambda,
    ast.ListComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.DictComp: Expressions._mapping,
    ast.NamedExpr: Expressions._named,
    ast.Await: Expressions._passing,
    ast.Starred: Expressions._passing,
    ast.Yield: Expressions._yielded,
    ast.YieldFrom: Expressions._yielded,
    ast.JoinedStr: Expressions._text,
}
