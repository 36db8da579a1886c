"""Calls: of the user's functions, of names of the framework and of Python, and of what is not known."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import Final

from whygrad.backends.api import Does, Role
from whygrad.lint.flow.facts import Use
from whygrad.lint.flow.imports import FILE
from whygrad.lint.flow.machine import DEEPEST
from whygrad.lint.flow.methods import Methods
from whygrad.lint.flow.operations import common_dtype, dtype_of
from whygrad.lint.values.reach import DATA
from whygrad.lint.values.reach import flat as parts
from whygrad.lint.values.value import (
    PLAIN,
    Function,
    Items,
    Kind,
    Klass,
    Known,
    Literal,
    Method,
    Node,
    Object,
    Place,
    Scope,
    Super,
    Table,
    Tape,
    Value,
    argument,
)

MOST_ELSEWHERE: Final = 2_000  # expressions of functions of other files that are looked at


@dataclass(slots=True, eq=False, repr=False)
class ReturnFlow:
    """What the function that is followed has returned so far."""

    klass: Klass | None
    self_: Value | None
    given: tuple[Value, ...]
    values: list[Value] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)


class Calls(Methods):
    """Who is called with what, and what comes back."""

    frames: list[ReturnFlow]
    steps_elsewhere = 0  # expressions of functions of other files

    def call(self, callee: Value, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        match callee:
            case Function():
                return self._call_function(callee, arguments, words, where)
            case Klass():
                return self.instance(callee, arguments, words, where)
            case Known():
                return self._call_known(callee.dotted, arguments, words, where)
            case Object():
                return self.call_object(callee, arguments, words, where)
            case Method():
                return self.call_method(callee, arguments, words, where)
            case Node(does=Does.EITHER) if len(callee.inputs) <= 6:
                return self.any_of([self.call(each, arguments, words, where) for each in callee.inputs], where)
        return self._call_unknown(callee, arguments, words, where)

    def _call_unknown(self, callee: Value, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        given = (*arguments, *words.values())
        results = [
            self.call(each, [self.unknown(where) for _ in each.node.args.args], {}, where)
            for each in given
            if isinstance(each, Function) and each.node not in self.place.calls
        ]
        made = self.node(Kind.UNKNOWN, where, None, (*given, *results))
        made.callee, made.words = callee, words
        for part in (each for value in given for each in parts(value)):  # may be built, called or asked there
            if isinstance(part, Object):
                part.built = part.called = True
            elif isinstance(part, Tape):
                part.kept = True
        return made

    def _call_function(
        self, function: Function, arguments: list[Value], words: dict[str, Value], where: ast.Call
    ) -> Value:
        node, place = function.node, self.place
        self.reached.add(node)
        elsewhere = hasattr(node, FILE)
        too_much = elsewhere and self.steps_elsewhere > MOST_ELSEWHERE
        if place.calls.count(node) > 1 or len(place.calls) >= DEEPEST or too_much:
            made = self.unknown(where, (*arguments, *words.values()))
            made.callee = function
            return made
        began = self.steps
        scope = Scope(function.scope)
        self._bind(function, scope, arguments, words, where)
        flow = ReturnFlow(function.owner, function.self_, (*arguments, *words.values()))
        traced = node if function.compiled and place.traced is None else place.traced
        branch = place.branch and traced is place.traced
        inner = Place(place.loops, (*place.calls, node), traced, branch, (*place.sites, where))
        before, self.scope = self.scope, scope
        self.frames.append(flow)
        try:
            with self.inside(inner):
                if isinstance(node, ast.Lambda):
                    flow.values.append(self.evaluate(node.body))
                else:
                    self.run_block(node.body)
        finally:
            self.frames.pop()
            self.scope = before
            self.steps_elsewhere += self.steps - began if elsewhere else 0
        return self._result(function, flow, where)

    def _result(self, function: Function, flow: ReturnFlow, where: ast.Call) -> Value:
        if flow.yields:
            return Items(flow.yields, where, complete=False)
        if function.custom:
            return self._custom(flow, where)
        return self.any_of(flow.values, where) if flow.values else Literal(None, where)

    def _custom(self, flow: ReturnFlow, where: ast.Call) -> Value:
        """A function with a gradient of its own passes on to its arguments whatever that gives."""
        if flow.values and isinstance(flow.values[0], Items) and len(flow.values[0].items) > 1:
            inner = flow.values[0].items[1]
            if isinstance(inner, Function):
                self.reached.add(inner.node)
        return self.node(Kind.TENSOR, where, Does.SMOOTH, flow.given)

    def _bind(
        self, function: Function, scope: Scope, arguments: list[Value], words: dict[str, Value], where: ast.Call
    ) -> None:
        args = function.node.args
        given = arguments if function.self_ is None else [function.self_, *arguments]
        names = [*args.posonlyargs, *args.args]
        defaults: dict[str, ast.expr] = dict(
            zip((arg.arg for arg in reversed(names)), reversed(args.defaults), strict=False)
        )
        defaults |= {
            arg.arg: default
            for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
            if default is not None
        }
        spread = any(isinstance(each, Node) and each.name == "*" for each in given)
        for position, arg in enumerate((*names, *args.kwonlyargs)):
            if position < len(names) and position < len(given) and not (spread and position >= len(given) - 1):
                scope.names[arg.arg] = given[position]
            elif arg.arg in words:
                scope.names[arg.arg] = words[arg.arg]
            elif arg.arg in defaults and not spread and "**" not in words:
                scope.names[arg.arg] = self._default(function, defaults[arg.arg])
            else:
                scope.names[arg.arg] = self.unknown(arg, name=arg.arg)
        if args.vararg is not None:
            scope.names[args.vararg.arg] = Items(given[len(names) :], where, complete=not spread)
        if args.kwarg is not None:
            known = {arg.arg for arg in (*names, *args.kwonlyargs)}
            scope.names[args.kwarg.arg] = Table({name: v for name, v in words.items() if name not in known}, where)

    def _default(self, function: Function, node: ast.expr) -> Value:
        before, self.scope = self.scope, function.scope
        try:
            return self.evaluate(node)
        finally:
            self.scope = before

    # names of the framework

    def _call_known(self, dotted: str, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        if dotted.startswith("builtins."):
            return self._call_builtin(dotted[9:], arguments, words, where)
        result = self._made_by(dotted, arguments, words, where)
        self.facts.uses.append(Use(dotted, where.func, self.place, where, arguments, words))
        return result

    def _made_by(self, dotted: str, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        role = self.role_of(dotted)
        match role:
            case Role.TAPE:
                persistent = _flag(argument(arguments, words, "persistent", 0), default=False)
                watches = _flag(argument(arguments, words, "watch_accessed_variables", 1), default=True)
                tape = Tape(where, self.place, persistent, watches)
                self.facts.tapes.append(tape)
                return tape
            case Role.VARIABLE | Role.NETWORK_VARIABLE:
                return self._made_variable(role, arguments, words, where)
            case Role.COMPILED | Role.CUSTOM_GRADIENT:
                first = arguments[0] if arguments else Known(dotted)  # the decorator that makes one
                return self.compiled(first, role) if isinstance(first, Function) else first
            case Role.INPUT:
                dtype = self.dtype_named(words.get("dtype", Literal("")))
                return self.node(Kind.TENSOR, where, Does.CONSTANT, (), dtype)
            case None:
                pass
            case _:
                return self.make(role, dotted, arguments, words, where)
        if dotted.startswith(self.api.data):
            return self.unknown(where, tuple(arguments), DATA)
        last = dotted.rpartition(".")[2]
        if dotted.endswith(("models.clone_model", "models.load_model", "saving.load_model")):
            return self.make(Role.NETWORK, dotted, [], {}, where)
        if dotted.startswith("np."):
            return self.node(Kind.ARRAY, where, self.api.functions.get(last), (*arguments, *words.values()))
        if dotted.startswith(self.api.spaces) and not dotted.startswith(self.api.others):
            does = self.api.functions.get(dotted) or self.api.functions.get(last)
            if does is None:
                does = Does.SMOOTH
                if any(isinstance(each, Function) for each in (*arguments, *words.values())):
                    return self._call_unknown(Known(dotted), arguments, words, where)
            return self.compute(does, arguments, words, where)
        return self._call_unknown(Known(dotted), arguments, words, where)

    def compiled(self, function: Function, role: Role) -> Function:
        compiled, custom = role is Role.COMPILED, role is Role.CUSTOM_GRADIENT
        return replace(function, compiled=function.compiled or compiled, custom=function.custom or custom)

    def _made_variable(self, role: Role, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Node:
        initial = words.get("initial_value", argument(arguments, words, "initializer", 0))
        made = self.new_variable(words, where)
        made.of, made.name = initial, PLAIN if role is Role.VARIABLE else ""
        if "dtype" in words:
            made.dtype = self.dtype_named(words["dtype"])
        elif initial is not None and role is Role.VARIABLE:
            made.dtype = common_dtype(None if _is_array(each) else dtype_of(each) for each in parts(initial))
        return made

    # names of Python

    def _call_builtin(self, name: str, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        first = arguments[0] if arguments else None
        match name:
            case "float" | "int" | "bool" | "round" | "str" | "repr" | "len" | "id":
                if name == "round" and isinstance(first, Node) and first.kind is not Kind.NUMBER:
                    return self.node(Kind.TENSOR, where, Does.ROUND, tuple(arguments))
                if name in ("len", "str", "repr", "id") or not isinstance(first, Node):
                    return self.node(Kind.NUMBER, where, Does.SHAPE, ())
                return self.node(Kind.NUMBER, where, Does.TO_ARRAY, tuple(arguments))
            case "abs" | "min" | "max" if arguments:
                does = {"abs": Does.ABS, "min": Does.MINIMUM, "max": Does.MAXIMUM}[name]
                return self.node(self.mixed(tuple(arguments)), where, does, tuple(arguments))
            case "sum" if first is not None:
                if isinstance(first, Items) and first.items:
                    inputs = tuple(first.items)
                    return self.node(self.mixed(inputs), where, Does.ADD, inputs)
                return self.node(self.mixed((first,)), where, Does.ADD, (self.element(first, where),))
            case "list" | "tuple" | "sorted" | "reversed" | "set" | "iter":
                return self._copied_list(name, first, where)
            case "zip":
                return self._zipped(arguments, where)
            case "enumerate" if first is not None:
                number = self.node(Kind.NUMBER, where, Does.SHAPE, ())
                if isinstance(first, Items):
                    return Items([Items([number, each]) for each in first.items], where, complete=first.complete)
                return Items([Items([number, self.element(first, where)])], where, complete=False)
            case "range":
                return Items([self.node(Kind.NUMBER, where, Does.SHAPE, ())], where, complete=False)
            case "map" if len(arguments) > 1:
                pairs = self._zipped(arguments[1:], where)
                made = [
                    self.call(arguments[0], each.items if isinstance(each, Items) else [each], {}, where)
                    for each in pairs.items
                ]
                return Items(made, where, complete=pairs.complete)
            case "filter" if len(arguments) > 1:
                return self.some_of(arguments[1], where)
            case "dict":
                return Table(dict(words.items()), where)
            case "super":
                flow = self.frames[-1] if self.frames else None
                own = flow.self_ if flow is not None and flow.self_ is not None else self.unknown(where)
                return Super(flow.klass if flow is not None else None, own)
            case "next" if first is not None:
                return self.element(first, where)
            case "getattr" if len(arguments) > 1 and isinstance(arguments[1], Literal):
                return self.attribute(arguments[0], str(arguments[1].value), where)
            case "isinstance" | "hasattr" | "callable" | "type" | "print" | "vars" | "open":
                return self.unknown(where)
        return self._call_unknown(Known(f"builtins.{name}"), arguments, words, where)

    def _copied_list(self, name: str, first: Value | None, where: ast.Call) -> Value:
        if first is None:
            return Items([], where)
        if isinstance(first, Items):
            items = list(reversed(first.items)) if name == "reversed" else list(first.items)
            return Items(items, where, complete=first.complete and name != "sorted")
        if isinstance(first, Node) and first.kind is Kind.UNKNOWN:
            return first
        return Items([self.element(first, where)], where, complete=False)

    def _zipped(self, arguments: list[Value], where: ast.Call) -> Items:
        lists = [each for each in arguments if isinstance(each, Items)]
        if len(lists) == len(arguments) and len({len(each.items) for each in lists}) == 1 and lists[0].items:
            rows = zip(*(each.items for each in lists), strict=True)
            made = Items([Items(list(row)) for row in rows], where, complete=all(each.complete for each in lists))
        else:
            made = Items([Items([self.element(each, where) for each in arguments])], where, complete=False)
        made.form = "zip"
        return made


def _flag(value: Value | None, *, default: bool) -> bool | None:
    if value is None:
        return default
    return value.value if isinstance(value, Literal) and isinstance(value.value, bool) else None


def _is_array(value: Value) -> bool:
    return isinstance(value, Node) and value.kind is Kind.ARRAY
