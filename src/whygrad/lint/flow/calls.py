"""Calls: of the user's functions, of names of the framework and of Python, and of what is not known."""

from __future__ import annotations

import ast
from typing import Final

from whygrad.backends.api import Does, Role
from whygrad.lint.flow.facts import Use
from whygrad.lint.flow.imports import FILE
from whygrad.lint.flow.machine import DEEPEST
from whygrad.lint.flow.methods import Methods
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
)

MOST_ELSEWHERE: Final = 2_000  # expressions of functions of other files that are looked at


class ReturnFlow:
    """What the function that is followed has returned so far."""

    __slots__ = ("given", "klass", "self_", "values", "yields")

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.given: tuple[Value, ...] = ()
        self.yields: list[Value] = []
        self.klass: Klass | None = None
        self.self_: Value | None = None


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
                results = [self.call(each, arguments, words, where) for each in callee.inputs]
                joined: Value | None = None
                for each in results:
                    joined = self.join(joined, each)
                return joined or self.unknown(where)
        return self._call_unknown(callee, arguments, words, where)

    def _call_unknown(self, callee: Value, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        results = [
            self.call(each, [self.unknown(where) for _ in each.node.args.args], {}, where)
            for each in (*arguments, *words.values())
            if isinstance(each, Function) and each.node not in self.place.calls
        ]
        made = self.node(Kind.UNKNOWN, where, None, (*arguments, *words.values(), *results))
        made.callee, made.words = callee, words
        self.escape((*arguments, *words.values()))
        return made

    def escape(self, values: tuple[Value, ...]) -> None:
        """What an unknown function is given may be built, called or asked there."""
        for value in values:
            for each in parts(value):
                if isinstance(each, Object):
                    each.built = each.called = True
                elif isinstance(each, Tape):
                    each.kept = True

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
        flow = ReturnFlow()
        flow.klass, flow.self_ = function.owner, function.self_
        flow.given = (*arguments, *words.values())
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
        result: Value | None = None
        for each in flow.values:
            result = each if result is None else self.join(result, each)
        return Literal(None, where) if result is None else result

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
        given = list(arguments) if function.self_ is None else [function.self_, *arguments]
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
            elif arg.arg in defaults and not spread and "**" not in words and isinstance(where, ast.Call):
                scope.names[arg.arg] = self._default(function, defaults[arg.arg])
            else:
                scope.names[arg.arg] = self.unknown(arg, name=arg.arg)
        if args.vararg is not None:
            rest = list(given[len(names) :])
            scope.names[args.vararg.arg] = Items(rest, where, complete=not spread)
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
        self.facts.uses.append(Use(dotted, where.func, self.place, where, arguments, words, result))
        return result

    def _made_by(self, dotted: str, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        role = self.role_of(dotted)
        match role:
            case Role.TAPE:
                tape = Tape(
                    where,
                    persistent=_flag(words.get("persistent"), arguments[:1], False),
                    watches=None,
                    place=self.place,
                )
                tape.watches = _flag(words.get("watch_accessed_variables"), arguments[1:2], True)
                self.facts.tapes.append(tape)
                return tape
            case Role.VARIABLE | Role.NETWORK_VARIABLE:
                return self.new_variable(role, dotted, arguments, words, where)
            case Role.COMPILED | Role.CUSTOM_GRADIENT:
                return self._decorated(role, dotted, arguments)
            case Role.INPUT:
                return self.node(
                    Kind.TENSOR, where, Does.CONSTANT, (), self.dtype_named(words.get("dtype", Literal("")))
                )
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
            return self._array(last, arguments, words, where)
        if dotted.startswith(self.api.spaces) and not dotted.startswith(self.api.others):
            does = self.api.functions.get(dotted) or self.api.functions.get(last)
            if does is None:
                does = Does.SMOOTH
                if any(isinstance(each, Function) for each in (*arguments, *words.values())):
                    return self._call_unknown(Known(dotted), arguments, words, where)
            return self.compute(does, arguments, words, where)
        return self._call_unknown(Known(dotted), arguments, words, where)

    def _array(self, last: str, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        made = self.node(Kind.ARRAY, where, self.api.functions.get(last), tuple(arguments))
        inside = tuple(words.values())
        made.inputs += inside
        return made

    def _decorated(self, role: Role, dotted: str, arguments: list[Value]) -> Value:
        """A compiled function, or the decorator that makes one."""
        if arguments and isinstance(arguments[0], Function):
            return self.compiled(arguments[0], role)
        if arguments and isinstance(arguments[0], Object):
            return arguments[0]
        return arguments[0] if arguments else Known(dotted)

    def compiled(self, function: Function, role: Role) -> Function:
        made = Function(function.node, function.scope)
        made.self_, made.owner = function.self_, function.owner
        made.compiled = function.compiled or role is Role.COMPILED
        made.custom = function.custom or role is Role.CUSTOM_GRADIENT
        return made

    def new_variable(
        self, role: Role, dotted: str, arguments: list[Value], words: dict[str, Value], where: ast.Call
    ) -> Node:
        initial = words.get("initial_value", words.get("initializer", arguments[0] if arguments else None))
        made = self.node(Kind.VARIABLE, where, None, ())
        made.of, made.name = initial, PLAIN if role is Role.VARIABLE else ""
        dtype = self.dtype_named(words["dtype"]) if "dtype" in words else None
        if dtype is None and initial is not None and "dtype" not in words and role is Role.VARIABLE:
            dtype = _dtype_of(initial)
        made.dtype = dtype
        flag = words.get("trainable", Literal(True))
        made.trainable = flag.value is True if isinstance(flag, Literal) else None
        self.facts.variables.append(made)
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
        self.zips[id(made)] = arguments
        return made


def _flag(word: Value | None, positional: list[Value], default: bool) -> bool | None:
    value = word if word is not None else positional[0] if positional else Literal(default)
    return value.value if isinstance(value, Literal) and isinstance(value.value, bool) else None


def _dtype_of(value: Value) -> str | None:
    found: set[str | None] = set()
    for each in parts(value):
        if isinstance(each, Literal):
            known = "int" if isinstance(each.value, int) else "float" if isinstance(each.value, float) else None
            found.add(known)
        elif isinstance(each, Node):
            found.add(each.dtype if each.kind is not Kind.ARRAY else None)
        else:
            found.add(None)
    if "float" in found:
        return "float"
    return "int" if found == {"int"} else None
