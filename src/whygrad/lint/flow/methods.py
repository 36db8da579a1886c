"""Methods of tapes, variables, tensors, optimizers, networks and lists."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Final

from whygrad.backends.api import Does, Role
from whygrad.lint.flow.facts import Request, Training, Update, Use, Write
from whygrad.lint.flow.objects import CALLABLE, HOLDERS, LISTS, Objects, ends
from whygrad.lint.values.questions import group_owner
from whygrad.lint.values.reach import flat as parts
from whygrad.lint.values.value import (
    Function,
    Group,
    Items,
    Kind,
    Known,
    Literal,
    Loaded,
    Method,
    Node,
    Object,
    Super,
    Table,
    Tape,
    Value,
)

WRITES: Final = (
    *("assign", "assign_add", "assign_sub", "scatter_update", "scatter_nd_update", "scatter_add", "scatter_nd_add"),
    *("scatter_sub", "scatter_nd_sub", "batch_scatter_update"),
)
_ASKS: Final = ("gradient", "jacobian", "batch_jacobian")
_PREDICTS: Final = ("predict", "predict_on_batch")
_TRAINS: Final = ("fit", "train_on_batch")
_CONSTANT_ATTRIBUTES: Final = ("shape", "dtype", "name", "ndim", "device", "path", "size")


class Methods(Objects):
    """What is called by a dot."""

    compilations: dict[int, Use]
    added_losses: dict[int, list[Value]]

    def attribute(self, owner: Value, name: str, where: ast.expr) -> Value:
        match owner:
            case Known():
                return self.known(f"{owner.dotted}.{name}", where, owner.root)
            case Object():
                return self.attribute_of(owner, name, where)
            case Super():
                return self.super_attribute(owner, name, where)
            case Loaded():
                return owner.scope.names.get(name) or self.unknown(where, name=name)
            case Node(does=Does.EITHER) if any(isinstance(each, Known) for each in owner.inputs):
                return self.unknown(where)  # of which version it is, nobody asked
            case Node(does=Does.EITHER) if name in LISTS:
                found = [self.attribute(each, name, where) for each in owner.inputs]
                return Items([each for one in found for each in parts(one)], where, complete=False)
            case Node(does=Does.EITHER) if any(isinstance(each, (Object, Tape)) for each in owner.inputs):
                return self.any_of((self.attribute(each, name, where) for each in owner.inputs), where)
            case Node():
                return self._of_node(owner, name, where)
            case Table() if name not in ("items", "values", "keys", "get", "update", "setdefault", "pop", "copy"):
                return self.unknown(where)
        return Method(owner, name, where)

    def known(self, dotted: str, where: ast.expr | ast.stmt, root: str = "") -> Value:
        """A dotted name, in the spelling of the tables."""
        for long, short in self.api.shortened.items():
            if dotted == long or dotted.startswith(f"{long}."):
                dotted = short + dotted[len(long) :]
                break
        dotted = self.api.seen_from.get((root, dotted), dotted)
        if dotted in self.api.gone:
            self.facts.uses.append(Use(dotted, where, self.place))
        return Known(dotted, where, root)

    def _of_node(self, owner: Node, name: str, where: ast.expr) -> Value:
        if owner.attributes is not None and name in owner.attributes:
            return owner.attributes[name]
        if owner.kind is Kind.UNKNOWN:
            if name in LISTS:
                return self.read_variables(owner, LISTS[name], where)
            return self.child(owner, name, where)
        if name in _CONSTANT_ATTRIBUTES:
            return self.node(Kind.NUMBER, where, Does.SHAPE, ())
        if name == "value" and owner.kind is Kind.VARIABLE:
            return owner
        if name == "T":
            return self.node(Kind.TENSOR if owner.kind is not Kind.ARRAY else Kind.ARRAY, where, Does.MOVE, (owner,))
        return Method(owner, name, where)

    # calls

    def call_method(self, method: Method, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        owner, name = method.owner, method.name
        match owner:
            case Tape():
                return self._of_tape(owner, name, arguments, words, where)
            case Items():
                return self._of_list(owner, name, arguments, where)
            case Table():
                return self._of_table(owner, name, arguments, where)
            case Super():
                return self._of_super(owner, name, arguments, words, where)
            case Object():
                return self._of_object(owner, name, arguments, words, where)
            case Node():
                return self.method_of_node(owner, name, arguments, words, where)
            case Literal():
                return self.node(Kind.NUMBER, where, Does.SHAPE, ())
        return self.unknown(where, (owner, *arguments))

    def method_of_node(
        self, owner: Node, name: str, arguments: list[Value], words: dict[str, Value], where: ast.Call
    ) -> Value:
        given = (*arguments, *words.values())
        if name in self.api.escapes:
            return self.node(Kind.ARRAY, where, Does.TO_ARRAY, (owner,))
        if name in WRITES:
            return self._written(owner, name, arguments, words, where)
        if name == "read_value" or (name == "value" and owner.kind is not Kind.UNKNOWN):
            return self.node(Kind.TENSOR, where, Does.MOVE, (owner,))
        if name in ("astype", "mean", "sum", "max", "min", "std", "var", "reshape", "copy", "ravel", "flatten"):
            does = {"std": Does.DEVIATION, "sum": Does.SUM, "mean": Does.REDUCE}.get(name, Does.MOVE)
            return self.node(self.mixed((owner,)), where, does, (owner,))
        if owner.kind is Kind.ARRAY:
            return self.node(Kind.ARRAY, where, None, (owner, *given))
        return self.unknown(where, (owner, *given))

    def _written(
        self, owner: Node, name: str, arguments: list[Value], words: dict[str, Value], where: ast.Call
    ) -> Value:
        value = arguments[-1] if arguments else words.get("value")
        self.time += 1
        self.facts.writes.append(Write(owner, value, name, where, self.place, self.time))
        if name in ("assign_sub", "assign_add") and value is not None and owner.trainable is not False:
            self.facts.updates.append(Update(None, [(value, owner)], where, self.place))
        inputs = (owner,) if value is None else (owner, value)
        return self.node(Kind.TENSOR, where, Does.WRITTEN, inputs)

    def _of_tape(
        self, tape: Tape, name: str, arguments: list[Value], words: dict[str, Value], where: ast.Call
    ) -> Value:
        if name == "watch" and arguments:
            self.time += 1
            for each in parts(arguments[0]):
                tape.watched.append((each, self.time))
            self.facts.uses.append(Use("tape.watch", where, self.place, where, arguments, words, tape, name))
        elif name == "stop_recording":
            return Method(tape, "paused", where)
        elif name in _ASKS:
            return self._asked(tape, name, arguments, words, where)
        return Literal(None, where)

    def _asked(self, tape: Tape, name: str, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        target = arguments[0] if arguments else words.get("target")
        written = arguments[1] if len(arguments) > 1 else words.get("sources", words.get("source"))
        if target is None or written is None:
            return self.unknown(where)
        self.time += 1
        sources = list(parts(written))
        request = Request(target, sources, tape, where, self.place, self.time, name, tape in self.tapes)
        self.facts.requests.append(request)
        tape.requests.append(request)
        return self._gradients(written, target, where)

    def _gradients(self, source: Value, target: Value, where: ast.Call) -> Value:
        """Gradients in the form of what they are asked of."""
        if isinstance(source, Items):
            items = [self._gradients(each, target, where) for each in source.items]
            return Items(items, where, complete=source.complete)
        if isinstance(source, Table):
            return Table({key: self._gradients(each, target, where) for key, each in source.items.items()}, where)
        made = self.node(Kind.TENSOR, where, Does.GRADIENTS, (target, source), "float")
        made.of = source
        if isinstance(source, Node) and source.kind is Kind.UNKNOWN:
            made.kind = Kind.UNKNOWN  # it may be a list
        return made

    def _of_super(
        self, base: Super, name: str, arguments: list[Value], words: dict[str, Value], where: ast.Call
    ) -> Value:
        owner = base.self_
        if name == "__init__" and isinstance(owner, Object) and owner.role is Role.NETWORK:
            found = ends(arguments, words)
            if found is not None:
                owner.outputs, owner.built = found, True
        if name in ("__init__", "build", "__setattr__"):
            return Literal(None, where)
        if isinstance(owner, Object):
            return self._of_object(owner, name, arguments, words, where)
        return self.unknown(where, (*arguments, *words.values()))

    def _of_object(
        self, owner: Object, name: str, arguments: list[Value], words: dict[str, Value], where: ast.Call
    ) -> Value:
        use = Use(owner.dotted, where.func, self.place, where, arguments, words, owner, name)
        self.facts.uses.append(use)
        given = (*arguments, *words.values())
        if name in _PREDICTS and owner.role in CALLABLE:
            made = self.node(Kind.ARRAY, where, Does.FOREIGN, tuple(arguments))
            made.callee = owner
            return made
        if name in _TRAINS and owner.role in CALLABLE:
            return self._trained(owner, use, where)
        if name in ("apply_gradients", "apply"):
            return self._applied(owner, arguments, words, where)
        if name == "compile":
            self.compilations[id(owner)] = use
        elif name == "add_weight":
            return self._added_weight(owner, words, where)
        elif name == "add_loss" and arguments:
            self.added_losses.setdefault(id(owner), []).append(arguments[0])
        elif name == "add" and owner.members is not None and arguments:
            owner.members.append(arguments[0])
            if isinstance(arguments[0], Object):
                arguments[0].owners.append(owner)
            first = owner.members[0]
            owner.built = owner.built or isinstance(first, Node) or "input_shape" in getattr(first, "words", {})
            owner.built = owner.built or (isinstance(first, Object) and first.role is Role.INPUT)
        elif name in ("build", "set_weights", "load_weights"):
            for held in owner.objects():
                held.built = True
            if name != "build":
                return Literal(None, where)
        elif name == "update_state" and owner.role is Role.METRIC:
            owner.state = self.node(Kind.TENSOR, where, Does.STATE, tuple(arguments))
        elif name == "result" and owner.role is Role.METRIC:
            return self.node(Kind.TENSOR, where, Does.STATE, (owner.state,) if owner.state is not None else (), "float")
        elif name in ("write", "scatter", "unstack", "split") and owner.role is Role.ARRAY_OF_TENSORS:
            owner.members = [*(owner.members or ()), *given]
            return owner
        elif name in ("stack", "concat", "read", "gather") and owner.role is Role.ARRAY_OF_TENSORS:
            return self.node(Kind.TENSOR, where, Does.MOVE, (self.child(owner, "rest", where), *(owner.members or ())))
        elif name == "minimize":
            return self._minimized(arguments, words, where)
        elif name == "get_weights":
            made = self.node(Kind.ARRAY, where, Does.TO_ARRAY, ())
            made.callee = owner
            return Items([made], where, complete=False)
        elif name == "get_layer" and owner.members is not None:
            wanted = words.get("name", arguments[0] if arguments else None)
            for each in owner.members:
                label = each.words.get("name") if isinstance(each, Object) else None
                if isinstance(label, Literal) and isinstance(wanted, Literal) and label.value == wanted.value:
                    return each
        elif name == "summary":
            return Literal(None, where)
        made = self.unknown(where, given)
        if owner.role in HOLDERS and owner.klass is not None and name not in ("compute_loss", "add_metric"):
            made.callee = owner  # a method from a file that was not read may call the network
        if owner.role is None or name in ("compute_loss", "compiled_loss", "loss"):
            made.callee = owner
        return made

    def new_variable(self, words: dict[str, Value], where: ast.Call) -> Node:
        made = self.node(Kind.VARIABLE, where)
        flag = words.get("trainable", Literal(True))
        made.trainable = flag.value is True if isinstance(flag, Literal) else None
        self.facts.variables.append(made)
        return made

    def _added_weight(self, owner: Object, words: dict[str, Value], where: ast.Call) -> Node:
        made = self.new_variable(words, where)
        made.parent, made.name = owner, "add_weight"
        made.dtype = self.dtype_named(words["dtype"]) if "dtype" in words else "float"
        owner.attributes[f"<weight {len(owner.attributes)}>"] = made
        return made

    def _applied(self, owner: Value, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        given = arguments[0] if arguments else words.get("grads_and_vars")
        self.time += 1
        pairs: list[tuple[Value, Value]] | None = None
        if isinstance(given, Items) and given.items:
            rows = [each.items for each in given.items if isinstance(each, Items) and len(each.items) == 2]
            pairs = [(row[0], row[1]) for row in rows] if len(rows) == len(given.items) else None
        variables = arguments[1] if len(arguments) > 1 else None
        if isinstance(given, Items) and isinstance(variables, Items) and len(given.items) == len(variables.items):
            pairs = list(zip(given.items, variables.items, strict=True))
        self.facts.updates.append(Update(owner, pairs, where, self.place))
        return Literal(None, where)

    def _minimized(self, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        """`minimize` opens a tape of its own around the function that it is given."""
        loss = arguments[0] if arguments else words.get("loss")
        sources = arguments[1] if len(arguments) > 1 else words.get("var_list")
        if not isinstance(loss, Function):
            return Literal(None, where)
        tape = Tape(where, self.place)
        with self.recorded_by(tape):
            target = self.call(loss, [], {}, where)
        if sources is not None and not isinstance(sources, Function):
            listed = list(parts(sources))
            self.facts.requests.append(Request(target, listed, tape, where, self.place, self.time, "minimize"))
        return Literal(None, where)

    def _trained(self, owner: Object, use: Use, where: ast.Call) -> Value:
        """`fit` asks for the gradients of the compiled loss, or calls the user's own step."""
        compiled = self.compilations.get(id(owner))
        training = Training(owner, compiled, where, self.place)
        self.facts.trainings.append(training)
        step = owner.klass.find("train_step") if owner.klass is not None else None
        if isinstance(step, Function):
            self.call(step.bound(owner), [self.unknown(where)], {}, where)
            return self.unknown(where)
        tape = Tape(where, self.place)
        with self.recorded_by(tape):
            held = [id(each) for each in owner.objects()]
            earlier = [self.added_losses.pop(each, None) for each in held]
            data = use.arguments[0] if use.arguments and isinstance(use.arguments[0], Node) else self.unknown(where)
            training.output = output = self.call(owner, [data], {"training": Literal(True)}, where)
            target = self._compiled_loss(compiled, output, where)
            added = [loss for each in held for loss in self.added_losses.get(each, ())]
            if any(earlier) and not added:
                target = None  # they were added when the network was put together, and are not followed again
            if added and target is not None:
                target = self.node(Kind.TENSOR, where, Does.ADD, (target, *added))
        for each in owner.objects():
            each.built = True
        if target is not None:
            sources = self.variables_of(Group(owner, "trainable", built=True), where).items
            self.facts.requests.append(Request(target, sources, tape, where, self.place, self.time, "fit"))
        return self.unknown(where)

    def _compiled_loss(self, compiled: Use | None, output: Value, where: ast.Call) -> Value | None:
        loss = None if compiled is None else compiled.loss
        if isinstance(loss, (Items, Table)) and all(isinstance(each, Literal) for each in parts(loss)):
            return self.node(Kind.TENSOR, where, Does.SMOOTH, tuple(parts(output)), "float")
        if isinstance(loss, Literal) and isinstance(loss.value, str):
            return self.node(Kind.TENSOR, where, Does.SMOOTH, (output,), "float")
        if isinstance(loss, (Function, Object, Known)) and not isinstance(output, (Items, Table)):
            return self.call(loss, [self.unknown(where, name="y_true"), output], {}, where)
        return None

    # lists

    def _of_list(self, owner: Items, name: str, arguments: list[Value], where: ast.Call) -> Value:
        first = arguments[0] if arguments else None
        if name == "append" and first is not None:
            first = self.joined(owner, first, where)
            if not any(each is first for each in owner.items):
                owner.items.append(first)
            owner.complete = owner.complete and not self.place.loops
        elif name in ("extend", "__iadd__") and first is not None:
            owner.items += first.items if isinstance(first, Items) else [self.element(first, where)]
            owner.complete = owner.complete and isinstance(first, Items) and first.complete
        elif name == "insert" and len(arguments) > 1:
            owner.items.insert(0, arguments[1])
            owner.complete = False
        elif name == "pop":
            owner.complete = False
            return self.element(owner, where)
        elif name in ("clear", "remove", "sort", "reverse"):
            owner.complete = False
        elif name == "copy":
            return Items(list(owner.items), where, complete=owner.complete)
        return Literal(None, where)

    def _of_table(self, owner: Table, name: str, arguments: list[Value], where: ast.Call) -> Value:
        if name == "values":
            return Items(list(owner.items.values()), where, complete=None not in owner.items)
        if name == "items":
            rows: list[Value] = [Items([Literal(key), value]) for key, value in owner.items.items()]
            return Items(rows, where, complete=None not in owner.items)
        if name == "keys":
            return Items([Literal(key) for key in owner.items], where, complete=None not in owner.items)
        if name in ("get", "pop", "setdefault") and arguments:
            return self.item(owner, arguments[0], where)
        if name == "update" and arguments and isinstance(arguments[0], Table):
            owner.items |= arguments[0].items
        return Literal(None, where)

    def item(self, owner: Value, key: Value, where: ast.expr) -> Value:
        """`owner[key]`"""
        if isinstance(owner, Items):
            if (
                isinstance(key, Literal)
                and isinstance(key.value, int)
                and not isinstance(key.value, bool)
                and owner.complete
                and -len(owner.items) <= key.value < len(owner.items)
            ):
                found = owner.items[key.value]
                if isinstance(found, Node) and (group_owner(found) or group_owner(found.of)):
                    return self.one_of(found, where)
                return found
            return self.element(owner, where)
        if isinstance(owner, Table):
            if isinstance(key, Literal) and key.value in owner.items:
                return owner.items[key.value]
            return owner.items.get(None) or self.element(Items(list(owner.items.values())), where)
        if isinstance(owner, Node) and owner.kind is Kind.UNKNOWN:
            if isinstance(key, Literal) and isinstance(key.value, (str, int)):
                made = self.child(owner, f"[{key.value!r}]", where)
                if isinstance(made, Node) and not made.inputs:
                    made.inputs = (owner,)
                return made
            return self.unknown(where, (owner, key))
        if isinstance(owner, Node):
            return self.node(self.mixed((owner,)), where, Does.GATHER, (owner, key), owner.dtype)
        if isinstance(owner, Object) and owner.members is not None:
            return self.item(Items(owner.members), key, where)
        return self.unknown(where, (owner, key))

    def one_of(self, entry: Node, where: ast.AST | None) -> Node:
        """One variable, or one gradient, of those that an entry stands for."""
        made = self.node(entry.kind, where, entry.does if entry.group is None else None, entry.inputs)
        made.of, made.callee, made.dtype = entry.of, entry.callee, entry.dtype
        made.group = None if entry.group is None else replace(entry.group, some=True)
        made.trainable, made.under = entry.trainable, entry.under
        return made

    def element(self, value: Value, where: ast.AST | None) -> Value:
        """What a loop over the value gives."""
        if isinstance(value, Items):
            return self.any_of(value.items, where)
        if isinstance(value, Table):
            return self.unknown(where)
        if isinstance(value, Node) and value.kind is not Kind.UNKNOWN:
            made = self.node(self.mixed((value,)), where, Does.MOVE, (value,), value.dtype)
            made.of = value.of
            made.under = value.under | made.under  # it may be a list of tensors, which is taken apart without an op
            return made
        made = self.unknown(where, (value,) if isinstance(value, Node) and value.inputs else ())
        if isinstance(value, Node):
            made.parent, made.of = value, value.of
            made.under, made.time = value.under, value.time
        return made

    def some_of(self, value: Value, where: ast.AST | None) -> Value:
        """A list of which some may be left out."""
        if not isinstance(value, Items):
            return value
        return Items([self.not_all(each, where) for each in value.items], where, complete=False)

    def not_all(self, entry: Value, where: ast.AST | None) -> Value:
        """An entry of a list of which some are left out; it stands for one variable where it stood for all."""
        return self.one_of(entry, where) if isinstance(entry, Node) and entry.group is not None else entry
